import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import type { Contender, Group } from "../benchmark.ts"
import { expectPositive, expectText } from "../expect.ts"
import { McpClient } from "../mcp/client.ts"
import { contenderOf, type RunningServer, startServers } from "../mcp/servers.ts"
import { residentMemory } from "../resident-memory.ts"

/** Calls of MCP on stdio. The floor is a server that answers every line without checking anything. */
export const benchmarks: Group = async function* (setting) {
  const root = mkdtempSync(join(tmpdir(), "haft-bench-mcp-"))
  const file = join(root, "a.txt")
  writeFileSync(file, `hello\n${"a line of text\n".repeat(60)}`)
  const longer = join(root, "longer.txt")
  writeFileSync(longer, `hello\n${"a line of text\n".repeat(6600)}`)
  const { running, absent, close } = await startServers(setting, root, "read")
  const floor = "bare JSON lines"
  const each = (
    atMost: number | undefined,
    job: (running: RunningServer) => Pick<Contender, "run" | "check">
  ): ReadonlyArray<Contender> =>
    running.map((one) =>
      contenderOf(one.server, one.server.kind === "haft" && atMost !== undefined ? { ...job(one), atMost } : job(one))
    )

  yield {
    group: "mcp",
    name: "start, to the list of tools",
    floor,
    ifMissed: "Loading Effect, zod and the SDK is nearly all of it; docs/decisions has what a start consists of.",
    absent,
    contenders: each(3.5, ({ server }) => ({
      run: async () => {
        const client = await McpClient.open(server.program(setting, root))
        const tools = await client.request("tools/list", {})
        client.kill()
        return JSON.stringify(tools)
      },
      check: expectText("inputSchema")
    }))
  }
  yield {
    group: "mcp",
    name: "memory at rest",
    measures: "bytes",
    floor,
    absent,
    contenders: each(1.7, ({ client }) => ({
      run: () => residentMemory(client.pid),
      check: expectPositive
    }))
  }
  for (const inFlight of [1, 16, 64]) {
    yield {
      group: "mcp",
      name: "read of 1 KB",
      size: { value: inFlight, label: `${inFlight} in flight` },
      inFlight,
      isServer: true,
      floor,
      ifMissed:
        "The line 'on record and contained' is the least that keeps haft's promises about a read, and misses the goal with many in flight, too. The road then decodes, assesses, approves, takes out what is secret and puts the answer into the dialect's words: docs/decisions has what each takes.",
      absent,
      contenders: each(inFlight > 16 ? undefined : 2, ({ server, client }) => ({
        run: () => client.call(server.read?.(file) ?? never(server.name)),
        check: expectText("hello")
      }))
    }
  }
  yield {
    group: "mcp",
    name: "read of 100 KB",
    size: { value: 16, label: "16 in flight" },
    inFlight: 16,
    isServer: true,
    floor,
    absent,
    contenders: each(undefined, ({ server, client }) => ({
      run: () => client.call(server.read?.(longer) ?? never(server.name)),
      check: expectText("hello")
    }))
  }
  await close()

  const commands = await startServers(setting, root, "run")
  yield {
    group: "mcp",
    name: "a command that echoes",
    floor: "haft",
    absent: commands.absent,
    contenders: commands.running.map(({ server, client }) =>
      contenderOf(server, {
        run: () => client.call(server.run?.("echo hello") ?? never(server.name)),
        check: expectText("hello")
      })
    )
  }
  await commands.close()
  rmSync(root, { recursive: true })
}

const never = (name: string): never => {
  throw new Error(`${name} was started for nothing`)
}
