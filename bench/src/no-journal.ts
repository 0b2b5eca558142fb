import { Journal } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** A journal that keeps nothing: millions of events would fill the memory, and writing them is not what is measured. */
export const noJournal = Layer.sync(Journal, () => {
  let step = 0
  return { run: "bench", nextStep: () => ++step, append: () => Effect.void, subscribe: () => () => {} }
})
