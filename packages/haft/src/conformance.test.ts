import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

import { expect, it } from "@effect/vitest"
import type { Plugin } from "@haft/core"
import { execTools } from "@haft/exec-tools"
import { fsTools } from "@haft/fs-tools"
import { gitTools } from "@haft/git-tools"
import { projectTools } from "@haft/project-tools"
import { ptyTools } from "@haft/pty-tools"
import { searchTools } from "@haft/search-tools"
import { webTools } from "@haft/web-tools"

import type { StandardServices } from "./config/config.ts"
import { type ExampleCall, type PluginTest, testPlugin } from "./testing.ts"

const call = (tool: string, args: Readonly<Record<string, unknown>>): ExampleCall => ({ tool, args, dialect: "haft" })

const files = { "a.txt": "one\ntwo\n", "sub/b.txt": "two\n" }
// The least that git takes for a repository.
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

const subjects: ReadonlyArray<{ readonly plugin: Plugin<StandardServices> } & PluginTest> = [
  {
    plugin: fsTools,
    calls: [
      call("list_dir", { path: "." }),
      call("read_file", { path: "a.txt" }),
      call("write_file", { path: "new/c.txt", content: "three\n" }),
      call("delete_path", { path: "a.txt" }),
      call("file_info", { path: "a.txt" }),
      call("copy_path", { from: "a.txt", to: "new/c.txt" }),
      call("move_path", { from: "a.txt", to: "c.txt" }),
      call("create_directory", { path: "made" })
    ]
  },
  {
    plugin: searchTools,
    calls: [call("find_files", { pattern: "*.txt" }), call("search_text", { query: "two" })]
  },
  { plugin: execTools, calls: [call("run_command", { command: "true" })] },
  { plugin: ptyTools, calls: [call("open_terminal", { command: "true" }), call("list_terminals", {})] },
  {
    plugin: gitTools,
    files: repository,
    calls: [call("git_status", {}), call("git_add", { paths: ["a.txt"] })]
  },
  // Only this call has a project: in one, install_package would look for its made-up package on the network.
  { plugin: projectTools, calls: [{ ...call("run_tests", {}), files: project }] }
]

it.each(subjects)("$plugin.name conforms", { timeout: 240_000 }, async ({ plugin, ...test }) => {
  const report = await testPlugin(plugin, { files, dialects: ["haft"], sandbox: "none", ...test })
  expect(report.problems).toEqual([])
})

it("@haft/web-tools conforms", { timeout: 240_000 }, async () => {
  const site = createServer((_, response) => response.end("hello"))
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve))
  const address = `127.0.0.1:${(site.address() as AddressInfo).port}`
  const report = await testPlugin(webTools, {
    config: { privateHosts: [address], allowedHosts: ["127.0.0.1"] },
    calls: [call("fetch_url", { url: `http://${address}/` })],
    dialects: ["haft"],
    sandbox: "none"
  })
  site.closeAllConnections()
  site.close()
  expect(report.problems).toEqual([])
})
