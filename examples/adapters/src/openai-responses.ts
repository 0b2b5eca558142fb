// OpenAI's Responses API, through OpenAI's own client; the model is a list of answers.
import { openaiTools } from "@haft/adapters/openai"
import { openHost } from "haft/promise"
import OpenAI from "openai"
import type { ResponseInput } from "openai/resources/responses/responses"

import { approve, onSmallProject, script } from "../small-project.ts"

const said = script.map(({ name, input }, at) => ({
  output: [{ type: "function_call", call_id: `call-${at}`, name, arguments: JSON.stringify(input) }]
}))
const answers: Array<object> = [...said, { output: [] }]
const client = new OpenAI({ apiKey: "none", fetch: async () => Response.json(answers.shift()) })

await onSmallProject(async (config) => {
  await using host = await openHost(config)
  const { tools, call } = openaiTools(host).responses
  const input: ResponseInput = [{ role: "user", content: "Mend add.js." }]
  const outputs: Array<unknown> = []
  for (;;) {
    const response = await client.responses.create({ model: "scripted", input, tools })
    const wanted = response.output.filter((item) => item.type === "function_call")
    if (wanted.length === 0) return outputs
    for (const item of wanted) {
      const output = await call(item, { ask: approve })
      input.push(item, output)
      outputs.push(output.output)
    }
  }
})
