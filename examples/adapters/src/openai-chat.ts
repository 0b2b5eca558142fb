// OpenAI's Chat Completions API in strict mode, which many others speak too; the model is a list of answers.
import { openaiTools } from "@haft/adapters/openai"
import { openHost } from "haft/promise"
import OpenAI from "openai"
import type { ChatCompletionMessageParam } from "openai/resources/chat/completions"

import { approve, onSmallProject, script } from "../small-project.ts"

const messages = script.map(({ name, input }, at) => {
  const call = { id: `call-${at}`, type: "function", function: { name, arguments: JSON.stringify(input) } }
  return { role: "assistant", content: null, tool_calls: [call] }
})
const answers: Array<object> = [...messages, { role: "assistant", content: "Mended." }]
const client = new OpenAI({
  apiKey: "none",
  fetch: async () => Response.json({ choices: [{ message: answers.shift() }] })
})

await onSmallProject(async (config) => {
  await using host = await openHost(config)
  const { tools, call } = openaiTools(host, { strict: true }).chat
  const conversation: Array<ChatCompletionMessageParam> = [{ role: "user", content: "Mend add.js." }]
  const outputs: Array<unknown> = []
  for (;;) {
    const completion = await client.chat.completions.create({ model: "scripted", messages: conversation, tools })
    const message = completion.choices[0]?.message
    const wanted = message?.tool_calls?.filter((one) => one.type === "function") ?? []
    if (message === undefined || wanted.length === 0) return outputs
    conversation.push(message)
    for (const one of wanted) {
      const answer = await call(one, { ask: approve })
      conversation.push(answer)
      outputs.push(answer.content)
    }
  }
})
