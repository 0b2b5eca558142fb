import { createHash, randomUUID } from "node:crypto"

import type { ApprovalQuestion } from "@haft/core"

import type { Question } from "../askers/asker.ts"
import { executedFiles } from "../matching/executed-files.ts"
import { readCommand, runsOthers } from "../matching/parse-command.ts"
import { stableJson } from "../matching/stable-json.ts"
import { Rule } from "./rule.ts"

/** Arguments longer than this are remembered by their hash. */
const longestExact = 4096

/** The rule that "always" stands for: this call in this workspace, and nothing else. Or why there is none. */
export const rememberedRule = (
  question: ApprovalQuestion,
  at: { readonly workspace: string; readonly now: number }
): Question["always"] => {
  const { call, facts, input } = question
  if (question.isEffects === true) return { whyNot: "what a command changed is never remembered" }
  if (facts.connects !== undefined) return { rule: connectionRule(facts.connects, question, at) }
  if (facts.types !== undefined) return { whyNot: "what is typed into a terminal is never remembered" }
  if (facts.runs !== undefined) {
    const { words, parts, opaque } = readCommand(facts.runs)
    const commands = words === undefined ? (parts ?? []).map((part) => part.words) : [words]
    if (commands.length === 0) return { whyNot: `only simple commands can be remembered: ${opaque}` }
    for (const command of commands) {
      const kind = runsOthers(command)
      if (kind === undefined) continue
      return { whyNot: `${command[0]} is an ${kind}: it runs whatever its arguments say`.replace("an w", "a w") }
    }
  }
  const json = stableJson(input)
  const isLong = json.length > longestExact
  if (isLong && facts.writes.some(({ isProtected }) => isProtected)) {
    return { whyNot: "a rule for a protected file must spell it out, and these arguments are too long for that" }
  }
  const rule = Rule.safeParse({
    id: `${call.tool}-${randomUUID().slice(0, 8)}`,
    tool: call.tool,
    dialect: call.dialect,
    decision: "allow",
    ...(isLong ? { exactlySha256: createHash("sha256").update(json).digest("hex") } : { exactly: JSON.parse(json) }),
    workspace: at.workspace,
    note: `always, answered to: ${question.reason}${laterVersions(question)}`,
    created: new Date(at.now).toISOString()
  })
  return rule.success ? { rule: rule.data } : { whyNot: "these arguments can't be written down as a rule" }
}

/** A rule for one host and port, whichever command connects. */
const connectionRule = (
  connects: string,
  { call }: ApprovalQuestion,
  at: { readonly workspace: string; readonly now: number }
): Rule =>
  Rule.parse({
    id: `${call.tool}-${randomUUID().slice(0, 8)}`,
    operation: call.operation,
    decision: "allow",
    touches: { connects },
    workspace: at.workspace,
    note: `always, answered to a question about ${connects}`,
    created: new Date(at.now).toISOString()
  })

/** A rule outlives the scripts that it was made for, and whoever makes it should know. */
const laterVersions = ({ facts: { runs, reads }, state }: ApprovalQuestion): string => {
  const named = runs === undefined ? [] : executedFiles(runs, reads[0] ?? ".").paths
  const scripts = named.filter((path) => /^(?:sha256|stat):/.test(state.get(path) ?? ""))
  return scripts.length === 0 ? "" : `; covers later versions of ${scripts.join(", ")} too`
}

/** What an answer holds for: exactly this call, here, with the touched files as they are now. */
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
