import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

import { openHost } from "@haft/core/promise"
import { temporaryWorkspace } from "@haft/testing"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { standardHost } from "./host/standard-host.ts"
import { type DialectName, dialectNames, type HaftConfig, openRules } from "./internal.ts"

const diffOf = (path: string) => `--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-KEY=s3cret\n+KEY=x\n`
const copyOf = (path: string) => `diff --git a/${path} b/copy\nsimilarity index 100%\ncopy from ${path}\ncopy to copy\n`
const movedOf = (path: string) =>
  `diff --git a/${path} b/moved\nsimilarity index 100%\nrename from ${path}\nrename to moved\n`
const envelopeOf = (path: string) =>
  `*** Begin Patch\n*** Update File: ${path}\n@@\n-KEY=s3cret\n+KEY=x\n*** End Patch\n`

type Call = readonly [tool: string, args: Readonly<Record<string, unknown>>]

/** The tool that reads a file, and its parameter for the path; a dialect may have none. */
const readers: Readonly<Partial<Record<DialectName, readonly [tool: string, parameter: string]>>> = {
  haft: ["read_file", "path"],
  agentbench: ["read_file", "path"],
  toolrouter: ["read_file", "path"],
  approvalgate: ["read_file", "path"],
  cliagent: ["read_file", "path"],
  filetools: ["file.read", "path"],
  anthropic: ["read", "file_path"],
  "claude-code": ["Read", "file_path"],
  codex: ["view_image", "path"],
  "gemini-cli": ["read_file", "file_path"],
  "mcp-filesystem": ["read_text_file", "path"]
}

/** Ways to read or change `d/.env`, by dialect: the file itself, and directories above it. */
const ways: Readonly<Record<DialectName, ReadonlyArray<Call>>> = {
  haft: [
    ["read_file", { path: "d/.env" }],
    ["read_file", { path: "link" }],
    ["list_dir", { path: "d" }],
    ["list_dir", {}],
    ["search_text", { query: "KEY", path: "d/.env" }],
    ["search_text", { query: "KEY", path: "d" }],
    ["search_text", { query: "KEY" }],
    ["find_files", { pattern: "**/*", path: "d" }],
    ["search_code", { query: "KEY" }],
    ["search_code", { query: "KEY", path: "d" }],
    ["outline", { path: "d/.env" }],
    ["outline", {}],
    ["find_symbol", { name: "KEY", include_references: true }],
    ["shell", { command: "cat d/.env" }],
    ["shell", { command: "cd d; cat .env" }],
    ["start_process", { command: "cat d/.env" }],
    ["start_process", { command: "cat .env", cwd: "d" }],
    ["find_symbol", { name: "KEY", path: "d", include_references: true }],
    ["read_files", { paths: ["d/.env"] }],
    ["file_info", { path: "d/.env" }],
    ["append_file", { path: "d/.env", content: "x" }],
    ["write_file", { path: "d/.env", content: "x" }],
    ["edit_file", { path: "d/.env", edits: [{ find: "s3cret", replace: "x" }] }],
    ["apply_patch", { patch: diffOf("d/.env") }],
    ["apply_patch", { patch: copyOf("d/.env") }],
    ["apply_patch", { patch: movedOf("d/.env") }],
    ["delete_path", { path: "d/.env" }],
    ["delete_path", { path: "d", recursive: true }],
    ["edit_file", { path: "d/.env", edits: [{ anchor: "1:abcde", replace: "x" }] }],
    ["edit_notebook", { path: "d/.env", cell: "0" }],
    ["copy_path", { from: "d/.env", to: "x" }],
    ["copy_path", { from: "d", to: "x" }],
    ["copy_path", { from: "a.txt", to: "d/.env", overwrite: true }],
    ["move_path", { from: "d/.env", to: "x" }],
    ["move_path", { from: "d", to: "x" }],
    ["move_path", { from: "a.txt", to: "d/.env", overwrite: true }],
    ["create_directory", { path: "e/.env" }],
    ["run_command", { command: "cat d/.env" }],
    ["run_command", { command: "cat .env", cwd: "d" }],
    ["run_command", { command: "cat d/.e''nv" }],
    ["run_command", { command: "cat $(echo d/.env)" }],
    ["run_code", { language: "bash", code: "cat d/.env" }],
    ["open_terminal", { command: "cat d/.env" }]
  ],
  agentbench: [
    ["read_file", { path: "d/.env" }],
    ["list_files", { root: "d" }],
    ["search", { query: "KEY" }],
    ["apply_patch", { unified_diff: diffOf("d/.env") }],
    ["apply_patch", { unified_diff: copyOf("d/.env") }],
    ["run", { command: "cat d/.env" }],
    ["run", { command: "cat d/*" }]
  ],
  toolrouter: [
    ["list_dir", { path: "d" }],
    ["read_file", { path: "d/.env" }],
    ["grep_files", { pattern: "KEY", path: "d" }],
    ["apply_patch_json", { patch: diffOf("d/.env") }],
    ["apply_patch_freeform", { patch: envelopeOf("d/.env") }],
    ["shell", { command: "cat d/.env" }],
    ["shell", { command: "cat .env", workdir: "d" }],
    ["exec_command", { session_id: "s", cmd: "cat d/.env" }]
  ],
  approvalgate: [
    ["list_directory", { path: "d" }],
    ["read_file", { path: "d/.env" }],
    ["write_file", { path: "d/.env", content: "x" }],
    ["delete_file", { path: "d/.env" }],
    ["delete_file", { path: "d", recursive: true }],
    ["move_file", { from: "d/.env", to: "x" }],
    ["move_file", { from: "d", to: "x" }],
    ["run_code", { language: "bash", code: "cat d/.env" }]
  ],
  cliagent: [
    ["list_dir", { path: "d" }],
    ["read_file", { path: "d/.env" }],
    ["create_file", { path: "d/.env", content: "x" }],
    ["replace_string_in_file", { path: "d/.env", old_string: "s3cret", new_string: "x" }],
    ["create_directory", { path: "e/.env" }],
    ["grep_search", { pattern: "KEY" }],
    ["file_search", { pattern: "**/*", base_path: "d" }],
    ["run_in_terminal", { command: "cat d/.env" }]
  ],
  filetools: [
    ["file.list", { path: "d" }],
    ["file.read", { path: "d/.env" }],
    ["file.write", { path: "d/.env", content: "x" }],
    ["file.patch", { path: "d/.env", patches: [{ find: "s3cret", replace: "x" }] }],
    ["file.delete", { path: "d/.env" }],
    ["file.search", { pattern: "KEY", path: "d" }]
  ],
  anthropic: [
    ["read", { file_path: "d/.env" }],
    ["read", { file_path: "link" }],
    ["write", { file_path: "d/.env", content: "x" }],
    ["edit", { file_path: "d/.env", old_string: "s3cret", new_string: "x" }],
    ["glob", { pattern: "**/*", path: "d" }],
    ["grep", { pattern: "KEY", path: "d" }],
    ["grep", { pattern: "KEY" }],
    ["bash", { command: "cat d/.env" }],
    ["str_replace_based_edit_tool", { command: "view", path: "d/.env" }],
    ["str_replace_based_edit_tool", { command: "view", path: "d" }],
    ["str_replace_based_edit_tool", { command: "create", path: "e/.env", file_text: "x" }],
    ["str_replace_based_edit_tool", { command: "str_replace", path: "d/.env", old_str: "s3cret", new_str: "x" }],
    ["str_replace_based_edit_tool", { command: "insert", path: "d/.env", insert_line: 0, insert_text: "x" }],
    ["memory", { command: "create", path: "/memories/.env", file_text: "x" }],
    ["memory", { command: "rename", old_path: "/memories/a", new_path: "/memories/.env" }]
  ],
  "claude-code": [
    ["Read", { file_path: "d/.env" }],
    ["Read", { file_path: "link" }],
    ["Write", { file_path: "d/.env", content: "x" }],
    ["Edit", { file_path: "d/.env", old_string: "s3cret", new_string: "x" }],
    ["NotebookEdit", { notebook_path: "d/.env", cell_id: "a", new_source: "x" }],
    ["Glob", { pattern: "**/*", path: "d" }],
    ["Grep", { pattern: "KEY", path: "d" }],
    ["Grep", { pattern: "KEY" }],
    ["Bash", { command: "cat d/.env" }],
    ["Bash", { command: "cat d/.env", run_in_background: true }],
    ["Monitor", { description: "d", timeout_ms: 1000, command: "cat d/.env" }]
  ],
  codex: [
    ["exec_command", { cmd: "cat d/.env" }],
    ["exec_command", { cmd: "cat .env", workdir: "d" }],
    ["apply_patch", { input: envelopeOf("d/.env") }],
    ["view_image", { path: "d/.env" }],
    ["view_image", { path: "link" }]
  ],
  "gemini-cli": [
    ["read_file", { file_path: "d/.env" }],
    ["read_file", { file_path: "link" }],
    ["write_file", { file_path: "d/.env", content: "x" }],
    ["replace", { file_path: "d/.env", instruction: "i", old_string: "s3cret", new_string: "x" }],
    ["read_many_files", { include: ["**/*"] }],
    ["glob", { pattern: "**/*", dir_path: "d" }],
    ["list_directory", { dir_path: "d" }],
    ["grep_search", { pattern: "KEY", dir_path: "d" }],
    ["grep_search", { pattern: "KEY" }],
    ["run_shell_command", { command: "cat d/.env" }],
    ["run_shell_command", { command: "cat .env", dir_path: "d" }],
    ["run_shell_command", { command: "cat d/.env", is_background: true }]
  ],
  "mcp-filesystem": [
    ["read_file", { path: "d/.env" }],
    ["read_text_file", { path: "link" }],
    ["read_media_file", { path: "d/.env" }],
    ["read_multiple_files", { paths: ["a.txt", "d/.env"] }],
    ["write_file", { path: "d/.env", content: "x" }],
    ["edit_file", { path: "d/.env", edits: [{ oldText: "s3cret", newText: "x" }] }],
    ["edit_file", { path: "d/.env", edits: [{ oldText: "KEY", newText: "x" }], dryRun: true }],
    ["create_directory", { path: "e/.env" }],
    ["list_directory", { path: "d" }],
    ["list_directory_with_sizes", { path: "." }],
    ["directory_tree", { path: "." }],
    ["move_file", { source: "d/.env", destination: "x" }],
    ["move_file", { source: "d", destination: "x" }],
    ["search_files", { path: ".", pattern: "**" }],
    ["get_file_info", { path: "d/.env" }]
  ],
  openai: [
    ["shell", { commands: ["cat d/.env"] }],
    ["shell", { commands: ["true", "cat d/.env"] }],
    ["apply_patch", { operation: { type: "update_file", path: "d/.env", diff: "@@\n-KEY=s3cret\n+KEY=x\n" } }],
    ["apply_patch", { operation: { type: "delete_file", path: "d/.env" } }],
    ["apply_patch", { operation: { type: "create_file", path: "e/.env", diff: "+x\n" } }]
  ]
}

const readingDialects = dialectNames.flatMap((dialect) => {
  const reader = readers[dialect]
  return reader === undefined ? [] : [[dialect, ...reader] as const]
})

/** Tools that touch no file, or only one that another tool has opened. */
const others = new Set(
  (
    "find_tools list_processes read_output wait_for stop_process list_allowed_directories TaskStop read_background_output list_background_processes WebFetch WebSearch " +
    "last_command terminal_last_command list_terminals close_terminal write_terminal write_stdin undo " +
    "fetch_url search_web web_fetch web_search fetch_webpage"
  ).split(" ")
)

const open = async (dialect: DialectName, rules: ReadonlyArray<object>) => {
  const workspace = temporaryWorkspace({
    "a.txt": "one\n",
    "d/.env": "KEY=s3cret\n",
    "d/b.txt": "b\n",
    "d/b.png": "an image, by its name",
    link: { symlink: "d/.env" },
    "hooked/.git/config": "x\n"
  })
  const config = { root: workspace.root, state: workspace.state, sandbox: "none", approval: "all", dialect } as const
  const store = await openRules(config)
  for (const rule of rules) await store.add(rule)
  const host = await openHost(standardHost(config))
  return { workspace, host, close: () => host.dispose().finally(workspace.remove) }
}

describe.each(dialectNames)("a rule without a tool in %s", (dialect) => {
  let opened: Awaited<ReturnType<typeof open>>
  beforeAll(async () => {
    opened = await open(dialect, [
      { id: "reads", decision: "deny", touches: { reads: "**/.env" } },
      { id: "writes", decision: "deny", touches: { writes: "**/.env" } }
    ])
  })
  afterAll(() => opened.close())

  it.each(ways[dialect])("holds for %s %j", async (tool, args) => {
    const { host, workspace } = opened
    const reply = await host.call(tool, args)
    expect(reply.error?.code).toBe("approval_denied")
    expect(JSON.stringify(reply.wire)).not.toContain("s3cret")
    expect(workspace.read("d/.env")).toBe("KEY=s3cret\n")
    expect(readdirSync(workspace.root).toSorted()).toEqual(["a.txt", "d", "hooked", "link"])
  })

  it("is tried on every tool that touches files", () => {
    const tried = new Set([...others, ...ways[dialect].map(([tool]) => tool)])
    expect(opened.host.tools.map(({ name }) => name).filter((name) => !tried.has(name))).toEqual([])
  })

  it.each(readingDialects.filter(([name]) => name === dialect))(
    "leaves other files alone",
    async (_, tool, parameter) => {
      expect((await opened.host.call(tool, { [parameter]: dialect === "codex" ? "d/b.png" : "d/b.txt" })).ok).toBe(true)
    }
  )
})

const runsCommands =
  /^(?:Bash|bash|shell|start_process|run|run_command|run_code|run_in_terminal|open_terminal|exec_command|run_shell_command)$/

describe.each(dialectNames)("a secret file in %s", (dialect) => {
  it.each(ways[dialect].filter(([tool]) => !runsCommands.test(tool)))(
    "keeps its content from %s %j",
    async (tool, args) => {
      const { host, workspace, close } = await open(dialect, [])
      const reply = await host.call(tool, args)
      expect(JSON.stringify(reply.wire)).not.toContain("s3cret")
      expect(JSON.stringify((await host.call("undo", {})).wire)).not.toContain("s3cret")
      const entries = readdirSync(workspace.root, { recursive: true, withFileTypes: true })
      const files = entries.filter((entry) => entry.isFile()).map(({ name, parentPath }) => join(parentPath, name))
      const holders = files.filter((path) => readFileSync(path, "utf8").includes("s3cret"))
      expect(holders.filter((path) => !path.endsWith("/.env"))).toEqual([])
      await close()
    }
  )
})

it("a rule that denies a file asks about commands that do not name it, and denies those that do", async () => {
  const { host, close } = await open("haft", [
    { id: "no", decision: "deny", touches: { reads: ["**/.env", "d/**"] } },
    { id: "yes", decision: "allow", touches: { runs: "cat **" } }
  ])
  const decisionOn = async (args: object) => (await host.preview("run_command", args)).verdict.decision
  for (const args of [{ command: "cat a.txt" }, { command: "make", cwd: "hooked" }]) {
    expect(await decisionOn(args)).toBe("ask")
  }
  const naming = [{ command: "cat hooked/.env" }, { command: "cat .env", cwd: "hooked" }, { command: "make", cwd: "d" }]
  for (const args of naming) expect(await decisionOn(args)).toBe("deny")
  expect(await decisionOn({ command: "grep -r KEY ." })).toBe("deny")
  await close()
})

it("a rule without a tool holds for undo", async () => {
  const { host, workspace, close } = await open("haft", [])
  expect((await host.call("write_file", { path: "d/b.txt", content: "new" })).ok).toBe(true)
  const store = await openRules({ root: workspace.root, state: workspace.state })
  await store.add({ id: "no", decision: "deny", touches: { writes: "**/b.txt" } })
  expect((await host.call("undo", {})).error?.code).toBe("approval_denied")
  expect(workspace.read("d/b.txt")).toBe("new")
  await close()
})

describe("a rule for an operation", () => {
  it.each(readingDialects)("holds in %s", async (dialect, tool, parameter) => {
    const { host, close } = await open(dialect, [{ id: "no", operation: "read-file", decision: "deny" }])
    expect((await host.call(tool, { [parameter]: "a.txt" })).error?.code).toBe("approval_denied")
    const [otherTool, args] = ways[dialect].find(([, { path }]) => path === "d") ?? ["list_files", { root: "d" }]
    expect((await host.call(otherTool, args)).error?.code).not.toBe("approval_denied")
    await close()
  })
})

it("a POST of approvalgate to an allowed host runs unasked, as its contract says, unless a rule asks", async () => {
  const workspace = temporaryWorkspace()
  const config: HaftConfig = {
    root: workspace.root,
    state: workspace.state,
    dialect: "approvalgate",
    packages: { web: { allowedHosts: ["docs.example"] } }
  }
  const host = await openHost(standardHost(config))
  const decisionOn = async (method: string) =>
    (await host.preview("web_fetch", { url: "https://docs.example/", method })).verdict.decision
  expect([await decisionOn("GET"), await decisionOn("POST")]).toEqual(["allow", "allow"])
  const rule = { operation: "fetch-url", decision: "ask", fields: { method: { equals: "POST" } } }
  await (await openRules(config)).add({ id: "posts", ...rule })
  expect([await decisionOn("GET"), await decisionOn("POST")]).toEqual(["allow", "ask"])
  await host.dispose()
  workspace.remove()
})

describe("protected files", () => {
  const changes: ReadonlyArray<readonly [DialectName, ...Call]> = [
    ["agentbench", "apply_patch", { unified_diff: "--- /dev/null\n+++ b/.envrc\n@@ -0,0 +1 @@\n+x\n" }],
    ["approvalgate", "move_file", { from: "hooked", to: "x" }],
    ["approvalgate", "delete_file", { path: "hooked", recursive: true }],
    ["haft", "move_path", { from: "hooked", to: "x" }],
    ["haft", "copy_path", { from: "hooked", to: "x" }],
    ["haft", "write_file", { path: "new/.vscode/tasks.json", content: "x" }]
  ]
  it.each(changes)("are asked about in %s: %s %j", async (dialect, tool, args) => {
    const workspace = temporaryWorkspace({ "hooked/.git/config": "x\n" })
    const config = { root: workspace.root, state: workspace.state, sandbox: "none", dialect } as const
    await (await openRules(config)).add({ id: "all", touches: { writes: "**" } })
    const host = await openHost(standardHost(config))
    const reply = await host.call(tool, args)
    expect(reply.error).toMatchObject({ code: "approval_denied", details: { by: "nobody" } })
    expect(readdirSync(workspace.root)).toEqual(["hooked"])
    await host.dispose()
    workspace.remove()
  })
})
