import { subjectOf } from "../matching/subject.ts"
import { type CompiledRule, compileRule } from "./compile-rule.ts"
import { generalize } from "./generalize.ts"
import { Rule, type TouchConditions } from "./rule.ts"
import type { SimulatedCall } from "./simulate.ts"

const maximumProposals = 10
/** A rule that spares a single question is what "always" is for. */
const leastQuestions = 2

/**
 * The fewest narrow rules that would have answered the questions which a person answered with yes. A rule is proposed
 * only when it holds for none of the calls that were denied.
 */
export const proposeRules = (
  calls: ReadonlyArray<SimulatedCall>,
  workspace: string
): ReadonlyArray<{ readonly rule: Rule; readonly questionsSpared: number }> => {
  const asked = calls.filter(({ simulated }) => simulated.decision === "ask")
  const approved = asked.filter(({ recorded, isRedacted }) => recorded.decision === "allow" && !isRedacted)
  const refused = calls.filter(({ recorded }) => recorded.decision === "deny" && recorded.by !== "nobody")
  const candidates = candidatesFor(approved)
  for (const id of candidatesFor(refused).keys()) candidates.delete(id)

  const proposals: Array<{ rule: Rule; questionsSpared: number }> = []
  while (proposals.length < maximumProposals) {
    const best = bestOf(candidates)
    if (best === undefined) break
    const [id, { tool, dialect, touches, covered }] = best
    candidates.delete(id)
    const rule = Rule.parse({ id: `proposal-${proposals.length + 1}`, tool, dialect, touches, workspace })
    const compiled = compileRule(rule)
    if (refused.some((call) => holdsFor(compiled, call))) continue
    proposals.push({ rule, questionsSpared: covered.size })
    for (const call of covered) {
      for (const other of idsOf(call)) candidates.get(other)?.covered.delete(call)
    }
  }
  return proposals
}

/** Conditions that a rule could have, and the calls that led to them. */
interface Candidate {
  readonly tool: string
  readonly dialect: string
  readonly touches: TouchConditions
  readonly covered: Set<SimulatedCall>
}

// The covered calls follow from how calls are generalized: trying every candidate on every call would take too long.
const candidatesFor = (calls: ReadonlyArray<SimulatedCall>): Map<string, Candidate> => {
  const candidates = new Map<string, Candidate>()
  for (const call of calls) {
    const { tool, request } = call
    const { dialect } = request.call
    for (const { touches } of generalize(request.facts)) {
      const id = idOf(call, touches)
      const known = candidates.get(id)
      if (known === undefined) candidates.set(id, { tool, dialect, touches, covered: new Set([call]) })
      else known.covered.add(call)
    }
  }
  return candidates
}

const idOf = ({ tool, request }: SimulatedCall, touches: TouchConditions): string =>
  JSON.stringify([request.call.dialect, tool, touches])

const idsOf = (call: SimulatedCall): ReadonlyArray<string> =>
  generalize(call.request.facts).map(({ touches }) => idOf(call, touches))

const bestOf = (candidates: ReadonlyMap<string, Candidate>): readonly [string, Candidate] | undefined => {
  let best: readonly [string, Candidate] | undefined
  for (const entry of candidates) {
    const [, { covered, touches }] = entry
    if (covered.size < leastQuestions) continue
    const lead = best === undefined ? 1 : covered.size - best[1].covered.size
    if (lead > 0 || (lead === 0 && best !== undefined && breadth(touches) < breadth(best[1].touches))) best = entry
  }
  return best
}

const holdsFor = ({ rule, fits }: CompiledRule, { tool, request }: SimulatedCall): boolean =>
  rule.tool === tool &&
  rule.dialect === request.call.dialect &&
  fits(subjectOf(request, { workspace: rule.workspace ?? "", now: 0 })) === "yes"

const breadth = ({ writes, runs, fetches }: TouchConditions): number => {
  const [condition = ""] = [writes ?? runs ?? fetches ?? []].flat()
  return condition.endsWith("**") ? 100 - condition.split(/[/ ]/).length : 0
}
