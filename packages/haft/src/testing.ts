import { join, resolve } from "node:path"

import { legalNames, strictSchema } from "@haft/adapters"
import { isPluginError, type Plugin, reasonOf, type ToolDescription, use } from "@haft/core"
import { readNamedFile } from "@haft/node/internal"
import {
  type ExampleCall,
  type Fixture,
  type PluginReport,
  testPlugin as testWith,
  unusablePlugin
} from "@haft/testing"
import * as z from "zod"

import { ConfigError, type SandboxName, type StandardServices } from "./config/config.ts"
import { type DialectName, dialectNames, loadDialect } from "./host/dialects.ts"
import { refusalsOf, refusedBy } from "./host/refusals.ts"
import { standardServices } from "./host/standard-host.ts"
import { importPlugin, packageOf } from "./plugins/load-plugins.ts"

/** How a plugin is tested. */
export interface PluginTest {
  /** The plugin's configuration. */
  readonly config?: unknown
  /** The files of every workspace it is tested in. */
  readonly files?: Readonly<Record<string, Fixture>>
  /** At least one call for each tool. */
  readonly calls?: ReadonlyArray<ExampleCall>
  /** `auto` by default. */
  readonly sandbox?: SandboxName
  /** Only its tools in these dialects; in all by default. */
  readonly dialects?: ReadonlyArray<DialectName>
  /** How long a reply may be; 4 million characters by default. */
  readonly mostCharacters?: number
  /** A call that takes longer counts as hung; a minute by default. */
  readonly callTimeoutMs?: number
}

/** Runs all tests of the conformance kit on all tools of a plugin, on a standard host in temporary directories. */
export const testPlugin = <Config>(
  plugin: Plugin<StandardServices, Config>,
  { config, sandbox = "auto", dialects = dialectNames, ...test }: PluginTest = {}
): Promise<PluginReport> =>
  reported(plugin.name, async () => {
    const configured = use(plugin as Plugin<StandardServices, unknown>, config)
    const spoken = new Set(plugin.tools.map(({ dialect }) => (dialect === "any" ? "haft" : dialect)))
    const loaded = await Promise.all(dialects.filter((name) => spoken.has(name)).map((name) => loadDialect(name)))
    return testWith<StandardServices>({
      ...test,
      plugin: configured,
      dialects: loaded.map(({ dialect }) => dialect),
      services: ({ root, state }) => standardServices({ root, state, approval: "all", sandbox }),
      refusals
    })
  })

/**
 * Tests a package: a directory, a file, or a name as seen from `from`. The package may hold `conformance.json`
 * with the configuration, the files and the calls to test with.
 */
export const checkPlugin = async (
  name: string,
  from: string,
  options: Pick<PluginTest, "sandbox"> = {}
): Promise<PluginReport> => {
  return reported(name, async () => {
    const subject = (await isThere(resolve(from, name))) ? resolve(from, name) : name
    const plugin = await importPlugin(subject, from)
    return testPlugin(plugin, { ...(await conformanceOf(packageOf(subject, from))), ...options })
  })
}

// True for a directory with a package, or a file: a person may type a path without `./`, which looks like a name.
const isThere = (path: string): Promise<boolean> =>
  readNamedFile(join(path, "package.json"))
    .catch(() => readNamedFile(path))
    .then(
      () => true,
      () => false
    )

// A plugin that no host would load is part of the report, and not an error of the test.
const reported = async (name: string, test: () => Promise<PluginReport>): Promise<PluginReport> => {
  try {
    return await test()
  } catch (cause) {
    if (!isPluginError(cause)) throw cause
    return unusablePlugin(name, cause.message)
  }
}

// Besides the refusals of all APIs, those of strict calling, for tools whose schema can be made strict.
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
        lasts: z.boolean().optional(),
        after: z.array(z.strictObject({ tool: z.string(), args: z.record(z.string(), z.unknown()) })).optional()
      })
    )
    .optional()
})

const conformanceOf = async (directory: string): Promise<PluginTest> => {
  const file = join(directory, "conformance.json")
  const text = await readNamedFile(file).catch(() => undefined)
  if (text === undefined) return {}
  try {
    return conformance.parse(JSON.parse(text)) as PluginTest
  } catch (cause) {
    throw new ConfigError(`${file} does not say how to test a plugin: ${reasonOf(cause)}`, { cause })
  }
}

export type { ExampleCall, PluginProblem, PluginReport, PluginRule } from "@haft/testing"
export { showReport } from "@haft/testing"
