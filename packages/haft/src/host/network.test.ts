import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

import { expect, it } from "@effect/vitest"
import { temporaryWorkspace } from "@haft/testing"

import { openHost, readRun } from "../promise.ts"

const isLinux = process.platform === "linux"

it.runIf(isLinux)(
  "gives commands the hosts of the configuration, and asks about others (not on this platform)",
  async () => {
    using workspace = temporaryWorkspace()
    const server = createServer((_request, response) => response.end("reached")).listen(0, "127.0.0.1")
    await once(server, "listening")
    const { port } = server.address() as AddressInfo
    const config = {
      root: workspace.root,
      state: workspace.state,
      sandbox: "unshare",
      network: { allow: [`localhost:${port}`] }
    } as const
    const asked: Array<unknown> = []
    {
      await using host = await openHost(config)
      const get = (name: string) =>
        `(exec 5<>/dev/tcp/127.0.0.1/3128; printf 'GET http://${name}:${port}/ HTTP/1.1\\r\\nHost: ${name}:${port}\\r\\nConnection: close\\r\\n\\r\\n' >&5; cat <&5)`
      const command = `${get("localhost")}; ${get("new.example")}`
      const ask = async ({ call, input }: { call: { tool: string }; input: object }) => {
        asked.push({ tool: call.tool, ...input })
        return { approved: call.tool === "run_command" }
      }
      const reply = await host.call("run_command", { command, network: true }, { ask })
      expect(reply.text).toMatch(/\nreached[\s\S]*\nhaft refused the connection: new\.example:\d+ was not approved/)
      expect(asked).toEqual([
        expect.objectContaining({ tool: "run_command", network: true }),
        { tool: "connect", host: "new.example", port, for: "run_command", command }
      ])
    }
    server.close()
    const events = (await readRun(config)).filter(({ type }) => type.startsWith("connection_"))
    expect(events).toMatchObject([
      { type: "connection_opened", tool: "run_command", host: "localhost", by: `network.allow localhost:${port}` },
      { type: "connection_refused", tool: "run_command", host: "new.example" },
      { type: "connection_closed", host: "localhost", bytes_received: expect.any(Number) }
    ])
  }
)

it.runIf(isLinux)(
  "gives a persistent shell network for all of its commands, or for none (not on this platform)",
  async () => {
    using workspace = temporaryWorkspace()
    const { root, state } = workspace
    const config = { root, state, sandbox: "unshare", network: { allow: ["listed.example"] } } as const
    await using host = await openHost(config)
    const asked: Array<unknown> = []
    const ask = async ({
      call,
      input,
      facts
    }: {
      call: { tool: string }
      input: object
      facts: { network?: boolean }
    }) => {
      asked.push(call.tool === "connect" ? { ...input } : facts.network)
      return { approved: call.tool === "shell" }
    }
    const get = `(exec 5<>/dev/tcp/127.0.0.1/3128 && printf 'GET http://new.example/ HTTP/1.1\\r\\nHost: new.example\\r\\n\\r\\n' >&5 && timeout 5 head -1 <&5)`
    const shell = (args: { command: string; network?: boolean; session_id?: string }) =>
      host.call("shell", args, { ask })
    await shell({ command: "true", network: true })
    const reply = await shell({ command: get })
    expect(reply.text).toMatch(/^HTTP\/1\.1 403/)
    expect(asked).toEqual([true, true, { host: "new.example", port: 80, for: "shell", command: get }])
    await shell({ command: "true", session_id: "closed" })
    const late = await shell({ command: "true", session_id: "closed", network: true })
    expect(late.error).toMatchObject({
      code: "invalid_params",
      message: "the shell 'closed' was opened without network, which it can't get later"
    })
  }
)

it("puts the requests of fetch_url on record as connections", async () => {
  using workspace = temporaryWorkspace()
  const server = createServer((_request, response) => response.end("reached")).listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  const { root, state } = workspace
  const config = { root, state, sandbox: "none", network: { allow: [`localhost:${port}`] } } as const
  {
    await using host = await openHost(config)
    expect((await host.call("fetch_url", { url: `http://localhost:${port}/` })).ok).toBe(true)
  }
  server.close()
  const events = (await readRun(config)).filter(({ type }) => type.startsWith("connection_"))
  const common = { tool: "fetch_url", host: "localhost", port }
  expect(events).toMatchObject([
    { type: "connection_opened", ...common, protocol: "fetch", by: `network.allow localhost:${port}` },
    { type: "connection_closed", ...common, bytes_received: 7 }
  ])
})

it("refuses a network policy that names no hosts, by its setting", async () => {
  const config = { network: { allow: ["https://example.com/"] } }
  await expect(openHost(config)).rejects.toThrow("network.allow.0: expected a host such as example.com")
})
