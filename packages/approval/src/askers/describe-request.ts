import { visibleLines, visibleText } from "@haft/core"

import type { Rule } from "../rules/rule.ts"
import type { Question } from "./asker.ts"
import { severityOf, type SeverityReport } from "./severity.ts"

/** A question as people see it: whole, and with nothing hidden. Every asker shows this and nothing else. */
export interface RequestDescription {
  readonly tool: string
  readonly reason: string
  readonly risk: string
  /** How much it can do, from what it touches. */
  readonly severity: SeverityReport
  readonly parameters: ReadonlyArray<{ readonly name: string; readonly value: string }>
  readonly filesAffected: ReadonlyArray<string>
  readonly command?: string
  /** True where the command may use the network. */
  readonly network?: true
  readonly url?: string
  readonly host?: string
  /** Text that would be typed, and the terminal. */
  readonly types?: string
  /** A unified diff, or the long parameters in full where there is no diff. */
  readonly detail?: string
}

export const describeRequest = (question: Question): RequestDescription => {
  const { call, facts, input, preview, reason } = question
  const entries = Object.entries(input).filter(([, value]) => value !== undefined)
  const long = entries.filter(([name, value]) => isLong(name, value))
  const detail = preview ?? long.map(([name, value]) => `${name}:\n${textOf(value)}`).join("\n")
  return {
    tool: visibleText(call.tool),
    reason: visibleText(reason),
    risk: facts.risk,
    severity: shownSeverity(facts),
    parameters: entries.map(([name, value]) => ({
      name: visibleText(name),
      value: isLong(name, value)
        ? `<${new TextEncoder().encode(textOf(value)).length} bytes>`
        : visibleText(textOf(value))
    })),
    filesAffected: facts.writes.map(({ path }) => visibleText(path)),
    ...(facts.runs !== undefined && { command: visibleText(facts.runs) }),
    ...(facts.network !== undefined && { network: facts.network }),
    ...(facts.fetches !== undefined && {
      url: visibleText(facts.fetches),
      host: visibleText(URL.parse(facts.fetches)?.host ?? "unreadable")
    }),
    ...(facts.types !== undefined && {
      types: visibleText(`${facts.types.text} (into terminal ${facts.types.terminal})`)
    }),
    ...(detail !== "" && { detail: visibleLines(detail) })
  }
}

const shownSeverity = (facts: Question["facts"]): SeverityReport => {
  const { level, reasons } = severityOf(facts)
  return { level, reasons: reasons.map(visibleText) }
}

/** The lines of a question, without the prompt. */
export const printRequest = (description: RequestDescription, { call }: Pick<Question, "call">): string => {
  const { tool, reason, parameters, filesAffected, risk, severity, command, network, url, host, types } = description
  const because = severity.reasons.length === 0 ? "" : ` (${severity.reasons.join("; ")})`
  const shown = new Set(parameters.map(({ value }) => value))
  const lines = [
    `Tool: ${tool}`,
    ...(parameters.length > 0 ? ["Parameters:", ...parameters.map(({ name, value }) => `  ${name}: ${value}`)] : []),
    ...(command !== undefined && !shown.has(command) ? [`Command: ${command}`] : []),
    ...(network === true ? ["Network: it may use it"] : []),
    ...(url !== undefined ? [`Host: ${host}`, ...(shown.has(url) ? [] : [`URL: ${url}`])] : []),
    ...(types !== undefined ? [`Types: ${types}`] : []),
    ...(filesAffected.length > 0 ? [`Files affected: ${filesAffected.join(", ")}`] : []),
    `Risk level: ${risk}`,
    // cliagent's contract has no line for this.
    ...(call.dialect === "cliagent" ? [] : [`Severity: ${severity.level}${because}`, `Asked because: ${reason}`])
  ]
  return lines.join("\n")
}

/** A rule as it would be stored, with nothing hidden. */
export const printRule = (rule: Rule): string => JSON.stringify(rule, null, 2).split("\n").map(visibleText).join("\n")

/** The question put at the end, with the answers that are on offer. */
export const promptOf = (question: Question): string => {
  const isRememberable = question.offers.length > 0
  // cliagent's contract words this line; editing is understood there all the same.
  const answers = [
    "y",
    "n",
    ...(isRememberable ? ["always"] : []),
    ...(question.call.dialect === "cliagent" ? [] : ["edit"])
  ]
  return `Approve? (${answers.join("/")}):`
}

// A file's content is shown as its size here, and in full in the detail.
const isLong = (name: string, value: unknown): boolean => {
  const text = textOf(value)
  return (typeof value === "string" && name === "content") || text.length > 300 || text.includes("\n")
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""))
