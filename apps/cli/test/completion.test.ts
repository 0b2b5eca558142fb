import { execFileSync, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { afterAll, beforeAll, expect, it } from "vitest"

import { bin } from "./haft.ts"

const home = mkdtempSync(join(tmpdir(), "haft-completion-"))
beforeAll(() => {
  mkdirSync(join(home, "work"))
  writeFileSync(join(home, "haft"), `#!/bin/sh\nexec "${process.execPath}" "${bin}" "$@"\n`, { mode: 0o755 })
})
afterAll(() => rmSync(home, { recursive: true }))

const run = (shell: string, ...args: ReadonlyArray<string>): string =>
  execFileSync(shell, args, {
    cwd: join(home, "work"),
    env: { ...process.env, HOME: home, PATH: `${home}:${process.env["PATH"]}`, XDG_STATE_HOME: join(home, "state") },
    encoding: "utf8"
  })

const has = (shell: string): boolean => spawnSync(shell, ["-c", "exit"]).status === 0

it("completes commands, tools and values of options in bash", () => {
  const complete = (words: string) =>
    `COMP_WORDS=(haft ${words}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _haft; echo "\${COMPREPLY[@]}"; `
  const script = `source <(haft completion bash); ${complete("ca")}${complete("call read_")}${complete("tools --format op")}`
  expect(run("bash", "-c", script)).toBe("call\nread_file read_files read_output\nopenai\n")
  const others = ["tools -d agen", "call -w /us", "call edit_file @/etc/host", "help doc"].map(complete).join("")
  const [dialect, directory, file, command] = run("bash", "-c", `source <(haft completion bash); ${others}`).split("\n")
  expect({ dialect, directory, command }).toEqual({ dialect: "agentbench", directory: "/usr", command: "doctor" })
  expect(file).toContain("@/etc/hosts")
})

it("completes parameters and the paths behind them in bash", () => {
  writeFileSync(join(home, "work", "notes.md"), "")
  const lines = [
    "call read_file pa",
    "call read_file path = no",
    "call read_file path =",
    "call read_file path=no",
    "call -d toolrouter read_file offset=1 li",
    "call read_file path = notes.md en"
  ]
  const complete = lines.map(
    (words) => `COMP_WORDS=(haft ${words}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _haft; echo "\${COMPREPLY[@]}"; `
  )
  const offered = run("bash", "-c", `source <(haft completion bash); ${complete.join("")}`)
  expect(offered.split("\n")).toEqual([
    "path=",
    "notes.md",
    "notes.md",
    "path=notes.md",
    "limit=",
    "end_line= encoding=",
    ""
  ])
})

it("completes in bash what options before it lead to, and values behind an equals sign", () => {
  const lines = [
    "-d agentbench call list_f",
    "call -w . -d agentbench list_f",
    "call read_file --dr",
    "tools --format = op",
    "tools --format=op",
    "-w . doc"
  ]
  const complete = lines.map(
    (words) => `COMP_WORDS=(haft ${words}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _haft; echo "\${COMPREPLY[@]}"; `
  )
  const offered = run("bash", "-c", `source <(haft completion bash); ${complete.join("")}`)
  expect(offered.split("\n")).toEqual([
    "list_files",
    "list_files",
    "--dry-run",
    "openai",
    "--format=openai",
    "doctor",
    ""
  ])
})

it.skipIf(!has("zsh"))("wakes zsh's completion up where nobody has (not on this platform)", () => {
  expect(run("zsh", "-fc", "source <(haft completion zsh); print $_comps[haft]")).toContain("_haft")
})

it.skipIf(!has("zsh"))("completes files behind an @ or an equals sign in zsh (not on this platform)", () => {
  // As zsh's bashcompinit calls the script: it also puts the word into PREFIX.
  const complete = ["call edit_file @/etc/host", "tools --config=/etc/host"].map(
    (words) =>
      `COMP_WORDS=(haft ${words}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); PREFIX="\${COMP_WORDS[COMP_CWORD]}"; ` +
      `_haft; echo "\${COMPREPLY[@]}"`
  )
  const script = `source <(haft completion zsh); emulate sh; ${complete.join("; ")}`
  const [named, option] = run("zsh", "-fc", script).split("\n")
  expect(named).toContain("@/etc/hosts")
  expect(option).toContain("--config=/etc/hosts")
})

it.skipIf(!has("fish"))("completes commands, tools and values of options in fish (not on this platform)", () => {
  const complete = ["ca", "call read_", "tools --format op"].map((words) => `complete -C "haft ${words}"; `).join("")
  const offered = run("fish", "-c", `haft completion fish | source; ${complete}`)
  expect(offered.split("\n").map((line) => line.split("\t")[0])).toEqual(["call", "read_file", "openai", ""])
  const more = ["log --st", "tools -d ag", "tools --workspace /us", "call -d agentbench list_f"]
    .map((words) => `complete -C "haft ${words}"; `)
    .join("")
  const names = run("fish", "-c", `haft completion fish | source; ${more}`)
    .split("\n")
    .map((line) => line.split("\t")[0])
  expect(names).toEqual(["--state", "--status", "agentbench", "/usr/", "list_files", ""])
})
