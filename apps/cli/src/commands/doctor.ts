import type { Finding } from "haft/internal"

import { optionsForSettings, type Subcommand } from "../command.ts"
import { configOf } from "../host.ts"
import { wrapped } from "../table.ts"
import { print, printJson, styled } from "../terminal.ts"
import { standardPort } from "./serve.ts"

export const doctor: Subcommand = {
  name: "doctor",
  summary: "what works on this machine, what is missing, and how to mend it",
  examples: ["haft doctor", "haft doctor --json"],
  run: async (given) => {
    const [{ config, file }, { examine }] = await Promise.all([configOf(given), import("haft/internal")])
    const findings = [...(await examine(config)), await port()]
    if (given.has("json")) printJson({ version: given.version, config: file ?? null, findings })
    else printFindings(findings)
    return findings.some(({ state }) => state === "missing") ? 1 : 0
  }
}

const marks = { ok: ["green", "✓"], limited: ["yellow", "!"], missing: ["red", "✗"] } as const

export const printFindings = (findings: ReadonlyArray<Finding>): void => {
  const told = new Map<string, string>()
  for (const { subject, state, found, mend, settings, enforced = [], notEnforced = [] } of findings) {
    const [color, mark] = marks[state]
    print(wrapped(`${styled(process.stdout, color, mark)} ${subject}: ${found}`, 4))
    if (mend !== undefined) print(wrapped(`    ${mend}`, 4))
    const options = optionsForSettings(settings)
    if (options.length > 0) print(`    On the command line: ${options.join(" or ")}`)
    const limits = JSON.stringify([enforced, notEnforced])
    const before = told.get(limits)
    if (before !== undefined) {
      print(`    the same limits as ${before}`)
      continue
    }
    if (enforced.length > 0) told.set(limits, subject)
    for (const limit of enforced) print(wrapped(`    ${styled(process.stdout, "green", "+")} ${limit}`, 6))
    for (const { limit, mend: itsMend } of notEnforced) {
      print(wrapped(`    ${styled(process.stdout, "yellow", "-")} not here: ${limit}`, 6))
      if (itsMend !== undefined) print(wrapped(`      ${itsMend}`, 6))
    }
  }
}

const port = async (): Promise<Finding> => {
  const { createServer } = await import("node:net")
  return new Promise((resolve) => {
    const subject = `Port ${standardPort}`
    const server = createServer()
    server.once("error", ({ message }) => {
      const mend = "haft serve needs another one here, if it is not haft serve that has it: haft serve --port 0"
      resolve({ subject, state: "limited", found: message, mend })
    })
    server.listen(standardPort, "127.0.0.1", () => {
      server.close(() => resolve({ subject, state: "ok", found: "free for haft serve" }))
    })
  })
}
