// A model that was written down beforehand repairs a small project, once in OpenAI's words and once in Anthropic's.
import { mkdtemp, readFile, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { anthropicTools } from "@haft/adapters/anthropic"
import { openaiTools } from "@haft/adapters/openai"
import { openHost, type OpenHost } from "haft/promise"

const steps = [
  { name: "read_file", input: { path: "add.js" } },
  { name: "edit_file", input: { path: "add.js", edits: [{ find: "a - b", replace: "a + b" }] } },
  { name: "run_command", input: { command: "node add.js" } }
]

const ask = async () => ({ approved: true })

const inOpenAIsWords = async (host: OpenHost): Promise<ReadonlyArray<string>> => {
  const { call } = openaiTools(host).responses
  const outputs: Array<string> = []
  for (const [at, { name, input }] of steps.entries()) {
    const item = { call_id: `call-${at}`, name, arguments: JSON.stringify(input) }
    outputs.push(JSON.stringify((await call(item, { ask })).output))
  }
  return outputs
}

const inAnthropicsWords = async (host: OpenHost): Promise<ReadonlyArray<string>> => {
  const { call } = anthropicTools(host)
  const outputs: Array<string> = []
  for (const [at, { name, input }] of steps.entries()) {
    outputs.push(JSON.stringify((await call({ id: `toolu-${at}`, name, input }, { ask })).content))
  }
  return outputs
}

for (const run of [inOpenAIsWords, inAnthropicsWords]) {
  const root = await mkdtemp(join(tmpdir(), "haft-example-"))
  await writeFile(join(root, "add.js"), "const add = (a, b) => a - b\nconsole.log(add(2, 2))\n")
  await using host = await openHost({ root, packages: ["fs", "exec"], sandbox: "none" })
  const outputs = await run(host)
  const repaired = await readFile(join(root, "add.js"), "utf8")
  console.log(run.name, outputs.at(-1))
  if (!repaired.includes("a + b") || !outputs.at(-1)?.includes("4\\\\n")) process.exitCode = 1
}
