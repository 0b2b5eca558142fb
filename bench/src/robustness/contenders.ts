import { spawnSync } from "node:child_process"
import { mkdtempSync, realpathSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { haft } from "@haft/dialects"

import type { Absent } from "../benchmark.ts"
import { openFileHost } from "../file-host.ts"
import { McpClient } from "../mcp/client.ts"
import { installPeer, type Peer } from "../peers.ts"
import type { Edit } from "./edit-damage.ts"

export interface Answer {
  readonly ok: boolean
  readonly message: string
}

/** A program or a tool that makes changes in a directory. */
export interface Contender<Request> {
  readonly name: string
  readonly make: (root: string, request: Request) => Promise<Answer>
  readonly close?: () => Promise<void>
}

export interface Contenders<Request> {
  readonly present: ReadonlyArray<Contender<Request>>
  readonly absent: ReadonlyArray<Absent>
}

/** A call of a tool of haft, with a host and a state directory of its own for each case. */
const haftTool = <Request>(tool: string, paramsOf: (request: Request) => unknown): Contender<Request> => ({
  name: "haft",
  make: async (root, request) => {
    const state = mkdtempSync(join(tmpdir(), "haft-robustness-state-"))
    const host = await openFileHost(haft, { root, state, durable: false })
    try {
      const reply = (await host.call(tool, paramsOf(request))) as { readonly ok: boolean }
      return { ok: reply.ok, message: JSON.stringify(reply) }
    } finally {
      await host.dispose()
      rmSync(state, { recursive: true })
    }
  }
})

const program = (
  name: string,
  command: string,
  argsOf: (patch: string) => ReadonlyArray<string>
): Contender<string> => ({
  name,
  make: async (root, input) => {
    const env = { ...process.env, GIT_CEILING_DIRECTORIES: tmpdir(), LC_ALL: "C.UTF-8" }
    const { status, stdout, stderr } = spawnSync(command, argsOf(input), { cwd: root, input, env, encoding: "utf8" })
    return { ok: status === 0, message: `${stdout}${stderr}`.trim() }
  }
})

const haftPatch = haftTool<string>("apply_patch", (patch) => ({ patch }))

export const unifiedContenders = (): Contenders<string> => ({
  present: [
    haftPatch,
    program("git apply", "git", () => ["apply", "-"]),
    program("git apply --recount", "git", () => ["apply", "--recount", "-"]),
    // Rejects and backups would be files that nobody asked for.
    program("patch -p1", "patch", () => ["-p1", "--force", "--no-backup-if-mismatch", "--reject-file=-"])
  ],
  absent: []
})

const codex: Peer = {
  package: "@openai/codex",
  version: "0.169.0-linux-x64",
  bin: "vendor/x86_64-unknown-linux-musl/bin/codex"
}

export const envelopeContenders = (home: string | undefined): Promise<Contenders<string>> =>
  withPeers(haftPatch, home, [
    [
      `Codex ${codex.version}`,
      async (at) => {
        if (`${process.platform}-${process.arch}` !== "linux-x64") throw new Error("only tried on linux-x64")
        const path = installPeer(at, codex)
        return program("", path, (patch) => ["--codex-run-as-apply-patch", patch])
      }
    ]
  ])

const filesystem: Peer = {
  package: "@modelcontextprotocol/server-filesystem",
  version: "2026.8.31",
  bin: "dist/index.js"
}
const agentToolset: Peer = { package: "@anthropic-ai/sdk", version: "1.9.0", bin: "tools/agent-toolset/node.js" }

export const editContenders = (home: string | undefined): Promise<Contenders<Edit>> =>
  withPeers(
    haftTool<Edit>("edit_file", ({ path, find, replace }) => ({ path, edits: [{ find, replace }] })),
    home,
    [
      [`MCP filesystem ${filesystem.version}`, openFilesystem],
      [`Anthropic SDK ${agentToolset.version}`, openAgentToolset]
    ]
  )

const openFilesystem = async (home: string): Promise<Omit<Contender<Edit>, "name">> => {
  const args = [installPeer(home, filesystem), realpathSync(tmpdir())]
  const client = await McpClient.open({ command: process.execPath, args })
  return {
    make: async (root, { path, find, replace }) => {
      const edits = [{ oldText: find, newText: replace }]
      const call = { name: "edit_file", arguments: { path: join(root, path), edits } }
      const answer = (await client.request("tools/call", call)) as { readonly isError?: boolean }
      return { ok: answer.isError !== true, message: JSON.stringify(answer) }
    },
    close: () => client.close()
  }
}

interface AgentToolset {
  readonly betaEditTool: (context: { readonly workdir: string }) => {
    readonly run: (input: unknown) => Promise<unknown>
  }
}

const openAgentToolset = async (home: string): Promise<Omit<Contender<Edit>, "name">> => {
  const { betaEditTool } = createRequire(import.meta.url)(installPeer(home, agentToolset)) as AgentToolset
  return {
    make: async (workdir, { path, find, replace }) => {
      try {
        const answer = await betaEditTool({ workdir }).run({ file_path: path, old_string: find, new_string: replace })
        return { ok: true, message: JSON.stringify(answer) }
      } catch (error) {
        return { ok: false, message: String(error) }
      }
    }
  }
}

/** Installs peers below a home directory; without one nothing is fetched. */
const withPeers = async <Request>(
  ours: Contender<Request>,
  home: string | undefined,
  peers: ReadonlyArray<readonly [name: string, open: (home: string) => Promise<Omit<Contender<Request>, "name">>]>
): Promise<Contenders<Request>> => {
  const present = [ours]
  const absent: Array<Absent> = []
  for (const [name, open] of peers) {
    try {
      if (home === undefined) throw new Error("not fetched with --quick")
      present.push({ ...(await open(home)), name })
    } catch (error) {
      absent.push({ name, reason: (error as Error).message })
    }
  }
  return { present, absent }
}
