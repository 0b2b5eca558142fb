import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Semaphore from "effect/Semaphore"

/** Why a document of the state directory can't be had or kept. */
export class StateError extends Data.TaggedError("StateError")<{
  readonly name: string
  readonly problem: string
}> {
  override get message(): string {
    return `${this.name} ${this.problem}`
  }
}

export interface StateFilesService {
  /** The whole document; undefined when there is none. */
  readonly read: (name: string) => Effect.Effect<Uint8Array | undefined, StateError>
  /** Replaces the document. Whoever reads meanwhile sees the old one or the new one, never a part. Says its version. */
  readonly write: (name: string, content: Uint8Array) => Effect.Effect<string, StateError>
  /** Nothing happens when there is no such document. */
  readonly remove: (name: string) => Effect.Effect<void, StateError>
  /** A short string that changes when the document does, also by another process. Much cheaper than reading. */
  readonly version: (name: string) => Effect.Effect<string, StateError>
  /** Runs `use` while nobody else, in this process or another, runs anything exclusive for the same name. */
  readonly exclusively: <A, E, R>(name: string, use: Effect.Effect<A, E, R>) => Effect.Effect<A, E | StateError, R>
}

/**
 * Small documents that a host keeps between runs, such as approval rules. They live outside the workspace,
 * where no tool can reach them. A name is relative, with `/`: `rules.json`, `cache/3f2a`.
 */
export class StateFiles extends Context.Service<StateFiles, StateFilesService>()("@haft/core/StateFiles") {}

/** State that ends with the host. */
export const memoryState = (documents: Map<string, Uint8Array> = new Map()): Layer.Layer<StateFiles> =>
  Layer.sync(StateFiles, () => {
    const versions = new Map<string, { readonly content: Uint8Array; readonly number: number }>()
    const locks = new Map<string, Semaphore.Semaphore>()
    let changes = 0
    const versionOf = (name: string): string => {
      const content = documents.get(name)
      if (content === undefined) return "absent"
      const known = versions.get(name)
      if (known?.content === content) return String(known.number)
      versions.set(name, { content, number: ++changes })
      return String(changes)
    }
    return {
      read: (name) => Effect.sync(() => documents.get(name)),
      write: (name, content) =>
        Effect.sync(() => {
          documents.set(name, content)
          return versionOf(name)
        }),
      remove: (name) => Effect.sync(() => void documents.delete(name)),
      version: (name) => Effect.sync(() => versionOf(name)),
      exclusively: (name, use) =>
        Effect.suspend(() => {
          const lock = locks.get(name) ?? Semaphore.makeUnsafe(1)
          locks.set(name, lock)
          return lock.withPermits(1)(use)
        })
    }
  })
