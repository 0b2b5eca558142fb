import { definePlugin, defineTool, denyAll, findToolsName, Host, memoryJournal, memoryWorkspace, use } from "@haft/core"
import { openHost, type OpenHost } from "@haft/core/promise"
import { generateText, stepCountIs } from "ai"
import { MockLanguageModelV4 } from "ai/test"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { afterAll, beforeAll, expect, it } from "vitest"
import * as z from "zod"

import { plain } from "../../test/words-host.ts"
import { aiSdkToolSearch } from "../ai-sdk.ts"
import { genaiTool } from "../google-genai.ts"

const tool = (name: string, profile: "minimal" | "all") =>
  defineTool({
    name,
    description: `Measures the ${name}.`,
    profile,
    input: z.strictObject({}),
    output: z.object({ measured: z.string() }),
    risk: "read_only",
    execute: () => Effect.succeed({ measured: name })
  })

let host: OpenHost
beforeAll(async () => {
  const tools = [tool("width", "minimal"), tool("weight", "all")]
  const plugins = [use(definePlugin({ name: "measures", version: "1.0.0", tools }))]
  const services = Layer.mergeAll(memoryWorkspace(), memoryJournal(), denyAll)
  host = await openHost(Host.layer({ dialect: plain, plugins, profile: "minimal" }).pipe(Layer.provide(services)))
})
afterAll(() => host.dispose())

it("aiSdkToolSearch shows the model a tool from the step after find_tools found it", async () => {
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
  const turns = [
    [{ type: "tool-call", toolCallId: "1", toolName: findToolsName, input: '{"query":"weight"}' }],
    [{ type: "tool-call", toolCallId: "2", toolName: "weight", input: "{}" }],
    [{ type: "text", text: "done" }]
  ]
  let turn = 0
  const model = new MockLanguageModelV4({
    doGenerate: (async () => {
      const content = turns[turn++]
      return { content, finishReason: { unified: turn < 3 ? "tool-calls" : "stop" }, usage, warnings: [] }
    }) as never
  })
  const { steps } = await generateText({ model, prompt: "weigh", stopWhen: stepCountIs(5), ...aiSdkToolSearch(host) })
  const shown = model.doGenerateCalls.map(({ tools = [] }) => tools.map(({ name }) => name))
  expect(shown).toEqual([
    ["width", findToolsName],
    ["width", "weight", findToolsName],
    ["width", "weight", findToolsName]
  ])
  expect(steps[1]?.toolResults[0]?.output).toMatchObject({ ok: true, output: { measured: "weight" } })
})

it("genaiTool declares a tool once find_tools has found it", async () => {
  const gemini = genaiTool(host)
  const declared = await gemini.tool()
  const names = () => declared.functionDeclarations?.map(({ name }) => name)
  expect(names()).toEqual(["width", findToolsName])
  await gemini.callTool([{ name: findToolsName, args: { query: "weight" } }])
  expect(names()).toEqual(["width", "weight", findToolsName])
  const [part] = await gemini.callTool([{ name: "weight", args: {} }])
  expect(part?.functionResponse?.response).toMatchObject({ output: { output: { measured: "weight" } } })
})
