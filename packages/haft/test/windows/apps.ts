import { deepEqual, equal, match } from "node:assert/strict"
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"

import { reasonOf } from "@haft/core"

/** Starts the command of haft on another system: `apps BIN`, with the bundled command. */
const [bin = ""] = process.argv.slice(2)

const base = mkdtempSync(join(tmpdir(), "haft-apps-"))
const root = join(base, "workspace")
mkdirSync(root)
const place = ["--workspace", root, "--state", join(base, "state")]

const start = (...args: ReadonlyArray<string>): ChildProcessWithoutNullStreams =>
  spawn(process.execPath, [bin, ...args], { cwd: root })

const run = async (
  ...args: ReadonlyArray<string>
): Promise<{ readonly code: number | null; readonly text: string }> => {
  const child = start(...args)
  child.stdin.end()
  let text = ""
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()))
  child.stderr.on("data", (chunk: Buffer) => (text += chunk.toString()))
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve))
  return { code, text }
}

const checks: Readonly<Record<string, () => Promise<void>>> = {
  "the command writes, reads, undoes, keeps a log and ends with its exit codes": async () => {
    match((await run("--version")).text, /\d+\.\d+\.\d+/)
    const written = await run("call", "write_file", "path=a.txt", "content=hello", "--approve", "all", ...place)
    equal(written.code, 0, written.text)
    equal(readFileSync(join(root, "a.txt"), "utf8"), "hello")
    match((await run("call", "read_file", "path=a.txt", ...place)).text, /hello/)
    match((await run("call", "search_text", "query=hel", ...place)).text, /a\.txt/)
    equal((await run("call", "read_file", "path=../x", ...place)).code, 1)
    match((await run("log", ...place)).text, /read_file/)
    equal((await run("undo", "--approve", "all", ...place)).code, 0)
    match((await run("doctor", ...place)).text, /Node/)
  },
  "an MCP client talks to it over stdio": async () => {
    const child = start("mcp", ...place)
    const replies = new Map<number, (message: { readonly result: Record<string, unknown> }) => void>()
    createInterface({ input: child.stdout }).on("line", (line) => {
      const message = JSON.parse(line) as { readonly id: number; readonly result: Record<string, unknown> }
      replies.get(message.id)?.(message)
    })
    let id = 0
    const send = (message: object): void =>
      void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
    const ask = async (method: string, params: object) => {
      const number = ++id
      const reply = new Promise<{ readonly result: Record<string, unknown> }>((resolve) => replies.set(number, resolve))
      send({ id: number, method, params })
      return (await reply).result
    }
    const clientInfo = { name: "check", version: "1" }
    await ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo })
    send({ method: "notifications/initialized" })
    const { tools } = await ask("tools/list", {})
    equal(
      (tools as ReadonlyArray<{ name: string }>).some(({ name }) => name === "read_file"),
      true
    )
    const { isError } = await ask("tools/call", { name: "list_dir", arguments: { path: "." } })
    equal(isError ?? false, false)
    const ended = new Promise((resolve) => child.once("exit", resolve))
    child.stdin.end()
    equal(await ended, 0)
  },
  "the server answers over HTTP": async () => {
    const child = start("serve", "--port", "0", ...place)
    let text = ""
    const address = await new Promise<string>((resolve, reject) => {
      const hear = (chunk: Buffer): void => {
        text += chunk.toString()
        const [found] = /http:\/\/[\w.:-]+/.exec(text) ?? []
        if (found !== undefined) resolve(found)
      }
      child.stdout.on("data", hear)
      child.stderr.on("data", hear)
      child.once("exit", () => reject(new Error(`it ended: ${text}`)))
    })
    const { request } = await import("node:http")
    const { port } = new URL(address)
    const status = await new Promise((resolve, reject) => {
      request({ host: "localhost", port, path: "/v1/workspaces/default/tools" }, (response) =>
        resolve(response.resume().statusCode)
      )
        .on("error", reject)
        .end()
    })
    child.kill()
    // Without a token.
    deepEqual(status, 401)
  }
}

let failures = 0
for (const [name, check] of Object.entries(checks)) {
  try {
    await check()
    console.log(`passed: ${name}`)
  } catch (error) {
    failures++
    console.error(`failed: ${name}: ${reasonOf(error)}`)
  }
}
rmSync(base, { recursive: true, force: true, maxRetries: 10 })
process.exit(failures === 0 ? 0 : 1)
