import type { EventFilter, JournalEvent } from "haft/internal"

import { type Subcommand, type Given, UsageError } from "../../command.ts"
import { configOf } from "../../host.ts"
import { table } from "../../table.ts"
import { note, print, printJson } from "../../terminal.ts"

export const log: Subcommand = {
  name: "log",
  summary: "what is on record",
  takes: "[show | runs | verify]",
  atMost: 1,
  subcommands: ["show", "runs", "verify"],
  options: {
    run: { value: "RUN", describe: "the run to show (the last)" },
    tool: { value: "NAME", describe: "only calls of this tool" },
    call: { value: "ID", describe: "only this call" },
    status: { value: "STATUS", describe: "only ends of calls: success or error", choices: ["success", "error"] },
    type: { value: "TYPE", describe: "only events of this type, such as approval_decided" },
    since: { value: "TIME", describe: "only from this time on, such as 2026-11-16T10:00Z" },
    until: { value: "TIME", describe: "only up to this time" },
    text: { value: "TEXT", describe: "only events with this text in them" },
    follow: { describe: "go on with what happens next, in later runs too unless one is named", short: "f" }
  },
  examples: ["haft log", "haft log runs", "haft log --run 20261116T101500-1f2e3d4c --json", "haft log --follow"],
  run: async (given) => {
    const [haft, { config }] = await Promise.all([import("haft/internal"), configOf(given, { upwards: true })])
    const run = given.value("run")
    const isWanted = haft.eventFilter(filterOf(given))
    const show = (event: JournalEvent): void =>
      print(given.has("json") ? JSON.stringify(event) : haft.printEvent(event))
    const [verb = "show"] = given.positionals
    if (!["show", "runs", "verify"].includes(verb)) {
      throw new UsageError(
        `unknown subcommand '${verb}'; expected show, runs or verify. One run is: haft log --run RUN`
      )
    }
    if (verb === "runs") {
      const runs = await haft.runsOf(config)
      if (given.has("json")) printJson(runs)
      else if (runs.length === 0) print("Nothing is on record for this workspace yet.")
      else print(table(runs.map(({ name, bytes }) => [name, `${bytes} bytes`])))
      return 0
    }
    if (verb === "verify") {
      const verification = await haft.verifyRun(config, run)
      if (given.has("json")) printJson(verification)
      else if (verification.intact) {
        const state = verification.ended ? "" : "; the run has not ended yet"
        print(`✓ ${verification.events} events, as they were written${state}`)
      } else print(`✗ line ${verification.line}: ${verification.problem}`)
      return verification.intact ? 0 : 1
    }
    if (given.has("follow")) {
      const controller = new AbortController()
      const stop = (): void => controller.abort()
      process.once("SIGINT", stop).once("SIGTERM", stop)
      process.stdout.once("error", stop)
      const onEvent = (event: JournalEvent): void => void (isWanted(event) && show(event))
      await haft.followRun(config, run, { onEvent, signal: controller.signal })
      return 0
    }
    const wanted = (await haft.readRun(config, run === undefined ? {} : { run })).filter(isWanted)
    for (const event of wanted) show(event)
    if (wanted.length === 0) note("haft: no event of this run matches. Other runs: haft log runs")
    return 0
  }
}

const filterOf = (given: Given): EventFilter => {
  const [tool, request, status, text, type] = ["tool", "call", "status", "text", "type"].map(given.value)
  const since = timeIn(given, "since")
  const until = timeIn(given, "until")
  return {
    ...(tool !== undefined && { tool }),
    ...(request !== undefined && { request }),
    ...(status !== undefined && { status: status as "success" | "error" }),
    ...(text !== undefined && { text }),
    ...(type !== undefined && { type }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until })
  }
}

const timeIn = (given: Given, option: string): number | undefined => {
  const written = given.value(option)
  if (written === undefined) return undefined
  const time = Date.parse(written)
  if (Number.isNaN(time)) throw new UsageError(`--${option} takes a time such as 2026-11-16T10:00Z, not '${written}'`)
  return time
}
