// Generates the tables and references in the docs (tools, errors, events, configuration, commands, public names) from the code. With
// `--check` it writes nothing, and fails if something is out of date.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

import { contractNames, dialectNames, loadDialect, packagedNames, type ToolDescription } from "haft/internal"
import { openHost } from "haft/promise"
import { format } from "oxfmt"

import { commandReference } from "../apps/cli/src/main.ts"
import { configurationPage } from "./reference/configuration.ts"
import { differencesPage } from "./reference/differences.ts"
import { whenItFails } from "./reference/errors.ts"
import { eventsPage } from "./reference/events.ts"
import { publicNamesPage } from "./reference/public-names.ts"
import { markdownTable, plainText, typeOf } from "./reference/table.ts"
import { toolHashes } from "./reference/tool-hashes.ts"

const root = dirname(import.meta.dirname)
const isCheck = process.argv.includes("--check")

interface Operation {
  readonly package: string
  readonly name: string
  /** By dialect. */
  readonly tools: ReadonlyMap<string, ReadonlyArray<ToolDescription>>
}

const generated = "<!-- Made from the code by `npm run docs`. -->"
const formatting = { printWidth: 120, semi: false, trailingComma: "none" } as const

const { operations, errorNames, lists } = await readTools()
const packages = [...new Set(operations.map((operation) => operation.package))]

const outdated: Array<string> = []
for (const name of packages) {
  const own = operations.filter((operation) => operation.package === name)
  await put(`packages/${name}/README.md`, (text) => between(text, toolTable(own)))
}
await put("docs/operations.md", () => operationsPage())
await put("docs/errors.md", () => errorsPage())
await put("docs/events.md", async () => `# Events\n\n${generated}\n\n${await eventsPage()}`)
await put("docs/configuration.md", () => `# Configuration\n\n${generated}\n\n${configurationPage()}`)
await put("docs/public-names.md", () => `# Public names\n\n${generated}\n\n${publicNamesPage(root)}\n`)
for (const [dialect, tools] of lists) await put(`apps/cli/src/tool-lists/${dialect}.json`, () => JSON.stringify(tools))
await put("contracts/tool-hashes.json", () => JSON.stringify(toolHashes(lists)))
await put("docs/differences.md", () => `# Answers that differ on purpose\n\n${generated}\n\n${differencesPage(root)}`)
await put("docs/cli.md", () => `# The command line\n\n${generated}\n\n${commandReference()}`)

if (outdated.length > 0 && isCheck) {
  console.error(`Out of date: ${outdated.join(", ")}. Run: npm run docs`)
  process.exitCode = 1
}

// An operation is a folder of a tool package, and its tools are the files in it: <dialect>.<tool>.ts.
async function readTools() {
  const state = await mkdtemp(join(tmpdir(), "haft-docs-"))
  const described = new Map<string, ToolDescription>()
  const errorNames = new Map<string, Readonly<Record<string, string>>>()
  const lists = new Map<string, ReadonlyArray<ToolDescription>>()
  /** Names of tools in dialects that are packages of their own, by dialect and operation. */
  const packaged = new Map<string, ReadonlyArray<string>>()
  for (const dialect of packagedNames) {
    const { tools } = await loadDialect(dialect)
    const named = tools.map(({ name, operation }) => [`${dialect}/${operation}`, `${dialect}.${name}`] as const)
    for (const [operation, list] of Map.groupBy(named, ([key]) => key)) {
      packaged.set(
        operation,
        list.map(([, name]) => name)
      )
    }
  }
  for (const dialect of dialectNames) {
    await using host = await openHost({ root, state, dialect })
    errorNames.set(dialect, host.dialect.errorNames)
    lists.set(dialect, host.tools)
    for (const tool of host.tools) described.set(`${dialect}.${tool.name}`, tool)
  }
  await rm(state, { recursive: true })
  const position = [...described.keys()]
  const firstOf = ({ tools }: Operation): number =>
    Math.min(...[...tools].flatMap(([dialect, list]) => list.map(({ name }) => position.indexOf(`${dialect}.${name}`))))
  const operations = ["fs", "search", "exec", "pty", "web"].flatMap((short) => {
    const source = join(root, "packages", `${short}-tools`, "src")
    return readdirSync(source, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry): Operation => {
        const files = readdirSync(join(source, entry.name))
        const tools = dialectNames.map((dialect) => {
          const names =
            packaged.get(`${dialect}/${entry.name}`) ??
            files.filter((file) => file.startsWith(`${dialect}.`)).map((file) => file.slice(0, -3))
          return [dialect, names.flatMap((name) => described.get(name) ?? [])] as const
        })
        return { package: `${short}-tools`, name: entry.name, tools: new Map(tools) }
      })
      .filter(({ tools }) => [...tools.values()].some((list) => list.length > 0))
      .toSorted((one, other) => firstOf(one) - firstOf(other))
  })
  return { operations, errorNames, lists }
}

function toolTable(list: ReadonlyArray<Operation>, dialects: ReadonlyArray<string> = contractNames): string {
  const rows = list
    .map(({ name, tools }) => [name, ...dialects.map((dialect) => namesOf(tools.get(dialect) ?? []))])
    .filter(([, ...names]) => names.some((cell) => cell !== ""))
  return markdownTable(["operation", ...dialects], rows)
}

function namesOf(tools: ReadonlyArray<ToolDescription>): string {
  return tools.map(({ name }) => `\`${name}\``).join(" ")
}

function operationsPage(): string {
  const sections = operations.map(({ package: name, name: operation, tools }) => {
    const parts = [...tools].flatMap(([dialect, list]) => list.map((tool) => toolSection(dialect, tool)))
    return `## ${operation}\n\nIn [@haft/${name}](../packages/${name}).\n\n${parts.join("\n\n")}`
  })
  return `# Operations and their tools\n\n${generated}\n\n${toolTable(operations)}\n\nIn dialects that are packages of their own:\n\n${toolTable(operations, packagedNames)}\n\n${sections.join("\n\n")}`
}

function toolSection(dialect: string, { name, description, risk, inputSchema }: ToolDescription): string {
  const properties = Object.entries((inputSchema["properties"] ?? {}) as Record<string, Record<string, unknown>>)
  const required = (inputSchema["required"] ?? []) as ReadonlyArray<string>
  const rows = properties.map(([key, schema]) => [
    `\`${key}\``,
    typeOf(schema),
    "default" in schema ? `\`${JSON.stringify(schema["default"])}\`` : required.includes(key) ? "required" : "",
    (schema["description"] ?? "") as string
  ])
  const parameters =
    rows.length === 0 ? "No parameters." : markdownTable(["parameter", "type", "default", "what"], rows)
  return `### ${dialect}: ${name}\n\n${plainText(description)} Risk: ${risk}.\n\n${parameters}`
}

function errorsPage(): string {
  const codes = Object.keys(errorNames.get("haft") ?? {})
  const nameIn = (dialect: string, code: string): string => {
    const name = errorNames.get(dialect)?.[code]
    return name === code && dialect !== "haft" ? "=" : `\`${name}\``
  }
  const rows = codes.map((code) => contractNames.map((dialect) => nameIn(dialect, code)))
  const meanings = Object.entries(whenItFails).map(([code, when]) => [`\`${code}\``, when])
  return [
    `# Errors\n\n${generated}`,
    "Every way a call can fail. A failure has a code, a message about what is wrong and a suggestion about what to do; a",
    "plugin's tool uses the same codes.\n",
    markdownTable(["code", "when"], meanings),
    "\n## In each dialect\n",
    "What each calls it; `=` is the same name.\n",
    markdownTable(contractNames, rows)
  ].join("\n")
}

function between(text: string, table: string): string {
  return text.replace(/(<!-- tools:start -->)[\s\S]*(<!-- tools:end -->)/, `$1\n\n${table}\n\n$2`)
}

// Writes a file as the formatter would, so that `npm run format` and `npm run docs` don't undo each other's work.
async function put(path: string, change: (text: string) => string | Promise<string>): Promise<void> {
  const file = join(root, path)
  const before = existsSync(file) ? readFileSync(file, "utf8") : ""
  const { code } = await format(path, await change(before), formatting)
  if (code === before) return
  outdated.push(path)
  if (!isCheck) writeFileSync(file, code)
}
