import type { ApprovalRequest, Facts, JournalEvent, Risk, Verdict } from "@haft/core"
import { isProtectedPath, recordedCalls, type RecordedCall } from "@haft/core/internal"

import { onlyReads } from "../matching/reading-commands.ts"
import type { ApprovalMode, ModeLimits } from "../modes.ts"
import { type AnswerPolicy, decide } from "../policy.ts"
import { proposeRules } from "./propose-rules.ts"
import type { RuleSet } from "./rule-set.ts"
import type { Rule } from "./rule.ts"

export interface SimulationOptions {
  readonly rules: RuleSet
  readonly answers?: AnswerPolicy
  readonly mode?: ApprovalMode
  readonly modeLimits?: ModeLimits
  readonly ask?: ReadonlyArray<Risk>
  readonly workspace: string
  /** The time rules are tried at; the call's own when absent. */
  readonly now?: number
  /** Decodes recorded arguments as the host would; the record has them as the caller sent them. */
  readonly decode?: (call: RecordedCall) => Readonly<Record<string, unknown>> | undefined
  /** The values of fields that a caller of the tool may leave out. */
  readonly defaults?: (call: RecordedCall) => Readonly<Record<string, unknown>> | undefined
}

/** One recorded call under the rules that are tried. */
export interface SimulatedCall {
  readonly requestId: string
  readonly tool: string
  readonly recorded: Pick<NonNullable<RecordedCall["approval"]>, "decision" | "by" | "reason">
  readonly simulated: Verdict
  /**
   * `less`: runs without the question, or where it was denied. `more`: asks or denies where it ran by itself.
   * `same`: nothing changes for the person.
   */
  readonly change: "same" | "less" | "more"
  /** The record hides secrets: what rules say about hidden arguments may differ from what they would have said. */
  readonly isRedacted: boolean
  readonly request: ApprovalRequest
}

export interface Simulation {
  readonly calls: ReadonlyArray<SimulatedCall>
  readonly counts: { readonly allow: number; readonly ask: number; readonly deny: number }
  readonly flips: ReadonlyArray<SimulatedCall>
  /** Calls that never came as far as a decision, such as those with wrong parameters. */
  readonly undecided: number
  /** The fewest narrow rules that would have spared most of the questions. */
  readonly proposals: ReadonlyArray<{ readonly rule: Rule; readonly questionsSpared: number }>
}

/** Says for a recorded run what rules would have allowed, asked and denied. */
export const simulate = (events: Iterable<JournalEvent>, options: SimulationOptions): Simulation => {
  const recorded = recordedCalls(events)
  const calls = recorded.flatMap((call) => simulateCall(call, options))
  const counts = { allow: 0, ask: 0, deny: 0 }
  for (const { simulated } of calls) counts[simulated.decision] += 1
  return {
    calls,
    counts,
    flips: calls.filter(({ change }) => change !== "same"),
    undecided: recorded.length - calls.length,
    proposals: proposeRules(calls, options.workspace)
  }
}

const simulateCall = (call: RecordedCall, options: SimulationOptions): ReadonlyArray<SimulatedCall> => {
  const { approval, touches } = call
  // Touches on record are those of the edited arguments.
  const input = options.decode?.(call) ?? call.editedParams ?? call.params
  if (approval === undefined || touches === undefined || !isObject(input)) return []
  const facts = factsOf(touches)
  const { requestId: id, step, tool, operation = tool, dialect, startedAt } = call
  const defaults = options.defaults?.(call)
  const request: ApprovalRequest = {
    call: { id, step, tool, operation, dialect, startedAt },
    input,
    facts,
    asks: approval.asks,
    ...(defaults !== undefined && { defaults: () => defaults })
  }
  const simulated = decide(request, {
    rules: options.rules,
    answers: options.answers ?? "ask",
    onlyReads,
    mode: options.mode ?? "ask",
    ...(options.modeLimits !== undefined && { modeLimits: options.modeLimits }),
    alsoAsk: options.ask ?? [],
    workspace: options.workspace,
    now: options.now ?? startedAt
  })
  const { decision, by, reason } = approval
  const before = by === "policy" ? decision : "ask"
  const change =
    simulated.decision === before ? "same" : strictness[simulated.decision] < strictness[before] ? "less" : "more"
  return [
    { requestId: id, tool, recorded: { decision, by, reason }, simulated, change, isRedacted: call.isRedacted, request }
  ]
}

const strictness = { allow: 0, ask: 1, deny: 2 } as const

const factsOf = (touches: NonNullable<RecordedCall["touches"]>): Facts => ({
  risk: touches.risk,
  reads: touches.reads ?? [],
  ...(touches.directories !== undefined && { directories: touches.directories }),
  writes: (touches.writes ?? []).map(({ path, exists }) => ({ path, exists, isProtected: isProtectedPath(path) })),
  ...(touches.runs !== undefined && { runs: touches.runs }),
  ...(touches.network !== undefined && { network: touches.network }),
  ...(touches.confined !== undefined && { confined: touches.confined }),
  ...(touches.removedFiles !== undefined && { removedFiles: touches.removedFiles }),
  ...(touches.replacedBytes !== undefined && { replacedBytes: touches.replacedBytes }),
  ...(touches.fetches !== undefined && { fetches: touches.fetches }),
  ...(touches.types !== undefined && { types: { terminal: touches.types, text: "" } })
})

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
