import { spawnSync } from "node:child_process"
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { defineConfig, GateResponse, Rule } from "haft/internal"
import { openHost } from "haft/promise"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

const root = join(import.meta.dirname, "..")

// Commands in the docs that are not run here, and why.
const elsewhere: ReadonlyArray<readonly [line: RegExp, reason: string]> = [
  [/^npm start +$|^npm start$/, "it serves until somebody ends it; the server's tests do it"],
  [/^haft serve/, "it serves until somebody ends it; the command's tests do it"],
  [/^npm test$/, "this is part of it"],
  [/^npm run (?:bench|robustness)/, "a job of its own"],
  [/^npm run exec -- node .*examples\//, "every example is run as such"],
  [/^npm run exec -- node .*bench\//, "a job of its own"],
  [/^(?:claude|codex|gemini|copilot) /, "another project's program"],
  [/^curl .*127\.0\.0\.1:471[12]/, "it needs a server; the server's tests make the same request"],
  [/^docker run .* postgres:/, "it needs an image; the tests of clusters start PostgreSQL themselves"],
  [/^haft cluster /, "it needs a cluster; the tests of the command do it"],
  [/^cd haft-plugin-words && npm install|^npm pack$/, "it needs a registry; the rehearsal of a release does it"],
  [/^npm install (?:haft|~\/haft\/packs)|^npx haft mcp$/, "it needs a registry; the rehearsal of a release does it"],
  [/\$(?:API|NPM)_TOKEN/, "it needs a host with a credential; the tests of the broker do it"],
  [/^haft undo --since /, "it needs a change to take back; the tests of undo do it"],
  [/^haft quarantine (?:restore|remove) /, "it needs a file that was moved aside; the tests of the program do it"],
  [/^haft branch (?:run|merge) /, "it needs a program to run, and a person; the tests of branches do it"],
  [/^npm run pack$/, "it builds everything; the rehearsal of a release does it"]
]

const pages = [
  "*.md",
  "docs/guides/*.md",
  "packages/*/README.md",
  "apps/*/README.md",
  "examples/README.md",
  "bench/*.md"
]
  .flatMap((pattern) => globSync(pattern, { cwd: root }))
  .toSorted()

const blocksOf = (language: string) =>
  pages.flatMap((page) => {
    const blocks = readFileSync(join(root, page), "utf8").matchAll(/^```(\w+)[^\n]*\n([\s\S]*?)^```$/gm)
    return [...blocks].filter(([, its]) => its === language).map(([, , code = ""], at) => ({ page, at, code }))
  })

/** The commands of a code block, with continued lines joined and comments removed. */
const commandsOf = (code: string): ReadonlyArray<string> =>
  code
    .replaceAll("\\\n", " ")
    .split("\n")
    .map((line) => line.replace(/(^|\s)#.*$/, "").trim())
    .filter((line) => line !== "")

const isElsewhere = (line: string): boolean => elsewhere.some(([pattern]) => pattern.test(line))

let home = ""
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "haft-doc-commands-"))
  mkdirSync(join(home, "workspace/src"), { recursive: true })
  writeFileSync(join(home, "workspace/src/index.ts"), "export const greet = (name: string) => `Hello, ${name}`\n")
  writeFileSync(join(home, "workspace/README.md"), "# A project\n")
  const cell = { cell_type: "code", execution_count: null, metadata: {}, outputs: [], source: [] }
  const notebook = { cells: [cell, cell, cell, cell], metadata: {}, nbformat: 4, nbformat_minor: 4 }
  writeFileSync(join(home, "workspace/analysis.ipynb"), JSON.stringify(notebook))
  mkdirSync(join(home, "project"))
})
afterAll(() => rmSync(home, { recursive: true }))

const bin = join(root, "apps/cli/src/bin.ts")
// The docs write `haft`, or `npm start --` in a checkout; both run the sources here.
const functions = `haft() { "${process.execPath}" --conditions=@haft/source "${bin}" "$@"; }
npm() { test "$1 $2" = "start --" || return 99; shift 2; haft "$@"; }`

const run = (line: string) => {
  const env = { ...process.env, HOME: home, XDG_STATE_HOME: join(home, "state"), XDG_CONFIG_HOME: join(home, "config") }
  // These need a person's approval, and here is nobody to ask.
  const asked = line.replace(/^haft call (?:run_command|edit_notebook) .*/, "$& --dry-run")
  return spawnSync("sh", ["-c", `${functions}\n${asked}`], { cwd: join(home, "workspace"), env, encoding: "utf8" })
}

describe("commands of the docs", () => {
  const lines = blocksOf("sh").flatMap(({ page, code }) => commandsOf(code).map((line) => ({ page, line })))

  // A command that several pages show is run once.
  const isFirst = ({ line }: { readonly line: string }, at: number): boolean =>
    lines.findIndex((other) => other.line === line) === at

  it.each(lines.filter(isFirst).filter(({ line }) => !isElsewhere(line)))("runs on $page: $line", ({ line }) => {
    const { status, stdout, stderr } = run(line)
    // `haft doctor` ends with 1 if something is missing on the machine.
    const fine = /\bdoctor$/.test(line) ? [0, 1] : [0]
    expect(fine, `${stdout}${stderr}`).toContain(status)
  })

  it("leaves out only what it says it leaves out", () => {
    const unused = elsewhere.filter(([pattern]) => !lines.some(({ line }) => pattern.test(line)))
    expect(unused).toEqual([])
  })
})

describe("JSON of the docs", () => {
  const openedWith = async (config: never): Promise<void> => {
    const places = { root: join(home, "workspace"), state: join(home, "config-state") }
    await using host = await openHost({ ...defineConfig(config), ...places })
    expect(host.skipped).toEqual([])
  }

  type Servers = Readonly<Record<string, { readonly command: string; readonly args: ReadonlyArray<string> }>>

  const expectServers = (servers: Servers): void => {
    for (const { command, args } of Object.values(servers)) {
      // npx finds the haft that is installed; here that is the one on PATH.
      const line = [command, ...args, "--help"].join(" ").replace("${workspaceFolder}", ".").replace(/^npx /, "")
      expect(run(line)).toMatchObject({ status: 0 })
    }
  }

  const readers: Readonly<Record<string, (json: never) => unknown>> = {
    network: (config) => openedWith(config),
    packages: (config) => openedWith(config),
    secretPaths: (config) => openedWith(config),
    redactReplies: (config) => openedWith(config),
    artifacts: (config) => openedWith(config),
    server: (config) => openedWith(config),
    tool: (rule) => Rule.parse(rule),
    approved: (answer) => GateResponse.parse(answer),
    plugins: (config) => openedWith(config),
    profile: (config) => openedWith(config),
    mcpServers: ({ mcpServers }: { readonly mcpServers: Servers }) => expectServers(mcpServers),
    mcp: ({ mcp }: { readonly mcp: Record<string, { command: ReadonlyArray<string> }> }) => {
      for (const { command } of Object.values(mcp))
        expect(run([...command, "--help"].join(" "))).toMatchObject({ status: 0 })
    },
    servers: ({ servers }: { readonly servers: Servers }) => expectServers(servers)
  }

  it.each(blocksOf("json"))("holds on $page: $code", async ({ code }) => {
    const json = JSON.parse(code) as Readonly<Record<string, unknown>>
    const reader = Object.keys(readers).find((key) => key in json)
    expect(reader, "no reader for JSON of this kind").toBeDefined()
    await readers[reader ?? ""]?.(json as never)
  })
})

it("shows code in no language that is not run", () => {
  const languages = pages.flatMap((page) =>
    [...readFileSync(join(root, page), "utf8").matchAll(/^```(\w*)[^\n]*\n[\s\S]*?^```$/gm)].map(
      ([, language]) => language
    )
  )
  expect(new Set(languages)).toEqual(new Set(["", "json", "sh", "ts"]))
})
