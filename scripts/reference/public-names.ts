import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

interface Manifest {
  readonly name: string
  readonly private?: boolean
  readonly exports?: Readonly<Record<string, string | { readonly "@haft/source"?: string }>>
}

/** The page of all public names, by package and subpath. What it lists is what a version promises to keep. */
export const publicNamesPage = (root: string): string => {
  const manifests = readdirSync(join(root, "packages"))
    .toSorted()
    .map((folder) => ({ folder: join(root, "packages", folder), manifest: manifestIn(join(root, "packages", folder)) }))
    .filter(({ manifest }) => manifest.private !== true)
  return [
    "What each package exports. Everything else, and the subpaths `/internal`, may change in any version ([versions](../VERSIONING.md)).",
    ...manifests.map(({ folder, manifest }) => `## ${manifest.name}\n\n${subpathsOf(folder, manifest).join("\n\n")}`)
  ].join("\n\n")
}

const manifestIn = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest

const subpathsOf = (folder: string, { name, exports = {} }: Manifest): ReadonlyArray<string> =>
  Object.entries(exports).flatMap(([subpath, target]) => {
    const source = typeof target === "string" ? undefined : target["@haft/source"]
    if (source === undefined || subpath === "./internal") return []
    const { values, types } = namesIn(join(folder, source))
    const title = `### \`${name}${subpath.slice(1)}\` (${values.length + types.length})`
    return [title, [listed("values", values), listed("types", types)].filter((line) => line !== "").join("\n")]
  })

const listed = (what: string, names: ReadonlyArray<string>): string =>
  names.length === 0 ? "" : `- ${what}: ${names.map((name) => `\`${name}\``).join(", ")}`

/** The names that an entry file exports: lists of names, or declarations. */
const namesIn = (file: string): { readonly values: ReadonlyArray<string>; readonly types: ReadonlyArray<string> } => {
  const code = readFileSync(file, "utf8")
  if (/^export \*/m.test(code)) throw new Error(`${file} exports all of another file: list the names`)
  const values = new Set<string>()
  const types = new Set<string>()
  for (const [, isType, list = ""] of code.matchAll(/^export (type )?\{([^}]*)\}/gm)) {
    for (const entry of list
      .split(",")
      .map((one) => one.trim())
      .filter((one) => one !== "")) {
      const name =
        entry
          .split(" as ")
          .at(-1)
          ?.replace(/^type /, "") ?? entry
      const into = isType !== undefined || entry.startsWith("type ") ? types : values
      into.add(name)
    }
  }
  for (const [, kind, name = ""] of code.matchAll(
    /^export (?:declare )?(const|function|class|interface|type) (\w+)/gm
  )) {
    const into = kind === "interface" || kind === "type" ? types : values
    into.add(name)
  }
  if (/^export default /m.test(code)) values.add("default")
  return { values: [...values].toSorted(), types: [...types].toSorted() }
}
