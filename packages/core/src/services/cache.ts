import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/**
 * What would only be made or fetched again if it were lost. It outlives a call, anything in it may be gone at any
 * time, and a cache that can't be read or written is an empty one: none of this fails.
 */
export class Cache extends Context.Service<
  Cache,
  {
    readonly get: (key: string) => Effect.Effect<Uint8Array | undefined>
    readonly put: (key: string, content: Uint8Array) => Effect.Effect<void>
    readonly remove: (key: string) => Effect.Effect<void>
  }
>()("@haft/core/Cache") {}

/** A cache that ends with the host, for tests and for hosts that keep nothing. The oldest entries make room for new ones. */
export const memoryCache = ({ capBytes = 32 * 1024 * 1024 }: { readonly capBytes?: number } = {}): Layer.Layer<Cache> =>
  Layer.sync(Cache, () => {
    const entries = new Map<string, Uint8Array>()
    let size = 0
    const remove = (key: string): void => {
      size -= entries.get(key)?.length ?? 0
      entries.delete(key)
    }
    return {
      get: (key) => Effect.sync(() => entries.get(key)),
      put: (key, content) =>
        Effect.sync(() => {
          remove(key)
          if (content.length > capBytes) return
          entries.set(key, content)
          size += content.length
          for (const oldest of entries.keys()) {
            if (size <= capBytes) return
            remove(oldest)
          }
        }),
      remove: (key) => Effect.sync(() => remove(key))
    }
  })
