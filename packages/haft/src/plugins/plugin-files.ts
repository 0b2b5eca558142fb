import { fileURLToPath } from "node:url"

import { coreVersion } from "@haft/core/internal"
import { readNamedFile } from "@haft/node/internal"

export const pluginStyles = ["promise", "effect"] as const
/** Style of a plugin's tools: async functions or Effects. */
export type PluginStyle = (typeof pluginStyles)[number]

export interface NewPlugin {
  readonly name: string
  /** `promise` by default. */
  readonly style?: PluginStyle
  /** The version of haft it is made for. */
  readonly haft: string
}

// The files of the new package, and the templates they come from. Some templates have other names, because tools would
// read them as files of this package.
const common = {
  "package.json": "package.json",
  "tsconfig.json": "tsconfig.json",
  "README.md": "README.md",
  LICENSE: "LICENSE",
  ".gitignore": "gitignore",
  ".changeset/config.json": "changeset-config.json",
  ".changeset/first-release.md": "first-release.md",
  ".github/workflows/ci.yml": "ci.yml",
  "conformance.json": "conformance.json",
  "contract.lock.json": "contract.lock.json",
  "test/conformance.test.ts": "plugin.test.ts"
}
const styled = { "src/index.ts": "index.ts", "src/count-words.ts": "count-words.ts" }

/** The files of a small plugin, by path. It can be built, tested and packed as it is. */
export const pluginFiles = async ({
  name,
  style = "promise",
  haft
}: NewPlugin): Promise<ReadonlyArray<readonly [string, string]>> => {
  const sources = [
    ...Object.entries(common).map(([path, template]) => [path, `common/${template}`] as const),
    ...Object.entries(styled).map(([path, template]) => [path, `${style}/${template}`] as const)
  ]
  const values = { name, haft, core: coreVersion }
  return Promise.all(sources.map(async ([path, template]) => [path, filled(await readTemplate(template), values)]))
}

const filled = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\{\{(name|haft|core)\}\}/g, (_match, key: string) => values[key] ?? "")

// The templates are in the directory above the code in this package, and beside the code in the bundle.
const readTemplate = async (template: string): Promise<string> => {
  const read = (base: string): Promise<string> =>
    readNamedFile(fileURLToPath(new URL(`${base}/${template}.template`, import.meta.url)))
  return read("../../templates").catch(() => read("./templates"))
}
