import type { JournalEvent } from "haft"

import type { Command } from "../command.ts"
import { configOf } from "../host.ts"
import { print, printJson, styled, table } from "../terminal.ts"

export const log: Command = {
  name: "log",
  summary: "what is on record",
  takes: "[runs | verify]",
  subcommands: ["runs", "verify"],
  options: {
    run: { value: "RUN", describe: "the run to show (the last)" },
    follow: { describe: "go on with what happens next", short: "f" }
  },
  examples: ["haft log", "haft log runs", "haft log --run 20261116T101500-1f2e3d4c --json", "haft log --follow"],
  run: async (given) => {
    const { followRun, readRun, runsOf, verifyRun } = await import("haft")
    const { config } = await configOf(given)
    const run = given.value("run")
    const show = (event: JournalEvent): void =>
      given.has("json") ? print(JSON.stringify(event)) : print(lineOf(event))
    const [verb] = given.positionals
    if (verb === "runs") {
      const runs = await runsOf(config)
      if (given.has("json")) printJson(runs)
      else print(table(runs.map(({ name, bytes }) => [name, `${bytes} bytes`])))
      return 0
    }
    if (verb === "verify") {
      const verification = await verifyRun(config, run)
      if (given.has("json")) printJson(verification)
      else if (verification.intact) print(`✓ ${verification.events} events, as they were written`)
      else print(`✗ line ${verification.line}: ${verification.problem}`)
      return verification.intact ? 0 : 1
    }
    if (given.has("follow")) {
      const controller = new AbortController()
      process.once("SIGINT", () => controller.abort()).once("SIGTERM", () => controller.abort())
      await followRun(config, run, { onEvent: show, signal: controller.signal })
      return 0
    }
    for (const event of await readRun(config, run === undefined ? {} : { run })) show(event)
    return 0
  }
}

const lineOf = (event: JournalEvent): string => {
  const text = (field: string): string => {
    const value = event[field]
    return typeof value === "string" || typeof value === "number" ? String(value) : ""
  }
  const { status, duration_sec: seconds, decision } = event
  const outcome = [
    ...(status === undefined ? [] : [status === "success" ? "✓" : `✗ ${text("error")}`]),
    ...(typeof seconds === "number" ? [`${Math.round(seconds * 1000)}ms`] : []),
    ...(decision === undefined ? [] : [`${text("decision")} by ${text("by")}: ${text("reason")}`])
  ]
  const head = [
    styled(process.stdout, "dim", text("at")),
    text("step").padStart(4),
    event.type.padEnd(18),
    text("tool")
  ]
  return [...head, ...outcome].join(" ").trimEnd()
}
