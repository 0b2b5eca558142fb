// Anthropic's Messages API, through Anthropic's own client; the model is a list of answers.
import Anthropic from "@anthropic-ai/sdk"
import { anthropicTools } from "@haft/adapters/anthropic"
import { openHost } from "haft/promise"

import { approve, onSmallProject, script } from "../small-project.ts"

const said = script.map((use, at) => ({
  content: [{ type: "tool_use", id: `toolu-${at}`, ...use }],
  stop_reason: "tool_use"
}))
const answers: Array<object> = [...said, { content: [{ type: "text", text: "Mended." }], stop_reason: "end_turn" }]
const client = new Anthropic({ apiKey: "none", fetch: async () => Response.json(answers.shift()) })

await onSmallProject(async (config) => {
  await using host = await openHost(config)
  const { tools, call } = anthropicTools(host)
  const messages: Array<Anthropic.MessageParam> = [{ role: "user", content: "Mend add.js." }]
  const outputs: Array<unknown> = []
  for (;;) {
    const { content, stop_reason } = await client.messages.create({
      model: "scripted",
      max_tokens: 1000,
      messages,
      tools
    })
    if (stop_reason !== "tool_use") return outputs
    const results: Array<Anthropic.ToolResultBlockParam> = []
    for (const block of content) if (block.type === "tool_use") results.push(await call(block, { ask: approve }))
    messages.push({ role: "assistant", content }, { role: "user", content: results })
    outputs.push(...results.map((result) => result.content))
  }
})
