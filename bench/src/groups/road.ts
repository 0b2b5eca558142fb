import { defineDialect, definePlugin, defineTool, denyAll } from "@haft/core"
import { Host, memoryWorkspace, use } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as z from "zod"

import type { Group } from "../benchmark.ts"
import { noJournal } from "../no-journal.ts"

const plain = defineDialect({
  name: "plain",
  symlinks: "inside",
  asks: () => false,
  success: ({ output }) => output,
  failure: ({ errorName }) => ({ error: errorName }),
  envelope: (output) => output
})

const input = z.strictObject({ text: z.string(), count: z.number().int().min(0).default(0) })

const nothing = defineTool({
  name: "nothing",
  description: "Does nothing.",
  input,
  output: z.object({ text: z.string() }),
  risk: "read_only",
  timeout: "10 seconds",
  execute: ({ text }) => Effect.succeed({ text }),
  render: ({ text }) => text
})

/**
 * A call of a tool that does nothing: the cost of the road itself. The floor is an async function that checks its
 * input.
 */
export const benchmarks: Group = async function* () {
  const host = Host.layer({
    dialect: plain,
    plugins: [use(definePlugin({ name: "nothing", version: "1.0.0", tools: [nothing] }))]
  }).pipe(Layer.provide(Layer.mergeAll(memoryWorkspace(), noJournal, denyAll)))
  const runtime = ManagedRuntime.make(host)
  const { call } = await runtime.runPromise(Host.useSync((service) => service))
  const args = { text: "hello", count: 3 }
  const bare = async (given: unknown) => ({ text: input.parse(given).text })
  yield {
    group: "road",
    name: "a tool that does nothing",
    floor: "async function with zod",
    ifMissed:
      "Measured ten times in a row, it took between 11 and 28 µs, and so did an earlier version in turns with it: where processors are shared with other machines, a minute can be twice as slow as the one before.",
    contenders: [
      {
        name: "async function with zod",
        kind: "limit",
        run: () => bare(args),
        check: (answer) => expectText((answer as { text?: unknown }).text)
      },
      {
        name: "haft, Effect",
        kind: "haft",
        within: 20_000,
        run: () => runtime.runPromise(call("nothing", args)),
        check: (answer) => expectText((answer as { text?: unknown }).text)
      }
    ],
    close: () => runtime.dispose()
  }
}

const expectText = (text: unknown): void => {
  if (text !== "hello") throw new Error(`wrong answer: ${String(text)}`)
}
