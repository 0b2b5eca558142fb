import { join } from "node:path"

import { expect, it } from "@effect/vitest"
import type { Plugin } from "@haft/core"
import { anthropicTools } from "@haft/dialect-anthropic"
import { claudeCodeTools } from "@haft/dialect-claude-code"
import { codexTools } from "@haft/dialect-codex"
import { geminiCliTools } from "@haft/dialect-gemini-cli"
import { mcpFilesystemTools } from "@haft/dialect-mcp-filesystem"
import { openaiTools } from "@haft/dialect-openai"
import { execTools } from "@haft/exec-tools"
import { fsTools } from "@haft/fs-tools"
import { ptyTools } from "@haft/pty-tools"
import { searchTools } from "@haft/search-tools"
import { loadCases, temporaryWorkspace } from "@haft/testing"

import type { StandardServices } from "./config/config.ts"
import { dialectNames } from "./host/dialects.ts"
import { openHost } from "./promise.ts"
import { type ExampleCall, testPlugin } from "./testing.ts"

const opensTerminals = ["exec_command", "open_terminal"]
// Contracts whose replies hold whole files need more room: cliagent allows 10 MB, the others have no limit.
const mostCharacters: Readonly<Record<string, number>> = {
  cliagent: 15_000_000,
  approvalgate: 80_000_000,
  filetools: 80_000_000,
  "mcp-filesystem": 80_000_000,
  codex: 30_000_000
}

const plugins: ReadonlyArray<Plugin<StandardServices>> = [
  fsTools,
  searchTools,
  execTools,
  ptyTools,
  anthropicTools,
  claudeCodeTools,
  codexTools,
  geminiCliTools,
  mcpFilesystemTools,
  openaiTools
]

// The calls are taken from the cases of each contract.
const others = dialectNames.filter((name) => name !== "haft")
it.each(others)("all tools of %s conform", { timeout: 240_000 }, async (dialect) => {
  const calls = await callsThatSucceed(dialect)
  const problems: Array<unknown> = []
  for (const plugin of plugins) {
    const own = calls.filter(({ tool }) => plugin.tools.some(({ name }) => name === tool))
    const report = await testPlugin(plugin, {
      calls: own,
      dialects: [dialect],
      sandbox: "none",
      mostCharacters: mostCharacters[dialect] ?? 4_000_000
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
    const args = relativePaths(params) as Readonly<Record<string, unknown>>
    const reply = await host.call(tool, args)
    if (reply.ok) found.set(tool, { tool, dialect, args, files: fixtures, lasts: opensTerminals.includes(tool) })
  }
  return [...found.values()]
}

/** Arguments with paths that are right in every workspace. */
const relativePaths = (params: unknown): unknown =>
  JSON.parse(JSON.stringify(params).replaceAll("$ROOT/", "").replaceAll("$ROOT", "."))
