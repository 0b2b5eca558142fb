import { execFileSync } from "node:child_process"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { parseArgs } from "node:util"

import { type ApprovalMode, type HaftConfig, openWorkspace, readRun } from "haft/internal"

// Counts the questions that a realistic session of an agent raises, by mode: npm run exec -- node
// --conditions=@haft/source scripts/approval-session.ts --mode accept-edits

type Call = readonly [tool: string, args: Readonly<Record<string, unknown>>]

const read = (path: string, end?: number): Call => [
  "read_file",
  { path, ...(end !== undefined && { start_line: 1, end_line: end }) }
]
const list = (path: string): Call => ["list_dir", { path }]
const search = (query: string): Call => ["search_text", { query }]
const run = (command: string): Call => ["run_command", { command }]
const fetchPage = (url: string): Call => ["fetch_url", { url }]
const write = (path: string, content: string): Call => ["write_file", { path, content }]
const edit = (path: string, find: string, replace: string): Call => ["edit_file", { path, edits: [{ find, replace }] }]
const raise = (path: string, name: string, from: number): Call =>
  edit(path, `${name} = ${from}`, `${name} = ${from + 1}`)

const patch = `--- a/src/cart.js
+++ b/src/cart.js
@@ -2 +2 @@
-const b = 2
+const b = 20
--- a/src/order.js
+++ b/src/order.js
@@ -2 +2 @@
-const b = 2
+const b = 20
`

/** 58 calls on a small project: 16 read, 19 change files, 20 run commands, 3 fetch pages. */
export const sessionCalls = ({ docs, registry }: { readonly docs: string; readonly registry: string }) =>
  [
    list("."),
    read("README.md"),
    read("package.json"),
    list("src"),
    search("const"),
    read("src/cart.js", 60),
    read("test/cart.test.js"),
    run("git status"),
    run("npm test"),
    search("b = 2"),
    read("src/order.js", 60),
    raise("src/cart.js", "a", 1),
    raise("src/cart.js", "a", 2),
    run("npm test"),
    raise("src/cart.js", "a", 3),
    raise("src/cart.js", "a", 4),
    run("npm test"),
    raise("src/cart.js", "a", 5),
    raise("src/cart.js", "a", 6),
    run("npm test"),
    read("src/cart.js", 40),
    run("git status && git diff"),
    fetchPage(`${docs}/one`),
    fetchPage(`${docs}/two`),
    write("src/discount.js", "const a = 1\n"),
    write("test/discount.test.js", "const a = 1\n"),
    run("node --test test/discount.test.js"),
    ...[1, 2, 3, 4, 5].map((from) => raise("src/order.js", "a", from)),
    run("npm test"),
    run("npm test 2>&1 | tail -20"),
    read("src/order.js", 20),
    search("discount"),
    ["find_files", { pattern: "**/*.test.js" }],
    ["apply_patch", { patch }],
    run("npm test"),
    ["move_path", { from: "notes.txt", to: "docs/notes.txt" }],
    run("ls -la src"),
    ["delete_path", { path: "scratch.txt" }],
    write("generated.txt", "new\n"),
    raise("src/discount.js", "a", 1),
    run("npm test"),
    run("rm -rf dist && npm run build"),
    run("git status && git diff"),
    run("git commit -am 'Discounts'"),
    fetchPage(`${registry}/package`),
    read("src/discount.js"),
    edit("package.json", "0.0.1", "0.0.2"),
    run("npm test"),
    run("git log --oneline -5"),
    run("git diff --stat"),
    run("git show --stat"),
    run("cat package.json | head -5"),
    read("package.json"),
    search("discount")
  ] satisfies ReadonlyArray<Call>

/** Calls that must be asked about, or refused, in every mode. */
export const dangerousCalls: ReadonlyArray<Call> = [
  write(".vscode/settings.json", "{}"),
  fetchPage("https://unknown.example/"),
  ["delete_path", { path: "many", recursive: true }]
]

const files: Readonly<Record<string, string>> = {
  "README.md": "# Shop\n",
  "package.json": '{ "version": "0.0.1", "scripts": { "test": "true", "build": "true" } }\n',
  "src/cart.js": "const a = 1\nconst b = 2\n",
  "src/order.js": "const a = 1\nconst b = 2\n",
  "test/cart.test.js": "const a = 1\n",
  "notes.txt": "notes\n",
  "scratch.txt": "scratch\n",
  "generated.txt": "old\n",
  ".vscode/settings.json": "{ }\n",
  ...Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`many/${index}.txt`, "x\n"]))
}

/** The offer that the session's approver chooses to remember: commands like this one, the host, or else the files. */
const preferred = ["command-prefix", "command", "host", "files"]

export interface SessionOutcome {
  /** The questions of the session, in words. */
  readonly questions: ReadonlyArray<string>
  /** Tools of dangerous calls that ran although nobody was asked. */
  readonly unasked: ReadonlyArray<string>
  readonly calls: number
  readonly isSandboxed: boolean
}

/** Plays the session in a temporary workspace, with an approver who says yes and remembers what is offered. */
export const playSession = async (
  mode: ApprovalMode,
  { remembers = true, ...settings }: Pick<HaftConfig, "sandbox"> & { readonly remembers?: boolean } = {}
): Promise<SessionOutcome> => {
  const directory = await mkdtemp(join(tmpdir(), "haft-session-"))
  const [docs, registry] = [await serveText(), await serveText()]
  try {
    const root = join(directory, "shop")
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(root, path)), { recursive: true })
      await writeFile(join(root, path), content)
    }
    const git = (...args: ReadonlyArray<string>) => execFileSync("git", args, { cwd: root })
    git("init", "--quiet")
    git("config", "user.name", "session")
    git("config", "user.email", "session@shop.example")
    git("add", "--all")
    git("commit", "--quiet", "--message", "Begin")
    const privateHosts = [docs.host, registry.host]
    const config: HaftConfig = {
      root,
      state: join(directory, "state"),
      mode,
      packages: { web: { privateHosts } },
      ...settings
    }
    const workspace = await openWorkspace(config)
    const questions: Array<string> = []
    let isRefusing = false
    workspace.approvals.subscribe((change) => {
      if (change.type !== "opened") return
      const { id, reason, offers, description } = change.request
      questions.push(`${reason}: ${description.command ?? description.url ?? description.filesAffected.join(", ")}`)
      const offer = preferred.find((name) => offers.some((one) => one.id === name))
      const remember = remembers && offer !== undefined ? { remember: { offer, scope: "run" } as const } : {}
      workspace.approvals.answer(id, isRefusing ? { approved: false } : { approved: true, ...remember })
    })
    const host = await workspace.host()
    const calls = sessionCalls({ docs: docs.url, registry: registry.url })
    for (const [tool, args] of calls) await host.call(tool, args)
    const ofSession = [...questions]
    isRefusing = true
    const unasked: Array<string> = []
    for (const [tool, args] of dangerousCalls) if ((await host.call(tool, args)).ok) unasked.push(tool)
    await workspace.dispose()
    const events = await readRun({ root, state: join(directory, "state") })
    const isSandboxed = events.some(({ type, isolated }) => type === "sandbox_chosen" && isolated === true)
    return { questions: ofSession, unasked, calls: calls.length, isSandboxed }
  } finally {
    docs.close()
    registry.close()
    await rm(directory, { recursive: true, force: true })
  }
}

const serveText = async () => {
  const server = createServer((_request, response) => response.end("text\n"))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return { host, url: `http://${host}`, close: () => server.close() }
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { mode: { type: "string", default: "accept-edits" } } })
  const { questions, unasked, calls, isSandboxed } = await playSession(values.mode as ApprovalMode)
  console.log(
    `${calls} calls in mode ${values.mode}, ${isSandboxed ? "in" : "without"} a sandbox: ${questions.length} questions`
  )
  for (const question of questions) console.log(`  ${question}`)
  if (unasked.length > 0) throw new Error(`ran without a question: ${unasked.join(", ")}`)
}
