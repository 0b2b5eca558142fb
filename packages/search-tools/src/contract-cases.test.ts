import { join } from "node:path"

import { agentbench, cliagent, filetools, haft, toolrouter } from "@haft/dialects"
import { loadCases, playCase } from "@haft/testing"
import { describe, expect, it } from "vitest"

import { hostOf } from "../test/hosts.ts"

const contracts = join(import.meta.dirname, "../../../contracts")

describe.each([
  [haft, ["search_text", "find_files", "search_code", "outline", "find_symbol"]],
  [agentbench, ["search"]],
  [toolrouter, ["grep_files"]],
  [cliagent, ["grep_search", "file_search"]],
  [filetools, ["file.search"]]
] as const)("cases of $name", (dialect, tools) => {
  for (const tool of tools) {
    it.each(loadCases(contracts, dialect.name, [tool]))(`${tool}: $name`, async (contractCase) => {
      await expect(playCase(contractCase, (workspace) => hostOf(dialect, workspace))).resolves.toHaveProperty("wire")
    })
  }
})
