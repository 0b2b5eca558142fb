import type { OpenQuarantine } from "haft/internal"

import { type Subcommand, type Given, UsageError } from "../../command.ts"
import { configOf } from "../../host.ts"
import { table } from "../../table.ts"
import { forScreen, print, printJson } from "../../terminal.ts"

export const quarantine: Subcommand = {
  name: "quarantine",
  summary: "control files that commands made or changed, moved out of the workspace: list, restore, remove",
  takes: "[list | restore FILE | remove FILE]",
  atMost: 2,
  subcommands: ["list", "restore", "remove"],
  examples: ["haft quarantine", "haft quarantine restore .npmrc", "haft quarantine remove 1f2e3d-1"],
  run: async (given) => {
    const [verb = "list", name] = given.positionals
    const { openQuarantine } = await import("haft/internal")
    const { config } = await configOf(given, { upwards: true })
    const files = openQuarantine(config)
    if (verb === "list") return list(files, given)
    if (verb !== "restore" && verb !== "remove") {
      throw new UsageError(`unknown subcommand '${verb}'; expected list, restore or remove`)
    }
    if (name === undefined) throw new UsageError(`missing file. Usage: haft quarantine ${verb} FILE (an id or a path)`)
    const file = verb === "restore" ? await files.restore(name) : files.remove(name)
    if (given.has("json")) printJson({ ...file, [verb === "restore" ? "restored" : "removed"]: true })
    else print(`${verb === "restore" ? "Restored" : "Removed"} ${forScreen(process.stdout, file.path)}`)
    return 0
  }
}

const list = (files: OpenQuarantine, given: Given): number => {
  const all = files.list()
  if (given.has("json")) printJson(all)
  else if (all.length === 0) print("No files in quarantine")
  else {
    const rows = all.map(({ id, path, movedAt, reason }) => [id, forScreen(process.stdout, path), movedAt, reason])
    print(table([["ID", "PATH", "MOVED", "REASON"], ...rows]))
  }
  return 0
}
