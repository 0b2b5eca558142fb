import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"

import { expect, it } from "@effect/vitest"
import { execTools } from "@haft/exec-tools"
import { fsTools } from "@haft/fs-tools"
import { gitTools } from "@haft/git-tools"
import { projectTools } from "@haft/project-tools"
import { ptyTools } from "@haft/pty-tools"
import { searchTools } from "@haft/search-tools"
import { loadCases, temporaryWorkspace } from "@haft/testing"
import { webTools } from "@haft/web-tools"

import type { StandardServices } from "./config.ts"
import { dialectNames } from "./dialects.ts"
import { openHost } from "./promise.ts"
import { type ExampleCall, type PluginTest, testPlugin } from "./testing.ts"

const call = (tool: string, args: Readonly<Record<string, unknown>>): ExampleCall => ({ tool, args, dialect: "haft" })

const files = { "a.txt": "one\ntwo\n", "sub/b.txt": "two\n" }
// As little as git takes for a repository.
const repository = {
  "a.txt": "one\n",
  ".git/HEAD": "ref: refs/heads/main\n",
  ".git/config": "[core]\n\trepositoryformatversion = 0\n[user]\n\tname = kit\n\temail = kit@example.org\n",
  ".git/objects": { directory: true },
  ".git/refs": { directory: true }
} as const
const project = {
  "package.json": JSON.stringify({ type: "module", scripts: { test: "node --test" } }),
  "a.test.js": "import test from 'node:test'\ntest('passes', () => {})\n"
}

const opensTerminals = ["exec_command", "open_terminal"]
// Contracts that hand out whole files: up to 10 MB, and as large as a host can bear.
const handOut: Readonly<Record<string, number>> = {
  cliagent: 15_000_000,
  approvalgate: 100_000_000,
  filetools: 100_000_000
}

const subjects: ReadonlyArray<{ readonly plugin: Parameters<typeof testPlugin>[0] } & PluginTest> = [
  {
    plugin: fsTools as never,
    calls: [
      call("list_dir", { path: "." }),
      call("read_file", { path: "a.txt" }),
      call("write_file", { path: "new/c.txt", content: "three\n" }),
      call("delete_path", { path: "a.txt" }),
      call("move_path", { from: "a.txt", to: "c.txt" }),
      call("create_directory", { path: "made" })
    ]
  },
  {
    plugin: searchTools as never,
    calls: [call("find_files", { pattern: "*.txt" }), call("search_text", { query: "two" })]
  },
  { plugin: execTools as never, calls: [call("run_command", { command: "true" })] },
  { plugin: ptyTools as never, calls: [call("open_terminal", { command: "true" }), call("list_terminals", {})] },
  {
    plugin: gitTools as never,
    files: repository,
    calls: [call("git_status", {}), call("git_add", { paths: ["a.txt"] })]
  },
  // Only this call has a project: with one, a made-up package would be asked for on the network.
  { plugin: projectTools as never, calls: [{ ...call("run_tests", {}), files: project }] }
]

it.each(subjects)("$plugin.name conforms", { timeout: 240_000 }, async ({ plugin, ...test }) => {
  const report = await testPlugin(plugin as never, { files, dialects: ["haft"], sandbox: "none", ...test })
  expect(report.problems).toEqual([])
})

it("@haft/web-tools conforms", { timeout: 240_000 }, async () => {
  const site = createServer((_, response) => response.end("hello"))
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve))
  const address = `127.0.0.1:${(site.address() as AddressInfo).port}`
  const report = await testPlugin(webTools as never, {
    config: { privateHosts: [address], allowedHosts: ["127.0.0.1"] },
    calls: [call("fetch_url", { url: `http://${address}/` })],
    dialects: ["haft"],
    sandbox: "none"
  })
  site.closeAllConnections()
  site.close()
  expect(report.problems).toEqual([])
})

// With the calls that the contracts themselves give.
const others = dialectNames.filter((name) => name !== "haft")
it.each(others)("all tools of %s conform", { timeout: 240_000 }, async (dialect) => {
  const calls = await callsThatSucceed(dialect)
  const problems: Array<unknown> = []
  for (const plugin of [fsTools, searchTools, execTools, ptyTools]) {
    const own = calls.filter(({ tool }) => plugin.tools.some(({ name }) => name === tool))
    const report = await testPlugin<StandardServices>(plugin as never, {
      calls: own,
      dialects: [dialect],
      sandbox: "none",
      mostCharacters: handOut[dialect] ?? 4_000_000
    })
    problems.push(...report.problems)
  }
  expect(problems).toEqual([])
})

/** For each tool of a dialect, the first of the contract's cases that ends well. */
const callsThatSucceed = async (dialect: (typeof dialectNames)[number]): Promise<ReadonlyArray<ExampleCall>> => {
  const found = new Map<string, ExampleCall>()
  for (const { tool, params, workspace: fixtures, before } of loadCases(
    join(import.meta.dirname, "../../../contracts"),
    dialect
  )) {
    if (found.has(tool) || before.length > 0) continue
    using workspace = temporaryWorkspace(fixtures)
    const { root, state } = workspace
    await using host = await openHost({ root, state, dialect, approval: "all", sandbox: "none" })
    const reply = await host.call(tool, params)
    const args = params as Readonly<Record<string, unknown>>
    if (reply.ok) found.set(tool, { tool, dialect, args, files: fixtures, lasts: opensTerminals.includes(tool) })
  }
  return [...found.values()]
}
