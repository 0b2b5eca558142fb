// The ceiling: a request in, a file out as JSON, and no question asked.
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

const server = createServer((request, response) => {
  let body = ""
  request.on("data", (chunk: Buffer) => (body += chunk.toString()))
  request.on("end", () => {
    const { params } = JSON.parse(body) as { readonly params: { readonly path: string } }
    response.setHeader("content-type", "application/json")
    response.end(JSON.stringify({ content: readFileSync(params.path, "utf8") }))
  })
})
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })}\n`)
})
