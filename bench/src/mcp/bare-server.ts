// The fastest possible server: it reads a line, reads a file, and writes a line. With a root and a directory as
// arguments it also keeps haft's promises: reads are contained in the root, and recorded in the directory.
import { readFileSync } from "node:fs"
import { createInterface } from "node:readline"

import { leastGuardedRead } from "../least-guarded-read.ts"

interface Message {
  readonly id?: number
  readonly method: string
  readonly params: { readonly arguments: { readonly path: string } }
}

const [root, directory] = process.argv.slice(2)
const guarded = root === undefined || directory === undefined ? undefined : leastGuardedRead(root, directory)

const read = ({ params }: Message): object => {
  const { path } = params.arguments
  if (guarded === undefined) return { content: [{ type: "text", text: readFileSync(path, "utf8") }] }
  const text = guarded(path)
  return { content: [{ type: "text", text }], structuredContent: { path, content: text }, isError: false }
}

const inputSchema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] }
const answers: Readonly<Record<string, (message: Message) => unknown>> = {
  initialize: () => ({
    protocolVersion: "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "bare", version: "1.0.0" }
  }),
  "tools/list": () => ({ tools: [{ name: "read_file", inputSchema }] }),
  "tools/call": read
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line) as Message
  if (message.id === undefined) return
  const result = answers[message.method]?.(message)
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: message.id, result })}\n`)
})
