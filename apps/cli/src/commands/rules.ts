import type { DialectName, ImportSource, PromiseRules, Rule, Simulation } from "haft/internal"

import { readArguments } from "../arguments.ts"
import { type Subcommand, type Given, UsageError } from "../command.ts"
import { configOf, withHost } from "../host.ts"
import { table } from "../table.ts"
import { note, print, printJson } from "../terminal.ts"

export const rules: Subcommand = {
  name: "rules",
  summary: "approval rules: what runs without asking, what asks, what never runs",
  takes: "list | add RULE | replace ID RULE | remove ID | enable ID | disable ID | test | import FILE",
  subcommands: ["list", "add", "replace", "remove", "enable", "disable", "test", "import"],
  options: {
    log: { value: "FILE", describe: "test: a record to try the rules on (the last run)" },
    run: { value: "RUN", describe: "test: a run to try the rules on" },
    proposed: { value: "FILE", describe: "test: rules to try instead of those that hold, as rules.json has them" },
    from: {
      value: "PROGRAM",
      describe: "import: whose settings they are (by what they look like)",
      choices: ["claude-code", "codex", "vs-code"]
    }
  },
  examples: [
    "haft rules list",
    `haft rules add '{"id":"docs","tool":"write_file","touches":{"writes":"docs/**"}}'`,
    `haft rules add '{"id":"no-secrets","decision":"deny","touches":{"reads":"**/.env"}}'`,
    "haft rules disable docs",
    "haft rules test --log events.jsonl",
    "haft rules test --proposed rules.json",
    "haft rules import .claude/settings.json"
  ],
  run: async (given) => {
    const [verb = "list", ...rest] = given.positionals
    const { openRules } = await import("haft/internal")
    const { config } = await configOf(given, { upwards: true })
    const store = await openRules(config)
    const action = actions[verb]
    if (action === undefined)
      throw new UsageError(`unknown subcommand '${verb}'; expected ${Object.keys(actions).join(", ")}`)
    return action(store, rest, given)
  }
}

type Action = (store: PromiseRules, rest: ReadonlyArray<string>, given: Given) => Promise<number>

const actions: Readonly<Record<string, Action>> = {
  list: async (store, _rest, given) => {
    const list = await store.list()
    if (given.has("json")) printJson(list)
    else if (list.length === 0) print("No rules. What the contract asks about is asked.")
    else {
      const { visibleText } = await import("haft/internal")
      print(table([["RULE", "DECISION", "TOOL", "WHERE"], ...list.map((rule) => row(rule).map(visibleText))]))
    }
    return 0
  },
  add: async (store, rest, given) => {
    if (rest.length === 0) throw new UsageError("missing rule. Give it as JSON, as @FILE, or as KEY=VALUE pairs")
    const rule = await store.add(await readArguments(rest))
    if (given.has("json")) printJson(rule)
    else print(`Added ${rule.id}: ${rule.decision} ${subjectOf(rule)}`)
    await noteAdvice(rule)
    await noteUnknownTool(rule, given)
    return 0
  },
  replace: async (store, [id, ...rest], given) => {
    if (rest.length === 0) throw new UsageError("missing rule. Usage: haft rules replace ID RULE")
    const rule = await readArguments(rest)
    const status = await byId([id ?? ""], given, (known) => store.replace(known, rule), "Replaced")
    const replaced = (await store.list()).find((one) => one.id === id)
    if (replaced !== undefined) await noteAdvice(replaced)
    return status
  },
  remove: (store, rest, given) => byId(rest, given, (id) => store.remove(id), "Removed"),
  enable: (store, rest, given) => byId(rest, given, (id) => store.setEnabled(id, true), "Enabled"),
  disable: (store, rest, given) => byId(rest, given, (id) => store.setEnabled(id, false), "Disabled"),
  import: async (store, [file, beyond], given) => {
    if (file === undefined || beyond !== undefined) {
      throw new UsageError("missing file. Give the settings of Claude Code or VS Code, or a .rules file of Codex")
    }
    const { importRules, visibleText } = await import("haft/internal")
    const text = await readSettings(file)
    const { source, rules: found, skipped } = imported(() => importRules(text, given.value("from") as ImportSource))
    const known = new Set((await store.list()).map(({ id }) => id))
    const added = found.filter(({ id }) => !known.has(id))
    for (const rule of added) await store.add(rule)
    if (given.has("json")) {
      printJson({ source, added, known: found.filter(({ id }) => known.has(id)).map(({ id }) => id), skipped })
      return 0
    }
    print(`${added.length} of ${found.length + skipped.length} settings of ${source} are rules now`)
    for (const rule of added) print(`  ${visibleText(`${rule.id}: ${rule.note ?? ""}`)}`)
    for (const rule of added) await noteAdvice(rule)
    if (added.length < found.length) print(`${found.length - added.length} were there already`)
    if (skipped.length > 0) print(`${skipped.length} can't be carried over:`)
    for (const { setting, why } of skipped) print(`  ${visibleText(`${setting}: ${why}`)}`)
    return 0
  },
  test: async (store, _rest, given) => {
    const file = given.value("log")
    const run = given.value("run")
    const proposed = given.value("proposed")
    const simulation = await store.test({
      ...(file !== undefined && { file }),
      ...(run !== undefined && { run }),
      ...(proposed !== undefined && { proposed })
    })
    if (given.has("json")) printJson(simulation)
    else await printSimulation(simulation)
    return 0
  }
}

const imported = <A>(read: () => A): A => {
  try {
    return read()
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}

const readSettings = async (file: string): Promise<string> => {
  const { readNamedFile } = await import("haft/internal")
  return readNamedFile(file).catch((cause: Error) => {
    throw new UsageError(`${file} can't be read: ${cause.message}`, { cause })
  })
}

/** A rule for an unknown tool is allowed, as a plugin may bring it later; but a misspelt name should be noticed. */
const noteUnknownTool = async ({ tool, dialect }: Rule, given: Given): Promise<void> => {
  if (tool === undefined) return
  const look = withHost(given, dialect === undefined ? {} : { dialect: dialect as DialectName }, async (host) => {
    if (host.tools.some(({ name }) => name === tool)) return 0
    note(`haft: unknown tool '${tool}' in ${host.dialect.name}; the rule applies where there is one. Run: haft tools`)
    return 0
  })
  // The rule is stored, whether a host can be opened to look at its tools or not.
  await look.catch(() => 0)
}

const noteAdvice = async (rule: Rule): Promise<void> => {
  const { ruleAdvice } = await import("haft/internal")
  for (const advice of ruleAdvice(rule)) note(`haft: ${advice}`)
}

const byId = async (
  [id]: ReadonlyArray<string>,
  given: Given,
  change: (id: string) => Promise<boolean>,
  done: string
): Promise<number> => {
  if (id === undefined) throw new UsageError("missing rule id. Run: haft rules list")
  if (!(await change(id))) throw new UsageError(`unknown rule '${id}'. Run: haft rules list`)
  if (given.has("json")) printJson({ id, done: done.toLowerCase() })
  else print(`${done} ${id}`)
  return 0
}

/** Operations, tool or touches that a rule applies to, in words. */
const subjectOf = ({ tool, operation }: Rule): string =>
  [tool, ...[operation ?? []].flat()].filter((part) => part !== undefined).join(", ") || "any tool"

const row = (rule: Rule): Array<string> => {
  const { id, decision, enabled, expires, maximumUses, uses, dialect, workspace } = rule
  const { pattern, fields, exactly, exactlySha256, touches } = rule
  const conditions = [touches, fields, exactly].filter((condition) => condition !== undefined)
  const where = [
    ...(pattern === undefined ? [] : [pattern]),
    ...conditions.map((condition) => JSON.stringify(condition)),
    ...(exactlySha256 === undefined ? [] : [`arguments with SHA-256 ${exactlySha256}`])
  ]
  const state = [
    ...(enabled ? [] : ["disabled"]),
    ...(expires === undefined ? [] : [`${Date.parse(expires) <= Date.now() ? "over since" : "until"} ${expires}`]),
    ...(maximumUses === undefined ? [] : [`used ${uses} of ${maximumUses} times`]),
    ...(dialect === undefined ? [] : [`in ${dialect}`]),
    ...(workspace === undefined ? [] : [`for ${workspace}`])
  ]
  return [id, decision, subjectOf(rule), [where.length === 0 ? "any" : where.join(" and "), ...state].join(", ")]
}

const printSimulation = async ({ calls, counts, flips, proposals, undecided }: Simulation): Promise<void> => {
  const { visibleText } = await import("haft/internal")
  print(
    `${calls.length} call${calls.length === 1 ? "" : "s"}: ${counts.allow} allowed, ${counts.ask} asked, ${counts.deny} denied`
  )
  if (undecided > 0) print(`${undecided} more never came as far as a decision`)
  for (const { requestId, tool, recorded, simulated } of flips) {
    const call = visibleText(`${requestId} ${tool}`)
    print(`  ${call}: was ${beforeOf(recorded)}, would be ${simulated.decision}`)
  }
  for (const { rule, questionsSpared } of proposals) {
    print(`  would spare ${questionsSpared} questions: haft rules add ${forShell(JSON.stringify(rule))}`)
  }
}

const beforeOf = ({ by, decision }: Simulation["calls"][number]["recorded"]): string => {
  if (by === "policy") return decision
  if (by === "nobody") return "asked and not answered"
  return decision === "allow" ? "asked and approved" : "asked and refused"
}

// Quoted so that it can be pasted into a shell: the JSON contains names and arguments that a model chose.
const forShell = (json: string): string => {
  const plain = json.replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
  return `'${plain.replaceAll("'", String.raw`'\''`)}'`
}
