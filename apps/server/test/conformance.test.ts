import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer, request as forward } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"

import { type ContentBlock, definePlugin, defineTool, toolError } from "haft/promise"
import { expect, it, onTestFinished } from "vitest"
import * as z from "zod"

import { startServer, tokens } from "./running.ts"

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
const wav = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="

// The names and answers that the suite asks for.
const answering = (name: string, text: string, blocks?: ReadonlyArray<ContentBlock>) =>
  defineTool({
    name,
    description: `Answers: ${text}`,
    input: z.strictObject({}),
    output: z.object({ text: z.string() }),
    risk: "read_only",
    execute: async () => ({ text }),
    render: (output) => output.text,
    ...(blocks !== undefined && { blocks: () => blocks })
  })

const image = { type: "image", data: png, mimeType: "image/png" } as const
const resource = { type: "resource", uri: "test://resource", mimeType: "text/plain", text: "a resource" } as const

const address = z.object({ street: z.string().optional(), city: z.string().optional() }).meta({ id: "address" })

const fixture = definePlugin({
  name: "conformance",
  version: "1.0.0",
  tools: [
    answering("test_simple_text", "This is a simple text response for testing."),
    answering("test_image_content", "an image", [image]),
    answering("test_audio_content", "a sound", [{ type: "audio", data: wav, mimeType: "audio/wav" }]),
    answering("test_embedded_resource", "a resource", [resource]),
    answering("test_multiple_content_types", "text, image and resource", [
      { type: "text", text: "Multiple content types test:" },
      image,
      resource
    ]),
    defineTool({
      name: "json_schema_2020_12_tool",
      description: "Tool with JSON Schema 2020-12 features",
      input: z.strictObject({ name: z.string().optional(), address: address.optional() }),
      output: z.object({}),
      risk: "read_only",
      execute: async () => ({})
    }),
    defineTool({
      name: "test_error_handling",
      description: "Always fails.",
      input: z.strictObject({}),
      output: z.object({}),
      risk: "read_only",
      execute: async () => {
        throw toolError("file_not_found", "This tool intentionally returns an error for testing")
      }
    }),
    defineTool({
      name: "test_tool_with_progress",
      description: "Reports progress three times.",
      input: z.strictObject({}),
      output: z.object({}),
      risk: "read_only",
      execute: async (_input, { progress }) => {
        for (const done of [0, 50, 100]) {
          progress({ message: `${done} of 100`, done, total: 100 })
          await sleep(50)
        }
        return {}
      }
    })
  ]
})

/** An address that needs no token, for a suite that can't send one. Host and Origin arrive as they were sent. */
const openProxy = async () => {
  let target = ""
  const proxy = createServer((incoming, answer) => {
    const { method, url, headers } = incoming
    const outgoing = forward(
      new URL(url ?? "/", target),
      { method, headers: { ...headers, authorization: `Bearer ${tokens.agent}` } },
      (response) => {
        answer.writeHead(response.statusCode ?? 502, response.headers)
        response.pipe(answer)
      }
    )
    outgoing.on("error", () => answer.destroy())
    incoming.pipe(outgoing)
  })
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  const host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`
  return { host, leadTo: (url: string) => (target = url) }
}

it("passes the official MCP conformance suite, with the failures that are listed", { timeout: 180_000 }, async () => {
  const { host, leadTo } = await openProxy()
  const running = await startServer({ packages: [], plugins: [fixture] }, { alsoKnownAs: [host] })
  leadTo(running.server.url)
  const results = mkdtempSync(join(tmpdir(), "haft-conformance-"))
  onTestFinished(() => rmSync(results, { recursive: true, force: true }))
  const suite = join(
    dirname(fileURLToPath(import.meta.resolve("@modelcontextprotocol/conformance/package.json"))),
    "dist/index.js"
  )
  const expected = join(import.meta.dirname, "conformance-expected-failures.yml")
  expect(readFileSync(expected, "utf8")).toMatch(/^server:$/m)
  const args = [
    suite,
    "server",
    "--url",
    `http://${host}/mcp`,
    "--suite",
    "all",
    "--expected-failures",
    expected,
    "-o",
    results
  ]
  const { code, output } = await new Promise<{ code: unknown; output: string }>((resolve) => {
    execFile(process.execPath, args, { maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, output: stdout + stderr })
    )
  })
  // The suite fails on a scenario that fails and is not listed, and on one that passes and is listed.
  expect(code, output.slice(-6000)).toBe(0)
})
