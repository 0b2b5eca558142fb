import { resolve } from "node:path"

import { legalNames, strictSchema } from "@haft/adapters"
import { isPluginError, type Plugin, type ToolDescription, use } from "@haft/core"
import { readNamedFile } from "@haft/node"
import { type ExampleCall, type Fixture, type PluginReport, testPlugin as testWith } from "@haft/testing"
import * as z from "zod"

import { ConfigError, type SandboxName, type StandardServices } from "./config.ts"
import { type DialectName, dialectNames, dialectOf } from "./dialects.ts"
import { importPlugin } from "./load-plugins.ts"
import { refusalsOf, refusedBy } from "./refusals.ts"
import { standardServices } from "./standard-host.ts"

/** How to put a plugin to the test. */
export interface PluginTest {
  /** The plugin's configuration. */
  readonly config?: unknown
  /** Files of every workspace it is tried in. */
  readonly files?: Readonly<Record<string, Fixture>>
  /** At least one call for each tool. */
  readonly calls?: ReadonlyArray<ExampleCall>
  /** `auto` by default. */
  readonly sandbox?: SandboxName
  /** Only its tools in these dialects; in all by default. */
  readonly dialects?: ReadonlyArray<DialectName>
}

/** Puts every tool of a plugin to every test of the conformance kit, on a standard host in temporary directories. */
export const testPlugin = <Config>(
  plugin: Plugin<StandardServices, Config>,
  { config, files = {}, calls = [], sandbox = "auto", dialects = dialectNames }: PluginTest = {}
): Promise<PluginReport> => {
  const spoken = new Set(plugin.tools.map(({ dialect }) => (dialect === "any" ? "haft" : dialect)))
  return testWith<StandardServices>({
    plugin: use(plugin as Plugin<StandardServices, unknown>, config),
    dialects: dialects.filter((name) => spoken.has(name)).map((name) => dialectOf(name)),
    services: ({ root, state }) => standardServices({ root, state, approval: "all", sandbox }),
    refusals,
    files,
    calls
  })
}

/**
 * The same for a package: a directory, a file, or a name as seen from `from`. A directory may hold `conformance.json`
 * with the configuration, the files and the calls to test with.
 */
export const checkPlugin = async (
  name: string,
  from: string,
  options: Pick<PluginTest, "sandbox"> = {}
): Promise<PluginReport> => {
  try {
    const plugin = await importPlugin(name, from)
    return await testPlugin(plugin, { ...(await conformanceOf(resolve(from, name))), ...options })
  } catch (cause) {
    if (!isPluginError(cause)) throw cause
    const problems = [{ tool: "", dialect: "", rule: "loading", problem: cause.message } as const]
    return { plugin: name, version: "", contract: 0, ok: false, tools: [], calls: 0, problems, notTried: [] }
  }
}

// Strict calling is for the schemas that can say it.
const refusals = (tool: ToolDescription): ReadonlyArray<string> => {
  const found = refusalsOf(tool)
  if (found.some((refusal) => refusal.startsWith("its input"))) return found
  const strict = strictSchema(tool.inputSchema)
  const name = legalNames([tool.name]).legal(tool.name)
  return strict === undefined ? found : [...refusedBy("openai-strict", { name, parameters: strict }), ...found]
}

const conformance = z.strictObject({
  config: z.unknown().optional(),
  files: z.record(z.string(), z.string()).optional(),
  calls: z
    .array(
      z.strictObject({
        tool: z.string(),
        dialect: z.string().optional(),
        args: z.record(z.string(), z.unknown()),
        files: z.record(z.string(), z.string()).optional(),
        after: z.array(z.strictObject({ tool: z.string(), args: z.record(z.string(), z.unknown()) })).optional()
      })
    )
    .optional()
})

const conformanceOf = async (directory: string): Promise<PluginTest> => {
  const file = `${directory}/conformance.json`
  const text = await readNamedFile(file).catch(() => undefined)
  if (text === undefined) return {}
  try {
    return conformance.parse(JSON.parse(text)) as PluginTest
  } catch (cause) {
    throw new ConfigError(`${file} does not say how to test a plugin: ${(cause as Error).message}`, { cause })
  }
}

export type { ExampleCall, PluginProblem, PluginReport, PluginRule } from "@haft/testing"
export { showReport } from "@haft/testing"
