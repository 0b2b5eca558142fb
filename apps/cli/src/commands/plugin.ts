import { join, relative, resolve } from "node:path"

import type { PluginStyle, PluginSummary, SandboxName } from "haft/internal"

import { type Subcommand, type Given, UsageError } from "../command.ts"
import { configOf } from "../host.ts"
import { table } from "../table.ts"
import { forScreen, note, print, printJson } from "../terminal.ts"

export const plugin: Subcommand = {
  name: "plugin",
  summary: "start a plugin, check one, list those in use, document one",
  takes: "list | new NAME | check DIR | docs DIR",
  atMost: 2,
  subcommands: ["list", "new", "check", "docs"],
  options: {
    style: {
      value: "STYLE",
      describe: "new: promise (async functions) or effect (promise)",
      choices: ["promise", "effect"]
    }
  },
  examples: [
    "haft plugin list",
    "haft plugin new haft-plugin-tickets --style effect",
    "haft plugin check ./haft-plugin-tickets"
  ],
  run: (given) => {
    const [verb = "list", name] = given.positionals
    const action = actions[verb]
    if (action === undefined)
      throw new UsageError(`unknown subcommand '${verb}'; expected ${Object.keys(actions).join(", ")}`)
    return action(given, name)
  }
}

const actions: Readonly<Record<string, (given: Given, name: string | undefined) => Promise<number>>> = {
  list: async (given) => {
    const [{ listPlugins }, { config }] = await Promise.all([import("haft/internal"), configOf(given)])
    const list = await listPlugins(config)
    if (given.has("json")) printJson(list)
    else print(table([["PLUGIN", "VERSION", "CONTRACT", "RISKS", "TOOLS"], ...list.plugins.map(row)]))
    for (const problem of list.unusable) note(`haft: ${problem}`)
    return list.unusable.length === 0 ? 0 : 1
  },
  new: async (given, name) => {
    if (name === undefined || !/^(@[a-z0-9][a-z0-9-]*\/)?[a-z0-9][a-z0-9-]*$/.test(name)) {
      throw new UsageError("missing name, in lowercase letters, digits and dashes: haft plugin new haft-plugin-tickets")
    }
    const { newPlugin } = await import("haft/internal")
    const style = given.value("style") as PluginStyle | undefined
    const plugin = { name, haft: given.version, ...(style !== undefined && { style }) }
    const directory = resolve(given.value("workspace") ?? ".")
    const files = await newPlugin(plugin, directory)
    if (given.has("json")) printJson(files)
    else {
      print(`In ${directory}:`)
      for (const file of files) print(`✓ ${file}`)
      const folder = relative(".", join(directory, name.split("/").at(-1) ?? name))
      print(`\nNext: cd ${folder} && npm install && npm test && npm pack`)
    }
    return 0
  },
  docs: async (given, directory = ".") => {
    const { writePluginTable } = await import("haft/internal")
    const isChanged = await writePluginTable(resolve(given.value("workspace") ?? ".", directory))
    if (given.has("json")) printJson({ changed: isChanged })
    else print(isChanged ? "✓ README.md has the tools of today" : "✓ README.md was up to date")
    return 0
  },
  check: async (given, name) => {
    if (name === undefined)
      throw new UsageError("missing plugin. Give its directory, its file or its name: haft plugin check .")
    const { checkPlugin, showReport } = await import("haft/testing")
    const sandbox = given.value("sandbox") as SandboxName | undefined
    const here = resolve(given.value("workspace") ?? ".")
    const report = await checkPlugin(name, here, sandbox === undefined ? {} : { sandbox })
    if (given.has("json")) printJson(report)
    else print(showReport(report))
    return report.ok ? 0 : 1
  }
}

const row = ({ name, version, contract, tools }: PluginSummary): ReadonlyArray<string> => {
  const risks = ["read_only", "safe_write", "dangerous"].filter((risk) => tools.some((tool) => tool.risk === risk))
  const names = [...new Set(tools.map((tool) => tool.name))]
  return [name, version, String(contract), risks.join(" "), names.join(" ")].map((cell) =>
    forScreen(process.stdout, cell)
  )
}
