import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"

import { Cache, memoryCache } from "../index.ts"

const bytes = (length: number) => new Uint8Array(length)

it.effect("gives back what was put, until it is removed", () =>
  Effect.gen(function* () {
    const cache = yield* Cache
    yield* cache.put("page", bytes(3))
    expect(yield* cache.get("page")).toEqual(bytes(3))
    yield* cache.remove("page")
    expect(yield* cache.get("page")).toBe(undefined)
  }).pipe(Effect.provide(memoryCache()))
)

it.effect("lets the oldest entries go when there is no room, and keeps nothing larger than itself", () =>
  Effect.gen(function* () {
    const cache = yield* Cache
    yield* cache.put("one", bytes(4))
    yield* cache.put("two", bytes(4))
    yield* cache.put("one", bytes(5))
    yield* cache.put("three", bytes(4))
    yield* cache.put("huge", bytes(11))
    expect(yield* Effect.forEach(["one", "two", "three", "huge"], cache.get)).toEqual([
      bytes(5),
      undefined,
      bytes(4),
      undefined
    ])
  }).pipe(Effect.provide(memoryCache({ capBytes: 10 })))
)
