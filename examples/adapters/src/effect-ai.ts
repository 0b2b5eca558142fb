// Effect's own AI modules; the model is a list of answers.
import { effectToolkit } from "@haft/adapters/effect-ai"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { Host, standardHost } from "haft"

import { approve, onSmallProject, script } from "../small-project.ts"

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
const said = script.map(({ name, input }, at) => [
  { type: "tool-call", id: `call-${at}`, name, params: input },
  { type: "finish", reason: "tool-calls", usage }
])
const answers: Array<ReadonlyArray<object>> = [...said, [{ type: "text", text: "Mended." }]]
const model = Layer.effect(
  LanguageModel.LanguageModel,
  LanguageModel.make({
    generateText: () => Effect.sync(() => (answers.shift() ?? []) as never),
    streamText: () => Stream.empty
  })
)

await onSmallProject((config) =>
  Effect.gen(function* () {
    const { toolkit, layer } = effectToolkit(yield* Host, { ask: () => Effect.promise(approve) })
    const loop = Effect.gen(function* () {
      let prompt = Prompt.make("Mend add.js.")
      const results: Array<unknown> = []
      for (;;) {
        const response = yield* LanguageModel.generateText({ prompt, toolkit })
        if (response.toolCalls.length === 0) return results
        results.push(...response.toolResults.map(({ result }) => result))
        prompt = Prompt.concat(prompt, Prompt.fromResponseParts(response.content))
      }
    })
    return yield* loop.pipe(Effect.provide(Layer.merge(layer, model)))
  }).pipe(Effect.provide(standardHost(config)), Effect.runPromise)
)
