import type { Command } from "../command.ts"
import { configOf } from "../host.ts"
import { print, printJson, styled } from "../terminal.ts"

const marks = { ok: ["green", "✓"], limited: ["yellow", "!"], missing: ["red", "✗"] } as const

export const doctor: Command = {
  name: "doctor",
  summary: "what works on this machine, what is missing, and how to mend it",
  examples: ["haft doctor", "haft doctor --json"],
  run: async (given) => {
    const [{ config, file }, { examine }] = await Promise.all([configOf(given), import("haft")])
    const findings = await examine(config)
    if (given.has("json")) printJson({ version: given.version, config: file ?? null, findings })
    else {
      for (const { subject, state, found, mend } of findings) {
        const [colour, mark] = marks[state]
        print(`${styled(process.stdout, colour, mark)} ${subject}: ${found}`)
        if (mend !== undefined) print(`    ${mend}`)
      }
    }
    return findings.some(({ state }) => state === "missing") ? 1 : 0
  }
}
