import type { EventFilter, JournalEvent } from "haft"

import type { Command, Given } from "../command.ts"
import { configOf } from "../host.ts"
import { print, printJson, table } from "../terminal.ts"

export const log: Command = {
  name: "log",
  summary: "what is on record",
  takes: "[runs | verify]",
  subcommands: ["runs", "verify"],
  options: {
    run: { value: "RUN", describe: "the run to show (the last)" },
    tool: { value: "NAME", describe: "only calls of this tool" },
    call: { value: "ID", describe: "only this call" },
    status: { value: "STATUS", describe: "only ends of calls: success or error", choices: ["success", "error"] },
    text: { value: "TEXT", describe: "only events with this text in them" },
    follow: { describe: "go on with what happens next", short: "f" }
  },
  examples: ["haft log", "haft log runs", "haft log --run 20261116T101500-1f2e3d4c --json", "haft log --follow"],
  run: async (given) => {
    const [haft, { config }] = await Promise.all([import("haft"), configOf(given)])
    const run = given.value("run")
    const isWanted = haft.eventFilter(filterOf(given))
    const show = (event: JournalEvent): void => {
      if (isWanted(event)) print(given.has("json") ? JSON.stringify(event) : haft.printEvent(event))
    }
    const [verb] = given.positionals
    if (verb === "runs") {
      const runs = await haft.runsOf(config)
      if (given.has("json")) printJson(runs)
      else print(table(runs.map(({ name, bytes }) => [name, `${bytes} bytes`])))
      return 0
    }
    if (verb === "verify") {
      const verification = await haft.verifyRun(config, run)
      if (given.has("json")) printJson(verification)
      else if (verification.intact) print(`✓ ${verification.events} events, as they were written`)
      else print(`✗ line ${verification.line}: ${verification.problem}`)
      return verification.intact ? 0 : 1
    }
    if (given.has("follow")) {
      const controller = new AbortController()
      process.once("SIGINT", () => controller.abort()).once("SIGTERM", () => controller.abort())
      await haft.followRun(config, run, { onEvent: show, signal: controller.signal })
      return 0
    }
    for (const event of await haft.readRun(config, run === undefined ? {} : { run })) show(event)
    return 0
  }
}

const filterOf = (given: Given): EventFilter => {
  const [tool, request, status, text] = ["tool", "call", "status", "text"].map(given.value)
  return {
    ...(tool !== undefined && { tool }),
    ...(request !== undefined && { request }),
    ...(status !== undefined && { status: status as "success" | "error" }),
    ...(text !== undefined && { text })
  }
}
