import { deepEqual, equal, match, ok } from "node:assert/strict"
import { spawn } from "node:child_process"
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

import { Host, memoryArtifacts, memoryJournal, reasonOf, use } from "@haft/core"
import { openHost, type OpenHost } from "@haft/core/promise"
import { haft } from "@haft/dialects"
import { execTools } from "@haft/exec-tools"
import { fsTools } from "@haft/fs-tools"
import { gitTools } from "@haft/git-tools"
import { nodeProcesses, nodeWorkspace, noSandbox } from "@haft/node"
import { searchTools } from "@haft/search-tools"
import { scriptedApprover } from "@haft/testing"
import * as Layer from "effect/Layer"
import { openRules, openWorkspace } from "haft/internal"

/** Checks on Windows what contract cases can't: `checks DIRECTORY`, with the programs that `.ci/windows` compiles. */
const [programs = ""] = process.argv.slice(2)

const base = mkdtempSync(join(tmpdir(), "haft-checks-"))
let count = 0
const makeRoot = (files: Readonly<Record<string, string>>): string => {
  const root = join(base, `Root${++count}`)
  mkdirSync(root)
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  return root
}

/** A host whose every question is answered with yes. */
const open = (root: string): Promise<OpenHost> =>
  openHost(
    Host.layer({ dialect: haft, plugins: [use(fsTools), use(searchTools), use(execTools), use(gitTools)] }).pipe(
      Layer.provide(
        Layer.mergeAll(
          nodeWorkspace({ root, state: `${root}.state`, durable: false }),
          nodeProcesses,
          noSandbox(),
          memoryJournal(),
          memoryArtifacts(),
          scriptedApprover(() => ({ approved: true })).layer
        )
      )
    )
  )

interface Wire {
  readonly ok: boolean
  readonly result: Readonly<Record<string, unknown>>
  readonly error: { readonly code: string; readonly message: string; readonly retryable: boolean }
}

const call = async (host: Pick<OpenHost, "call">, tool: string, params: object): Promise<Wire> =>
  (await host.call(tool, params)).wire as Wire

const codeOf = async (host: Pick<OpenHost, "call">, tool: string, params: object): Promise<string> => {
  const wire = await call(host, tool, params)
  return wire.ok ? "ok" : wire.error.code
}

const plant = (root: string): void => {
  for (const name of ["git", "sh", "bash", "powershell", "pwsh", "taskkill", "rg"]) {
    copyFileSync(join(programs, "planted.exe"), join(root, `${name}.exe`))
    writeFileSync(join(root, `${name}.bat`), "echo x > planted-ran\r\n")
  }
}

/** Lets another program hold a file open; returns what ends that. */
const hold = async (file: string, { shared }: { readonly shared: boolean }): Promise<() => Promise<unknown>> => {
  const holder = spawn(join(programs, "hold.exe"), [file, "90000", shared ? "1" : "0"])
  const ended = new Promise((resolve) => holder.once("exit", resolve))
  await new Promise((resolve) => holder.stdout.once("data", resolve))
  return () => {
    holder.kill()
    return ended
  }
}

const git = join(process.env["ProgramFiles"] ?? "", "Git", "bin")

const checks: Readonly<Record<string, () => Promise<void>>> = {
  "a program in the workspace is never started by its name": async () => {
    const root = makeRoot({ "a.txt": "a" })
    plant(root)
    process.chdir(root)
    await using host = await open(root)
    equal(await codeOf(host, "git_status", {}), "command_not_found")
    await call(host, "run_command", { command: "git status", timeout_ms: 20_000 })
    await call(host, "run_code", { language: "bash", code: "true", timeout_ms: 20_000 })
    process.chdir(base)
    ok(!existsSync(join(root, "planted-ran")), "a planted program ran")
  },
  "commands run in Git's bash where it is installed": async () => {
    mkdirSync(git, { recursive: true })
    for (const name of ["sh", "bash"]) copyFileSync(join(programs, "bash.exe"), join(git, `${name}.exe`))
    await using host = await open(makeRoot({}))
    const { result } = await call(host, "run_command", { command: "one 'two'\nthree", timeout_ms: 20_000 })
    rmSync(dirname(git), { recursive: true })
    equal(String(result["stdout"]).replaceAll("\r", ""), "one 'two'\nthree\n")
  },
  "a persistent shell is refused with the reason": async () => {
    await using host = await open(makeRoot({}))
    const { error } = await call(host, "shell", { command: "true" })
    match(error.message, /Windows/)
  },
  "deny rules hold for every spelling of a path": async () => {
    const root = makeRoot({ "secret/k.txt": "k", "LongDirectoryName/k.txt": "k", ".git/config": "" })
    const config = { root, state: `${root}.state` }
    const rules = await openRules(config)
    await rules.add({ id: "s", decision: "deny", touches: { reads: "secret/**" } })
    await rules.add({ id: "l", decision: "deny", touches: { reads: "LongDirectoryName/**" } })
    await rules.add({ id: "w", touches: { writes: "**" } })
    const workspace = await openWorkspace(config)
    workspace.approvals.subscribe((change) => {
      if (change.type === "opened") workspace.approvals.answer(change.request.id, { approved: false })
    })
    const host = await workspace.host()
    const short = shortNames(root)
    const spellings = [
      "secret/k.txt",
      String.raw`secret\k.txt`,
      "SECRET/k.txt",
      "Secret/K.TXT",
      "longdirectoryname/K.txt"
    ]
    for (const path of [...spellings, ...short.flatMap((name) => [`${name}/k.txt`, `${name}/config`])]) {
      const code = await codeOf(host, "read_file", { path })
      ok(["approval_denied", "file_not_found"].includes(code) || path.endsWith("/config"), `${path}: ${code}`)
    }
    for (const name of [".git", ".GIT", "git~1", ...short]) {
      await call(host, "write_file", { path: `${name}/hooks/pre-commit`, content: "x" })
    }
    await workspace.dispose()
    ok(!existsSync(join(root, ".git", "hooks")), "a hook was written unasked")
  },
  "hostile names never leave the workspace, and special ones are refused by their own error": async () => {
    const root = makeRoot({ "a.txt": "a" })
    writeFileSync(join(base, "outside.txt"), "outside")
    await using host = await open(root)
    const outside = [
      "../outside.txt",
      String.raw`..\outside.txt`,
      String.raw`a\..\..\outside.txt`,
      join(base, "outside.txt"),
      "C:outside.txt",
      String.raw`C:\windows\win.ini`,
      "/windows/win.ini",
      String.raw`\\?\C:\windows\win.ini`,
      String.raw`\\.\pipe\x`,
      String.raw`\\localhost\c$\windows\win.ini`,
      "//server/share/x"
    ]
    const special = [
      "NUL",
      "nul .txt",
      "COM1",
      "COM¹",
      "CONIN$",
      "a.txt:s",
      "a.txt::$DATA",
      "a.txt.",
      "a.txt ",
      "x?y",
      "a\tb"
    ]
    for (const [names, code] of [
      [outside, "path_outside_workspace"],
      [special, "invalid_params"]
    ] as const) {
      for (const path of names) {
        equal(await codeOf(host, "read_file", { path }), code, `read ${path}`)
        equal(await codeOf(host, "write_file", { path, content: "x" }), code, `write ${path}`)
        equal(await codeOf(host, "move_path", { from: "a.txt", to: path }), code, `move ${path}`)
        equal(await codeOf(host, "delete_path", { path }), code, `delete ${path}`)
      }
    }
    deepEqual(readdirSync(root), ["a.txt"])
    equal(readFileSync(join(base, "outside.txt"), "utf8"), "outside")
  },
  "backslashes separate directories in globs and in the headers of patches": async () => {
    const root = makeRoot({ "dir/a.txt": "a\n", "dir/sub/b.txt": "b\n" })
    await using host = await open(root)
    for (const [pattern, found] of [
      [String.raw`dir\*.txt`, ["dir/a.txt"]],
      [String.raw`.\dir\**\*.txt`, ["dir/a.txt", "dir/sub/b.txt"]]
    ] as const) {
      const { result } = await call(host, "find_files", { pattern })
      deepEqual(result["files"], found, JSON.stringify(result))
    }
    const patch = String.raw`--- a\dir\a.txt
+++ b\dir\a.txt
@@ -1 +1 @@
-a
+c
`
    equal(await codeOf(host, "apply_patch", { patch }), "ok")
    equal(readFileSync(join(root, "dir/a.txt"), "utf8"), "c\n")
  },
  "a file that another program has open loses nothing, and is refused by a retryable error": async () => {
    const root = makeRoot({ "a.txt": "a", "b.txt": "b" })
    await using host = await open(root)
    const release = await hold(join(root, "a.txt"), { shared: true })
    setTimeout(() => void release(), 100)
    equal(await codeOf(host, "delete_path", { path: "a.txt" }), "ok")
    const releaseOther = await hold(join(root, "b.txt"), { shared: false })
    for (const [tool, params] of [
      ["read_file", { path: "b.txt" }],
      ["write_file", { path: "b.txt", content: "new", overwrite: true }],
      ["edit_file", { path: "b.txt", edits: [{ find: "b", replace: "c" }] }],
      ["delete_path", { path: "b.txt" }],
      ["move_path", { from: "b.txt", to: "c.txt" }]
    ] as const) {
      const { ok: isDone, error } = await call(host, tool, params)
      equal(isDone, false, tool)
      match(error.message, /another program has it open/, tool)
      equal(error.retryable, true, tool)
    }
    await releaseOther()
    equal(readFileSync(join(root, "b.txt"), "utf8"), "b")
    // Wine renames a file that lets others only read it. Windows does not: then the call is refused in the same words.
    const releaseShared = await hold(join(root, "b.txt"), { shared: true })
    const wire = await call(host, "write_file", { path: "b.txt", content: "new", overwrite: true })
    if (!wire.ok) match(wire.error.message, /another program has it open/)
    await releaseShared()
    equal(await codeOf(host, "delete_path", { path: "b.txt" }), "ok")
    deepEqual(readdirSync(root), [])
  },
  "renaming only the case works, and undo brings it back": async () => {
    const root = makeRoot({ "a.txt": "a", "dir/b": "b" })
    await using host = await open(root)
    equal(await codeOf(host, "move_path", { from: "a.txt", to: "A.txt" }), "ok")
    equal(await codeOf(host, "move_path", { from: "dir", to: "Dir" }), "ok")
    equal(await codeOf(host, "move_path", { from: "Dir", to: "DIR/sub" }), "invalid_params")
    deepEqual(readdirSync(root).toSorted(), ["A.txt", "Dir"])
    equal(await codeOf(host, "undo", {}), "ok")
    deepEqual(readdirSync(root).toSorted(), ["A.txt", "dir"])
  },
  "a closed workspace can be removed, and has one state in every spelling": async () => {
    const root = makeRoot({ "a.txt": "a" })
    const home = join(process.env["LOCALAPPDATA"] ?? "", "haft")
    const before = existsSync(home) ? readdirSync(home).length : 0
    for (const spelling of [root, root.toUpperCase(), root.toLowerCase()]) {
      const workspace = await openWorkspace({ root: spelling })
      await (await workspace.host()).call("read_file", { path: "a.txt" })
      await workspace.dispose()
    }
    equal(readdirSync(home).length, before + 1)
    rmSync(root, { recursive: true })
    ok(!existsSync(root))
  }
}

/** Short names (8.3) in a directory, as far as they can be guessed and lead somewhere. */
const shortNames = (root: string): ReadonlyArray<string> =>
  ["GIT~1", "LONGDI~1", "SECRET~1"].filter((name) => existsSync(join(root, name)))

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
process.exit(failures === 0 ? 0 : 1)
