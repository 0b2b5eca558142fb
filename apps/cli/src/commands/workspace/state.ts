import type { StateUsage } from "haft/internal"

import { type Subcommand, type Given, UsageError } from "../../command.ts"
import { configOf } from "../../host.ts"
import { table } from "../../table.ts"
import { print, printJson } from "../../terminal.ts"

export const state: Subcommand = {
  name: "state",
  summary: "records, artifacts and undo history that haft keeps for a workspace: how much, and how long",
  takes: "[info | prune | remove]",
  atMost: 1,
  subcommands: ["info", "prune", "remove"],
  options: {
    all: { describe: "info: every workspace in the default state directory" },
    "older-than": { value: "DURATION", describe: "prune: runs that began longer ago than this (30d)" },
    "dry-run": { describe: "prune: only show what would be removed" },
    yes: { describe: "remove: confirm that records, rules and undo history are deleted" }
  },
  examples: ["haft state", "haft state info --all", "haft state prune --older-than 7d", "haft state remove --yes"],
  run: async (given) => {
    const [verb = "info"] = given.positionals
    if (verb === "info") return info(given)
    if (verb === "prune") return prune(given)
    if (verb === "remove") return remove(given)
    throw new UsageError(`unknown subcommand '${verb}'; expected info, prune or remove`)
  }
}

const info = async (given: Given): Promise<number> => {
  const haft = await import("haft/internal")
  const found = given.has("all") ? haft.allStateUsage() : [haft.stateUsage(await configFor(given))]
  if (given.has("json")) printJson(given.has("all") ? found : found[0])
  else if (given.has("all")) {
    print(table([["WORKSPACE", "RUNS", "SIZE", "DIRECTORY"], ...found.map(row)]))
  } else for (const usage of found) print(details(usage))
  return 0
}

const row = ({ root, runs, bytes, directory }: StateUsage): Array<string> => [
  root ?? "unknown",
  String(runs),
  size(bytes),
  directory
]

const details = ({ directory, format, root, bytes, parts, runs, openRuns }: StateUsage): string =>
  [
    table([
      ["Workspace", root ?? "unknown"],
      ["Directory", directory],
      ["Format", format === undefined ? "none" : String(format)],
      ["Runs", `${runs} (${openRuns.length} open)`],
      ["Size", size(bytes)]
    ]),
    table(
      Object.entries(parts)
        .filter(([, part]) => part > 0)
        .toSorted(([, one], [, other]) => other - one)
        .map(([name, part]) => [`  ${name}`, size(part)])
    )
  ].join("\n")

const prune = async (given: Given): Promise<number> => {
  const haft = await import("haft/internal")
  const before = new Date(Date.now() - millisecondsOf(given.value("older-than") ?? "30d"))
  const isDry = given.has("dry-run")
  const { runs, bytes } = haft.pruneRuns(await configFor(given), { before, isDry })
  if (given.has("json")) printJson({ runs, bytes, removed: !isDry })
  else print(`${isDry ? "Would remove" : "Removed"} ${runs.length} runs (${size(bytes)})`)
  return 0
}

const remove = async (given: Given): Promise<number> => {
  const haft = await import("haft/internal")
  const config = await configFor(given)
  if (!given.has("yes")) {
    const { directory, bytes } = haft.stateUsage(config)
    throw new UsageError(
      `${directory} (${size(bytes)}) holds this workspace's records, rules and undo history. Delete it with: haft state remove --yes`
    )
  }
  const directory = haft.removeWorkspaceState(config)
  if (given.has("json")) printJson({ directory, removed: true })
  else print(`Removed ${directory}`)
  return 0
}

const configFor = async (given: Given) => (await configOf(given, { upwards: true })).config

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

const millisecondsOf = (text: string): number => {
  const [, count, unit = ""] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  if (count !== undefined) return Number(count) * (unitMs[unit] ?? 0)
  throw new UsageError(`--older-than is a duration such as 12h or 30d, not '${text}'`)
}

const size = (bytes: number): string => {
  if (bytes < 1000) return `${bytes} B`
  const units = ["kB", "MB", "GB", "TB"]
  const power = Math.min(Math.floor(Math.log10(bytes) / 3), units.length)
  return `${(bytes / 1000 ** power).toFixed(1)} ${units[power - 1]}`
}
