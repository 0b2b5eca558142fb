// Vercel's AI SDK runs the loop itself; the model is a list of answers.
import { aiSdkTools } from "@haft/adapters/ai-sdk"
import { generateText, stepCountIs, type LanguageModel } from "ai"
import { openHost } from "haft/promise"

import { approve, onSmallProject, script } from "../small-project.ts"

const said = script.map(({ name, input }, at) => ({
  content: [{ type: "tool-call", toolCallId: `call-${at}`, toolName: name, input: JSON.stringify(input) }],
  finishReason: { unified: "tool-calls" }
}))
const answers = [...said, { content: [{ type: "text", text: "Mended." }], finishReason: { unified: "stop" } }]
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
const model = {
  specificationVersion: "v4",
  provider: "scripted",
  modelId: "scripted",
  supportedUrls: {},
  doGenerate: async () => ({ ...answers.shift(), usage, warnings: [] })
} as unknown as LanguageModel

await onSmallProject(async (config) => {
  await using host = await openHost(config)
  const { steps } = await generateText({
    model,
    prompt: "Mend add.js.",
    stopWhen: stepCountIs(10),
    tools: aiSdkTools(host, { ask: approve })
  })
  return steps.flatMap(({ toolResults }) => toolResults.map(({ output }) => output))
})
