// node serve.ts bare|reading|guarded|mcp|haft ROOT STATE: a server of the HTTP benchmarks.
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"

import { serveHaft } from "@haft/server"

import { leastGuardedRead } from "../least-guarded-read.ts"

const [kind = "", root = "", state = ""] = process.argv.slice(2)

/** The tokens that haft checks; the other servers ignore them. */
const tokens = { agent: "agent-of-the-benchmark", approver: "approver-of-the-benchmark" }

interface Asked {
  readonly id?: number
  readonly params: { readonly path: string }
}

const serveBare = async (answer: (asked: Asked) => object): Promise<string> => {
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const body = JSON.stringify(answer(JSON.parse(Buffer.concat(chunks).toString()) as Asked))
      response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) })
      response.end(body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const serveTools = async (): Promise<string> => {
  const workspaces = { default: { root, state, sandbox: "none" as const } }
  const { url } = await serveHaft({ workspaces, tokens, version: "0.0.0", port: 0 })
  return url
}

const replyOf = (path: string, content: string) => ({ ok: true, result: { path, content } })
const kept = readFileSync(join(root, "a.txt"), "utf8")
const urls: Readonly<Record<string, () => Promise<string>>> = {
  bare: () => serveBare(({ params: { path } }) => replyOf(path, kept)),
  reading: () => serveBare(({ params: { path } }) => replyOf(path, readFileSync(join(root, path), "utf8"))),
  guarded: () => {
    const read = leastGuardedRead(root, state)
    return serveBare(({ params: { path } }) => replyOf(path, read(join(root, path))))
  },
  mcp: () => serveBare(({ id }) => ({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: kept }] } })),
  haft: serveTools
}
process.stdout.write(`${await urls[kind]?.()} ${tokens.agent}\n`)
process.stdin.on("end", () => process.exit()).resume()
