// The ceiling: a line in, a line out, and a file read without a question.
import { readFileSync } from "node:fs"
import { createInterface } from "node:readline"

interface Message {
  readonly id?: number
  readonly method: string
  readonly params: { readonly arguments: { readonly path: string } }
}

const inputSchema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] }
const answers: Readonly<Record<string, (message: Message) => unknown>> = {
  initialize: () => ({
    protocolVersion: "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "bare", version: "1.0.0" }
  }),
  "tools/list": () => ({ tools: [{ name: "read_file", inputSchema }] }),
  "tools/call": ({ params }) => ({ content: [{ type: "text", text: readFileSync(params.arguments.path, "utf8") }] })
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line) as Message
  if (message.id === undefined) return
  const result = answers[message.method]?.(message)
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: message.id, result })}\n`)
})
