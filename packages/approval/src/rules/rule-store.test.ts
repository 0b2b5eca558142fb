import { describe, expect, it } from "@effect/vitest"
import { memoryState, StateFiles, type StateFilesService } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { Rule, RuleStore, type RuleStoreService, stateRules } from "../index.ts"
import { printRules } from "./rules.ts"

/** A store on documents in memory, and how often the rules were read. */
const withStore = (
  documents: Map<string, Uint8Array>,
  use: (store: RuleStoreService, reads: () => number) => Effect.Effect<void, unknown>
): Effect.Effect<void, unknown> => {
  let reads = 0
  const counting = (files: StateFilesService): StateFilesService => ({
    ...files,
    read: (name) => {
      reads += 1
      return files.read(name)
    }
  })
  const files = Layer.effect(StateFiles, StateFiles.useSync(counting)).pipe(Layer.provide(memoryState(documents)))
  return RuleStore.use((store) => use(store, () => reads)).pipe(Effect.provide(stateRules.pipe(Layer.provide(files))))
}

const many = (count: number): ReadonlyArray<Rule> =>
  Array.from({ length: count }, (_, number) => Rule.parse({ id: `r${number}`, tool: "t", pattern: `^.*x${number}$` }))

const documentOf = (rules: ReadonlyArray<Rule>): Uint8Array => new TextEncoder().encode(printRules(rules))

const idsOf = (rules: Effect.Success<RuleStoreService["current"]>): ReadonlyArray<string> =>
  "unreadable" in rules ? [rules.unreadable] : rules.rules.map(({ id }) => id)

describe("stateRules", () => {
  it.live("lets others have their turn while many rules are compiled, and compiles them once for all who wait", () =>
    withStore(new Map([["rules.json", documentOf(many(1000))]]), (store, reads) =>
      Effect.gen(function* () {
        let turns = 0
        let isDone = false
        const takeTurns = (): void => {
          turns += 1
          if (!isDone) setImmediate(takeTurns)
        }
        setImmediate(takeTurns)
        const sets = yield* Effect.all([store.current, store.current, store.current], { concurrency: "unbounded" })
        isDone = true
        expect(turns).toBeGreaterThan(5)
        expect(new Set(sets).size).toBe(1)
        expect(reads()).toBe(1)
      })
    )
  )

  it.effect("knows what it wrote, and reads what others wrote", () => {
    const documents = new Map<string, Uint8Array>()
    return withStore(documents, (store, reads) =>
      Effect.gen(function* () {
        const [first, second, third] = many(3) as [Rule, Rule, Rule]
        yield* store.add(first)
        yield* store.add(second)
        expect(idsOf(yield* store.current)).toEqual(["r0", "r1"])
        expect(reads()).toBe(1)
        documents.set("rules.json", documentOf([second, third]))
        expect(idsOf(yield* store.current)).toEqual(["r1", "r2"])
        yield* store.remove("r1")
        expect(idsOf(yield* store.current)).toEqual(["r2"])
        expect(reads()).toBe(2)
      })
    )
  })

  it.effect("takes nothing over from a change that was refused", () => {
    const documents = new Map<string, Uint8Array>()
    return withStore(documents, (store) =>
      Effect.gen(function* () {
        const [first] = many(1) as [Rule]
        yield* store.add(first)
        const written = documents.get("rules.json")
        expect((yield* Effect.flip(store.add(first))).message).toBe("there are two rules r0")
        expect((yield* Effect.flip(store.add({ ...first, id: "bad", pattern: "(" }))).message).toContain("rule bad:")
        expect(documents.get("rules.json")).toBe(written)
        expect(idsOf(yield* store.current)).toEqual(["r0"])
      })
    )
  })
})
