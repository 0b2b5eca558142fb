import { isIP } from "node:net"

import { isPublicAddress, type ToolError } from "@haft/core"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

import { isNamedPrivate } from "./host-list.ts"
import { nameResolver } from "./name-resolver.ts"
import { networkError, reasonOf } from "./network-error.ts"
import { blocked, literalAddress, ownAddresses } from "./target-url.ts"

export interface ResolvedAddress {
  readonly address: string
  readonly family: 4 | 6
}

/** Finds the addresses of a name. A host may lend another than the machine's own; no caller can. */
export const Resolver = Context.Reference<(hostname: string) => Promise<ReadonlyArray<string>>>(
  "@haft/web-tools/Resolver",
  {
    defaultValue: () => nameResolver()
  }
)

/**
 * The addresses to connect to, and no others. One record that is not public spoils them all: who mixes private and
 * public answers is up to something.
 */
export const resolveTarget = Effect.fnUntraced(function* (
  url: URL,
  namedPrivate: ReadonlyArray<string>
): Effect.fn.Return<ReadonlyArray<ResolvedAddress>, ToolError<"url_blocked" | "network_error">> {
  const literal = literalAddress(url)
  if (literal !== undefined) return [withFamily(literal)]
  const resolve = yield* Resolver
  const found = yield* Effect.tryPromise({
    try: () => resolve(url.hostname),
    catch: (error) => networkError(url, reasonOf(error))
  })
  if (found.length === 0) return yield* networkError(url, "host not found")
  const own = ownAddresses()
  const isPublic = found.every((address) => isPublicAddress(address) && !own.includes(address))
  if (!isPublic && !isNamedPrivate(namedPrivate, url)) {
    return yield* blocked(url, `${url.hostname} resolves to an address that is not public`)
  }
  return found.map(withFamily)
})

const withFamily = (address: string): ResolvedAddress => ({ address, family: isIP(address) === 6 ? 6 : 4 })
