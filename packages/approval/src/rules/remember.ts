import { createHash, randomUUID } from "node:crypto"

import type { ApprovalQuestion, Remembering } from "@haft/core"

import type { RuleOffer } from "../askers/asker.ts"
import { executedFiles } from "../matching/executed-files.ts"
import { readCommand, runsOthers } from "../matching/parse-command.ts"
import { stableJson } from "../matching/stable-json.ts"
import { type Generalization, generalize } from "./generalize.ts"
import { Rule, type TouchConditions } from "./rule.ts"
import { compileRules } from "./rules.ts"

/** Arguments longer than this are remembered by their hash. */
const longestExact = 4096

/** Directories that are offered for one change: the nearest, and one above it. */
const mostDirectories = 2

export interface Offers {
  readonly offers: ReadonlyArray<RuleOffer>
  /** Why there is none. */
  readonly whyNone?: string
}

/**
 * The rules that an answer can store, each of which covers the call: its command, files or host from narrow to wide, then
 * exactly its arguments. All of them are for this tool in this workspace.
 */
export const offersFor = (
  question: ApprovalQuestion,
  at: { readonly workspace: string; readonly now: number }
): Offers => {
  if (question.facts.connects !== undefined) {
    const { connects } = question.facts
    return {
      offers: [{ id: "host", label: `connections to ${connects}`, rule: connectionRule(connects, question, at) }]
    }
  }
  const whyNone = whyNotRemembered(question)
  if (whyNone !== undefined) return { offers: [], whyNone }
  const { call, facts, input } = question
  const written = (id: string, label: string, conditions: object): ReadonlyArray<RuleOffer> => {
    const rule = Rule.safeParse({
      id: `${call.tool}-${randomUUID().slice(0, 8)}`,
      tool: call.tool,
      dialect: call.dialect,
      decision: "allow",
      ...conditions,
      workspace: at.workspace,
      note: `${label}, answered to: ${question.reason}${laterVersions(question)}`,
      created: new Date(at.now).toISOString()
    })
    return rule.success && allows(rule.data, question, at) ? [{ id, label, rule: rule.data }] : []
  }
  const directories: Array<string> = []
  const general = generalize(facts).flatMap(({ width, touches }) => {
    if (width !== "directory") return written(width, labelOf(width, touches), { touches })
    const place = directories.push(String(touches.writes))
    return place > mostDirectories
      ? []
      : written(place === 1 ? width : "directory-above", labelOf(width, touches), { touches })
  })
  const json = stableJson(input)
  const exact =
    json.length > longestExact
      ? { exactlySha256: createHash("sha256").update(json).digest("hex") }
      : { exactly: JSON.parse(json) as unknown }
  const offers = [...general, ...written("exact", "exactly these arguments", exact)]
  return offers.length > 0 ? { offers } : { offers, whyNone: "these arguments can't be written down as a rule" }
}

const whyNotRemembered = ({ facts, input, isEffects }: ApprovalQuestion): string | undefined => {
  if (isEffects === true) return "what a command changed is never remembered"
  if (facts.types !== undefined) return "what is typed into a terminal is never remembered"
  if (facts.runs !== undefined) {
    const { words, parts, opaque } = readCommand(facts.runs)
    const commands = words === undefined ? (parts ?? []).map((part) => part.words) : [words]
    if (commands.length === 0) return `only simple commands can be remembered: ${opaque}`
    for (const command of commands) {
      const kind = runsOthers(command)
      if (kind !== undefined) {
        return `${command[0]} is an ${kind}: it runs whatever its arguments say`.replace("an w", "a w")
      }
    }
  }
  const isLong = facts.writes.some(({ isProtected }) => isProtected) && stableJson(input).length > longestExact
  return isLong ? "a rule for a protected file must spell it out, and these arguments are too long for that" : undefined
}

/** True if a rule that is offered would have spared this very question. */
const allows = (rule: Rule, question: ApprovalQuestion, at: { readonly workspace: string; readonly now: number }) =>
  compileRules([rule])
    .matches(question, at)
    .some(({ fit }) => fit === "yes")

const beginnings: Readonly<Record<Generalization["width"], string>> = {
  command: "the command",
  "command-prefix": "commands like",
  page: "fetches of",
  host: "fetches from",
  files: "changes of",
  directory: "changes below"
}

const labelOf = (width: Generalization["width"], { runs, fetches, writes }: TouchConditions): string => {
  const named = [runs ?? fetches ?? writes ?? []].flat().map((name) => name.replace(/\/\*\*$/, ""))
  return `${beginnings[width]} ${named.join(", ")}`
}

/** The rule that an answer stores: the one that was offered, for as long and as far as the person says. */
export const chosenRule = (
  offers: ReadonlyArray<RuleOffer>,
  { offer, scope, expires }: Remembering
): Rule | undefined => {
  const found = offers.find(({ id }) => id === offer)?.rule
  if (found === undefined) return undefined
  const { workspace, ...anywhere } = found
  const placed = scope === "always" || workspace === undefined ? anywhere : { ...anywhere, workspace }
  return expires === undefined ? placed : { ...placed, expires }
}

/** A rule for one host and port, whichever command connects. */
const connectionRule = (
  connects: string,
  question: ApprovalQuestion,
  at: { readonly workspace: string; readonly now: number }
): Rule =>
  Rule.parse({
    id: `${question.call.tool}-${randomUUID().slice(0, 8)}`,
    operation: question.call.operation,
    decision: "allow",
    touches: { connects },
    workspace: at.workspace,
    note: `connections to ${connects}, answered to: ${question.reason}`,
    created: new Date(at.now).toISOString()
  })

/** A rule outlives the scripts that it was made for, and whoever makes it should know. */
const laterVersions = ({ facts: { runs, reads }, state }: ApprovalQuestion): string => {
  const named = runs === undefined ? [] : executedFiles(runs, reads[0] ?? ".").paths
  const scripts = named.filter((path) => /^(?:sha256|stat):/.test(state.get(path) ?? ""))
  return scripts.length === 0 ? "" : `; covers later versions of ${scripts.join(", ")} too`
}

/** Scope of an answer: exactly this call, here, with the touched files as they are now. */
export const bindingOf = (question: ApprovalQuestion, workspace: string): string =>
  createHash("sha256")
    .update(
      JSON.stringify([
        question.call.dialect,
        question.call.tool,
        stableJson(question.input),
        workspace,
        [...question.state].toSorted(([one], [other]) => (one < other ? -1 : 1))
      ])
    )
    .digest("hex")
