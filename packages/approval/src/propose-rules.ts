import { Rule, type TouchConditions } from "./rule.ts"
import { type CompiledRule, compileRule, subjectOf } from "./rules.ts"
import { readCommand, runsOthers } from "./shell-words.ts"
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
  const refused = calls.filter(({ recorded }) => recorded.decision === "deny")
  const candidates = candidatesFor(approved, workspace).filter((rule) => !refused.some((call) => holdsFor(rule, call)))

  const proposals: Array<{ rule: Rule; questionsSpared: number }> = []
  let open = approved
  while (proposals.length < maximumProposals) {
    const [best] = candidates
      .map((candidate) => ({ candidate, covered: open.filter((call) => holdsFor(candidate, call)).length }))
      .filter(({ covered }) => covered >= leastQuestions)
      .toSorted((one, other) => other.covered - one.covered || breadth(one.candidate) - breadth(other.candidate))
    if (best === undefined) break
    const { rule } = best.candidate
    proposals.push({ rule: { ...rule, id: `proposal-${proposals.length + 1}` }, questionsSpared: best.covered })
    open = open.filter((call) => !holdsFor(best.candidate, call))
  }
  return proposals
}

const candidatesFor = (calls: ReadonlyArray<SimulatedCall>, workspace: string): ReadonlyArray<CompiledRule> => {
  const candidates = new Map<string, CompiledRule>()
  for (const { tool, request } of calls) {
    for (const touches of generalised(request.facts)) {
      const id = JSON.stringify([request.call.dialect, tool, touches])
      if (candidates.has(id)) continue
      const rule = Rule.parse({ id: "proposal", tool, dialect: request.call.dialect, touches, workspace })
      candidates.set(id, compileRule(rule))
    }
  }
  return [...candidates.values()]
}

// From narrow to broad: what was touched itself, then its directory and those above it, but never the whole workspace.
const generalised = (facts: SimulatedCall["request"]["facts"]): ReadonlyArray<TouchConditions> => {
  const { reads, writes, runs, fetches, types } = facts
  if (types !== undefined) return []
  if (runs !== undefined) {
    if (writes.length > 0 || fetches !== undefined || reads.some(hasWildcards)) return []
    const { words } = readCommand(runs)
    if (
      words === undefined ||
      runsOthers(words) !== undefined ||
      words.some((word) => /[*\s]/.test(word) || word === "")
    ) {
      return []
    }
    const [program = "", subcommand] = words
    const isSubcommand = subcommand !== undefined && /^[a-z][a-z0-9:-]*$/.test(subcommand)
    const where = reads.every((path) => path === ".") ? {} : { reads: [...reads] }
    return [
      { runs: words.join(" "), ...where },
      ...(isSubcommand && words.length > 2 ? [{ runs: `${program} ${subcommand} **`, ...where }] : [])
    ]
  }
  if (fetches !== undefined) {
    const host = URL.parse(fetches)?.host
    return host === undefined || host === "" || writes.length > 0 ? [] : [{ fetches: host }]
  }
  if (writes.length === 0 || writes.some(({ path, isProtected }) => isProtected || hasWildcards(path))) return []
  const paths = [...new Set(writes.map(({ path }) => path))]
  const shared = sharedDirectories(paths)
  return [{ writes: paths }, ...shared.map((directory) => ({ writes: `${directory}/**` }))]
}

const hasWildcards = (path: string): boolean => /[*?[\]{}\\]/.test(path)

const sharedDirectories = (paths: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [first = "", ...others] = paths
  const parts = first.split("/").slice(0, -1)
  const above = parts.map((_, place) => parts.slice(0, parts.length - place).join("/"))
  return above.filter((directory) => others.every((path) => path.startsWith(`${directory}/`)))
}

const holdsFor = ({ rule, fits }: CompiledRule, { tool, request }: SimulatedCall): boolean =>
  rule.tool === tool &&
  rule.dialect === request.call.dialect &&
  fits(subjectOf(request, { workspace: rule.workspace ?? "", now: 0 })) === "yes"

const breadth = ({ rule }: CompiledRule): number => {
  const conditions = [rule.touches?.writes ?? rule.touches?.runs ?? rule.touches?.fetches ?? []].flat()
  const [condition = ""] = conditions
  return condition.endsWith("**") ? 100 - condition.split(/[/ ]/).length : 0
}
