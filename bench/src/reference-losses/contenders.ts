import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { openHost } from "haft/promise"

import { McpClient } from "../mcp/client.ts"
import { installPeer, type Peer } from "../peers.ts"

/** Replacement of a text in the file `f.txt`. */
export interface Edit {
  readonly find: string
  readonly replace: string
}

/** An implementation of file tools, in a directory of its own. */
export interface Contender {
  readonly name: string
  /** True if the edit was reported as made. Absent where the implementation does not read files itself. */
  readonly edit?: (root: string, edit: Edit) => Promise<boolean>
  /** The text after an edit, for an implementation that only computes it. Undefined where it refuses. */
  readonly editText?: (text: string, edit: Edit) => string | undefined
  /** Runs a command, then closes whatever runs it. */
  readonly runAndClose?: (root: string, command: string) => Promise<void>
  readonly close?: () => Promise<void>
}

const filesystem: Peer = {
  package: "@modelcontextprotocol/server-filesystem",
  version: "2026.8.31",
  bin: "dist/index.js"
}
const toolset: Peer = { package: "@anthropic-ai/sdk", version: "1.9.0", bin: "tools/agent-toolset/node.js" }
const agents: Peer = { package: "@openai/agents-core", version: "0.20.0", bin: "dist/index.js" }

const require = createRequire(import.meta.url)

export const openContenders = async (home: string): Promise<ReadonlyArray<Contender>> => [
  haft,
  anthropicToolset(home),
  await mcpFilesystem(home),
  agentsApplyDiff(home)
]

const haftIn = (root: string, state: string) => openHost({ root, state, dialect: "anthropic", approval: "all" })

const haft: Contender = {
  name: "haft, dialect `anthropic`",
  edit: (root, { find, replace }) =>
    withState(async (state) => {
      await using host = await haftIn(root, state)
      const args = { file_path: "f.txt", old_string: find, new_string: replace }
      return (await host.call("edit", args)).ok
    }),
  runAndClose: (root, command) =>
    withState(async (state) => {
      await using host = await haftIn(root, state)
      await host.call("bash", { command })
    })
}

const withState = async <A>(use: (state: string) => Promise<A>): Promise<A> => {
  const state = mkdtempSync(join(tmpdir(), "haft-losses-state-"))
  try {
    return await use(state)
  } finally {
    rmSync(state, { recursive: true, force: true })
  }
}

interface RunnableTool {
  readonly run: (input: unknown) => Promise<unknown>
  readonly close?: () => void
}

type MakeTool = (context: { readonly workdir: string }) => RunnableTool

const anthropicToolset = (home: string): Contender => {
  const tools = require(installPeer(home, toolset)) as Readonly<Record<"betaEditTool" | "betaBashTool", MakeTool>>
  return {
    name: `agent toolset of \`${toolset.package}\` ${toolset.version}`,
    edit: (workdir, { find, replace }) =>
      tools
        .betaEditTool({ workdir })
        .run({ file_path: "f.txt", old_string: find, new_string: replace })
        .then(
          () => true,
          () => false
        ),
    runAndClose: async (workdir, command) => {
      const bash = tools.betaBashTool({ workdir })
      await bash.run({ command })
      bash.close?.()
    }
  }
}

const mcpFilesystem = async (home: string): Promise<Contender> => {
  const args = [installPeer(home, filesystem), realpathSync(tmpdir())]
  const client = await McpClient.open({ command: process.execPath, args })
  return {
    name: `\`${filesystem.package}\` ${filesystem.version}`,
    edit: async (root, { find, replace }) => {
      const edits = [{ oldText: find, newText: replace }]
      const call = { name: "edit_file", arguments: { path: join(root, "f.txt"), edits } }
      const { isError } = (await client.request("tools/call", call)) as { readonly isError?: boolean }
      return isError !== true
    },
    close: () => client.close()
  }
}

const agentsApplyDiff = (home: string): Contender => {
  const { applyDiff } = require(installPeer(home, agents)) as { applyDiff: (text: string, diff: string) => string }
  const lines = (text: string, sign: string): string =>
    text
      .split("\n")
      .map((line) => `${sign}${line}\n`)
      .join("")
  return {
    name: `\`applyDiff\` of \`${agents.package}\` ${agents.version}`,
    editText: (text, { find, replace }) => {
      try {
        return applyDiff(text, `@@\n${lines(find, "-")}${lines(replace, "+")}`)
      } catch {
        return undefined
      }
    }
  }
}

/** Bytes of `f.txt` after an edit, and whether it was reported as made. Undefined where the implementation reads no files. */
export const edited = async (
  { edit, editText }: Contender,
  bytes: Uint8Array,
  change: Edit
): Promise<{ readonly bytes: Uint8Array; readonly ok: boolean } | undefined> => {
  if (editText !== undefined) {
    const text = Buffer.from(bytes).toString("utf8")
    if (!Buffer.from(text).equals(bytes)) return undefined
    const after = editText(text, change)
    return { bytes: Buffer.from(after ?? text), ok: after !== undefined }
  }
  if (edit === undefined) return undefined
  const root = realpathSync(mkdtempSync(join(tmpdir(), "haft-losses-")))
  try {
    writeFileSync(join(root, "f.txt"), bytes)
    const ok = await edit(root, change)
    return { bytes: readFileSync(join(root, "f.txt")), ok }
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}
