import type { FileDifference, Replay } from "haft/internal"

import type { Subcommand } from "../../command.ts"
import { configOf } from "../../host.ts"
import { print, printJson } from "../../terminal.ts"

export const replay: Subcommand = {
  name: "replay",
  summary: "make the calls of a run again on a copy of the workspace, and compare replies and files",
  takes: "[RUN]",
  atMost: 1,
  options: { into: { value: "DIR", describe: "make the copy there, and keep it (a temporary directory)" } },
  examples: ["haft replay", "haft replay 20261116T101500-1f2e3d4c --into ../copy"],
  run: async (given) => {
    const [{ replayRun, visibleText }, { config }] = await Promise.all([import("haft/internal"), configOf(given)])
    const [run] = given.positionals
    const into = given.value("into")
    const replayed = await replayRun(config, { ...(run !== undefined && { run }), ...(into !== undefined && { into }) })
    if (given.has("json")) printJson(replayed)
    else printReplay(replayed, visibleText)
    return replayed.files.length > 0 || replayed.calls.some(({ outcome }) => outcome === "different") ? 1 : 0
  }
}

const marks = { same: "✓", different: "✗", skipped: "-" } as const

const printReplay = ({ calls, files, whyNotBefore }: Replay, visible: (text: string) => string): void => {
  const shown = (value: unknown): string => visible(JSON.stringify(value) ?? "nothing")
  if (whyNotBefore !== undefined) print(`Begins with the workspace as it is now: ${whyNotBefore}`)
  for (const { call, outcome, differences, whySkipped } of calls) {
    const why = whySkipped === undefined ? "" : `: ${whySkipped}`
    print(`${marks[outcome]} #${call.step} ${visible(call.tool)}: ${outcome}${visible(why)}`)
    for (const { where, recorded, replayed: now } of differences) {
      print(`    ${visible(where) || "the reply"} was ${shown(recorded)}, is ${shown(now)}`)
    }
  }
  for (const { path, kind } of files) print(`✗ ${visible(path)} ${inWords[kind]}`)
  if (files.length === 0) print("✓ the files are what the run left behind")
}

const inWords: Readonly<Record<FileDifference["kind"], string>> = {
  missing: "is missing",
  unexpected: "was not there after the run",
  different: "is different"
}
