import type { Dialect, Plugin, Tool } from "@haft/core"
import { agentbench, approvalgate, cliagent, filetools, haft, toolrouter } from "@haft/dialects"

const contracts = { haft, agentbench, toolrouter, approvalgate, cliagent, filetools } satisfies Readonly<
  Record<string, Dialect>
>

/** A dialect with the tools that speak it. */
export interface LoadedDialect {
  readonly dialect: Dialect
  /** Tools beyond those of haft's own packages. */
  readonly tools: ReadonlyArray<Tool<unknown>>
}

// Dialects in packages of their own. Imported on demand: most hosts speak none of them.
const packaged = {
  anthropic: async () => {
    const { anthropic, anthropicTools } = await import("@haft/dialect-anthropic")
    return { dialect: anthropic, plugin: anthropicTools }
  },
  "claude-code": async () => {
    const { claudeCode, claudeCodeTools } = await import("@haft/dialect-claude-code")
    return { dialect: claudeCode, plugin: claudeCodeTools }
  },
  codex: async () => {
    const { codex, codexTools } = await import("@haft/dialect-codex")
    return { dialect: codex, plugin: codexTools }
  },
  "gemini-cli": async () => {
    const { geminiCli, geminiCliTools } = await import("@haft/dialect-gemini-cli")
    return { dialect: geminiCli, plugin: geminiCliTools }
  },
  "mcp-filesystem": async () => {
    const { mcpFilesystem, mcpFilesystemTools } = await import("@haft/dialect-mcp-filesystem")
    return { dialect: mcpFilesystem, plugin: mcpFilesystemTools }
  },
  openai: async () => {
    const { openai, openaiTools } = await import("@haft/dialect-openai")
    return { dialect: openai, plugin: openaiTools }
  }
}

type ContractName = keyof typeof contracts
type PackagedName = keyof typeof packaged
export type DialectName = ContractName | PackagedName

const namesIn = <Name extends string>(object: Readonly<Record<Name, unknown>>) =>
  Object.keys(object) as ReadonlyArray<string> as readonly [Name, ...ReadonlyArray<Name>]

/** Dialects that haft's own tool packages speak. */
export const contractNames: readonly [ContractName, ...ReadonlyArray<ContractName>] = namesIn(contracts)
/** Dialects in packages of their own. */
export const packagedNames: readonly [PackagedName, ...ReadonlyArray<PackagedName>] = namesIn(packaged)
export const dialectNames: readonly [DialectName, ...ReadonlyArray<DialectName>] = [...contractNames, ...packagedNames]

/** The types of the tools in a dialect's own package. */
export type TypesOfDialect<Name> = Name extends PackagedName
  ? ReturnType<(typeof packaged)[Name]> extends Promise<{
      readonly plugin: Plugin<infer _R, infer _Config, infer Types>
    }>
    ? Types
    : never
  : never

/** A dialect by name or as it is; haft's own when none is named. */
export const loadDialect = async (dialect: DialectName | Dialect = "haft"): Promise<LoadedDialect> => {
  if (typeof dialect === "object") return { dialect, tools: [] }
  if (isContract(dialect)) return { dialect: contracts[dialect], tools: [] }
  const { dialect: loaded, plugin } = await packaged[dialect]()
  return { dialect: loaded, tools: plugin.tools }
}

/** The dialect with this name: the one a host is configured with, or one of those that come with haft. */
export const dialectNamed = (name: string, configured?: DialectName | Dialect): DialectName | Dialect | undefined => {
  if (typeof configured === "object" && configured.name === name) return configured
  return dialectNames.find((known) => known === name)
}

/** The name of a dialect, whether it is loaded or not. */
export const nameOfDialect = (dialect: DialectName | Dialect = "haft"): string =>
  typeof dialect === "string" ? dialect : dialect.name

const isContract = (name: DialectName): name is ContractName => Object.hasOwn(contracts, name)
