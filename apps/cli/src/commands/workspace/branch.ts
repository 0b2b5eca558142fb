import type { OpenBranches } from "haft/internal"

import { type Subcommand, type Given, UsageError } from "../../command.ts"
import { askHere, configOf } from "../../host.ts"
import { table } from "../../table.ts"
import { forScreen, note, print, printJson } from "../../terminal.ts"

export const branch: Subcommand = {
  name: "branch",
  summary: "several attempts side by side on one workspace: create, list, run, diff, merge, drop",
  takes: "[list | create NAME… | run NAME [-- COMMAND…] | diff NAME | merge NAME | drop NAME…]",
  subcommands: ["list", "create", "run", "diff", "merge", "drop"],
  options: {
    conflicts: {
      value: "SIDE",
      describe: "what merge does with a path that changed on both sides: refuse, branch, workspace",
      choices: ["refuse", "branch", "workspace"]
    }
  },
  examples: [
    "haft branch create fix-1 fix-2",
    "haft branch run fix-1 -- haft mcp",
    "haft branch run fix-1 -- npm test",
    "haft branch diff fix-1",
    "haft branch merge fix-1",
    "haft branch drop fix-2"
  ],
  run: async (given) => {
    const [verb = "list", name, ...rest] = given.positionals
    const work = verbs[verb]
    if (work === undefined) {
      throw new UsageError(`unknown subcommand '${verb}'; expected ${Object.keys(verbs).join(", ")}`)
    }
    if (verb === "list" && name !== undefined) throw new UsageError(`unexpected argument '${name}'`)
    if (verb !== "list" && name === undefined) throw new UsageError(`missing name. Usage: haft branch ${verb} NAME`)
    if ((verb === "diff" || verb === "merge") && rest.length > 0)
      throw new UsageError(`unexpected argument '${rest[0]}'`)
    const [{ openBranches }, { config }, asker] = await Promise.all([
      import("haft/internal"),
      configOf(given, { upwards: true }),
      askHere()
    ])
    const branches = await openBranches(config, { asker })
    try {
      return await work(branches, [name ?? "", ...rest], given)
    } finally {
      await branches.dispose()
    }
  }
}

type Verb = (branches: OpenBranches, words: ReadonlyArray<string>, given: Given) => Promise<number>

const list: Verb = async (branches, _words, given) => {
  const all = await branches.list()
  if (given.has("json")) printJson(all)
  else if (all.length === 0) print("No branches")
  else {
    const rows = all.map(({ name, createdAt, isInUse }) => [name, createdAt, isInUse ? "in use" : ""])
    print(table([["NAME", "CREATED", ""], ...rows]))
  }
  return 0
}

const create: Verb = async (branches, names, given) => {
  for (const name of names) {
    const made = await branches.create(name)
    if (given.has("json")) printJson(made)
    else print(`Created ${made.name}`)
  }
  return 0
}

const run: Verb = async (branches, [name = "", ...words], given) => {
  if (given.has("json")) throw new UsageError("haft branch run prints what the command prints; it has no --json")
  const [program = process.env["SHELL"] ?? "/bin/sh", ...args] = words
  return branches.run(name, { program, args })
}

const diff: Verb = async (branches, [name = ""], given) => {
  const found = await branches.diff(name)
  if (given.has("json")) printJson(found)
  else if (found.changes.length === 0) print("No changes")
  else print(forScreen(process.stdout, found.diff.trimEnd()))
  if (found.conflicts.length > 0) {
    note(
      `haft: changed in the workspace, too: ${found.conflicts.map((path) => forScreen(process.stderr, path)).join(", ")}`
    )
  }
  return 0
}

const merge: Verb = async (branches, [name = ""], given) => {
  const conflicts = given.value("conflicts") as "refuse" | "branch" | "workspace" | undefined
  const reply = await branches.merge(name, conflicts === undefined ? {} : { conflicts })
  if (given.has("json")) printJson(reply.wire)
  else if (reply.ok) print(forScreen(process.stdout, reply.text))
  else note(`✗ ${forScreen(process.stderr, reply.text)}`)
  return reply.ok ? 0 : 1
}

const drop: Verb = async (branches, names, given) => {
  for (const name of names) {
    await branches.drop(name)
    if (given.has("json")) printJson({ name, dropped: true })
    else print(`Dropped ${name}`)
  }
  return 0
}

const verbs: Readonly<Record<string, Verb>> = { list, create, run, diff, merge, drop }
