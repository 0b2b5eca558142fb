import { resolve } from "node:path"

import { type Command, type Given, UsageError } from "../command.ts"
import { configOf } from "../host.ts"
import { print, printJson, table } from "../terminal.ts"

export const plugin: Command = {
  name: "plugin",
  summary: "start a plugin, check one, list those in use",
  takes: "list | new NAME | check NAME-OR-PATH",
  subcommands: ["list", "new", "check"],
  examples: ["haft plugin list", "haft plugin new haft-plugin-tickets", "haft plugin check ./src/index.js"],
  run: (given) => {
    const [verb = "list", name] = given.positionals
    const action = actions[verb]
    if (action === undefined) throw new UsageError(`haft plugin can ${Object.keys(actions).join(", ")}, not '${verb}'`)
    return action(given, name)
  }
}

const actions: Readonly<Record<string, (given: Given, name: string | undefined) => Promise<number>>> = {
  list: async (given) => {
    const [{ pluginsOf }, { config }] = await Promise.all([import("haft"), configOf(given)])
    const plugins = await pluginsOf(config)
    const rows = plugins.map(({ name, version, tools }) => ({ name, version, tools: tools.length }))
    if (given.has("json")) printJson(rows)
    else print(table(rows.map(({ name, version, tools }) => [name, version, `${tools} tools in all dialects`])))
    return 0
  },
  new: async (given, name) => {
    if (name === undefined || !/^[a-z0-9][a-z0-9-]*$/.test(name)) {
      throw new UsageError("which name? Small letters, digits and dashes: haft plugin new haft-plugin-tickets")
    }
    const { newPlugin } = await import("haft")
    const files = await newPlugin(name, resolve(given.value("workspace") ?? "."))
    for (const file of files) print(`✓ ${file}`)
    return 0
  },
  check: async (given, name) => {
    if (name === undefined)
      throw new UsageError("which plugin? Give a package's name or a path: haft plugin check ./src/index.js")
    const { checkPlugin } = await import("haft")
    const here = resolve(given.value("workspace") ?? ".")
    const problems = await checkPlugin(name, here)
    if (given.has("json")) printJson(problems)
    else if (problems.length === 0) print(`✓ ${name} is fit for a host`)
    else for (const problem of problems) print(`✗ ${problem}`)
    return problems.length === 0 ? 0 : 1
  }
}
