import type { DialectName, ToolDescription } from "haft/internal"

// A file for each dialect, written by `npm run docs` and checked in CI.
const lists = {
  haft: () => import("./tool-lists/haft.json", { with: { type: "json" } }),
  agentbench: () => import("./tool-lists/agentbench.json", { with: { type: "json" } }),
  toolrouter: () => import("./tool-lists/toolrouter.json", { with: { type: "json" } }),
  approvalgate: () => import("./tool-lists/approvalgate.json", { with: { type: "json" } }),
  cliagent: () => import("./tool-lists/cliagent.json", { with: { type: "json" } }),
  filetools: () => import("./tool-lists/filetools.json", { with: { type: "json" } }),
  anthropic: () => import("./tool-lists/anthropic.json", { with: { type: "json" } }),
  "claude-code": () => import("./tool-lists/claude-code.json", { with: { type: "json" } }),
  codex: () => import("./tool-lists/codex.json", { with: { type: "json" } }),
  "gemini-cli": () => import("./tool-lists/gemini-cli.json", { with: { type: "json" } }),
  "mcp-filesystem": () => import("./tool-lists/mcp-filesystem.json", { with: { type: "json" } }),
  openai: () => import("./tool-lists/openai.json", { with: { type: "json" } })
} satisfies Readonly<Record<DialectName, unknown>>

/**
 * The tools of haft's own packages in a dialect, without loading the packages: `haft mcp` answers `tools/list` with
 * them before its host is open.
 */
export const listedTools = async (dialect: DialectName): Promise<ReadonlyArray<ToolDescription>> =>
  (await lists[dialect]()).default as unknown as ReadonlyArray<ToolDescription>
