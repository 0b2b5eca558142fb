import {
  type Answer,
  type ApprovalQuestion,
  type ApprovalRequest,
  Approver,
  type Risk,
  type Verdict,
  Workspace
} from "@haft/core"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import type { AgentControl } from "./agent-control.ts"
import { Asker } from "./askers/asker.ts"
import { type ApprovalMode, type ModeLimits, modeSwitch, type ModeSwitch } from "./modes.ts"
import { type AnswerPolicy, decide } from "./policy.ts"
import { RuleStore } from "./rules/rule-store.ts"

export interface PolicyApproverOptions {
  /** `ask` a person, approve `all`, or refuse all that would have to be asked (`none`). Rules hold in any case. */
  readonly answers?: AnswerPolicy
  /** How much runs without a question: a mode, or a switch for one that changes. `ask` by default. */
  readonly mode?: ApprovalMode | ModeSwitch
  readonly modeLimits?: ModeLimits
  /** Risks that are asked about even where the contract does not. */
  readonly ask?: ReadonlyArray<Risk>
  /** No answer within this time is a no. Five minutes by default. */
  readonly timeout?: Duration.Input
  /** Holds calls of paused agents, and has messages for them. */
  readonly agents?: AgentControl
}

const unbound = "which files it executes is settled only as it runs, so they may change after the answer"

/** Decides by rules and by the contract's wish, and asks a person where both leave it open. */
export const policyApprover = (
  options: PolicyApproverOptions = {}
): Layer.Layer<Approver, never, RuleStore | Asker | Workspace> =>
  Layer.effect(
    Approver,
    Effect.gen(function* () {
      const store = yield* RuleStore
      const asker = yield* Asker
      const { root: workspace } = yield* Workspace
      const { answers = "ask", mode = "ask", modeLimits, ask: alsoAsk = [], timeout = "5 minutes" } = options
      const { current } = typeof mode === "string" ? modeSwitch(mode) : mode
      const limits = modeLimits === undefined ? {} : { modeLimits }

      // A clock that is set back does not bring back a rule that was over.
      let latest = 0
      const currentTime = Effect.map(Clock.currentTimeMillis, (now) => (latest = Math.max(latest, now)))

      const decideNow = Effect.fnUntraced(function* (request: ApprovalRequest): Effect.fn.Return<Verdict> {
        for (;;) {
          const rules = yield* store.current
          const now = yield* currentTime
          const mode = current()
          const judgingCommands = request.facts.runs === undefined || mode === "ask" ? {} : yield* readingCommands
          const settings = { rules, answers, mode, ...limits, ...judgingCommands, alsoAsk, workspace, now }
          const verdict = decide(request, settings)
          const { runs, reads, types } = request.facts
          const line = types?.text ?? runs
          if (verdict.decision === "ask" && line !== undefined) {
            // Loaded with the first question, as most hosts start faster than people answer.
            const { executedFiles } = yield* Effect.promise(() => import("./matching/executed-files.ts"))
            const directory = runs === undefined ? "." : (reads[0] ?? ".")
            const { paths, isComplete } = executedFiles(line, directory, variablesIn(request.input))
            const reason = isComplete ? verdict.reason : `${verdict.reason}; ${unbound}`
            return { ...verdict, reason, dependsOn: paths }
          }
          if (
            request.isPreview === true ||
            verdict.decision !== "allow" ||
            verdict.rule === undefined ||
            "unreadable" in rules
          )
            return verdict
          const rule = rules.rules.find(({ id }) => id === verdict.rule)
          if (rule?.maximumUses === undefined) return verdict
          // Counted before it allows. When another call took the last use, the rules are looked at again.
          const counted = yield* Effect.result(store.use(rule.id))
          if (counted._tag === "Failure") return { decision: "deny", reason: counted.failure.message }
          if (counted.success) return verdict
        }
      })

      const judge: Approver["Service"]["judge"] = Effect.fnUntraced(function* (request) {
        const { agents } = options
        if (agents === undefined || request.isPreview === true || request.isEffects === true) {
          return yield* decideNow(request)
        }
        const notes = yield* agents
          .admit(request.call)
          .pipe(Effect.timeoutOrElse({ duration: timeout, orElse: () => Effect.succeed(undefined) }))
        if (notes === undefined) return { decision: "deny", reason: "a person has paused this agent", basis: "setting" }
        const verdict = yield* decideNow(request)
        return notes.length === 0 ? verdict : { ...verdict, notes }
      })

      const ask = Effect.fnUntraced(function* (question: ApprovalQuestion) {
        const now = yield* Clock.currentTimeMillis
        // Loaded with the first question, for the same reason as the rules: most hosts start faster than people answer.
        const { bindingOf, chosenRule, offersFor } = yield* Effect.promise(() => import("./rules/remember.ts"))
        const { offers, whyNone } = offersFor(question, { workspace, now })
        const binding = bindingOf(question, workspace)
        const expiresAt = now + Duration.toMillis(timeout)
        const whyNoOffer = whyNone === undefined ? {} : { whyNoOffer: whyNone }
        const answer: Answer = yield* asker
          .ask({ ...question, workspace, binding, offers, ...whyNoOffer, expiresAt })
          .pipe(
            Effect.timeoutOrElse({
              duration: timeout,
              orElse: () => Effect.succeed({ approved: false, unanswered: true, reason: "nobody answered in time" })
            })
          )
        const { remember, ...plain } = answer
        if (!plain.approved || remember === undefined || plain.modifiedArgs !== undefined) return plain
        // A rule would allow the whole of what was approved in part.
        if (plain.refusedHunks !== undefined) return plain
        const rule = chosenRule(offers, remember)
        if (rule === undefined) return { ...plain, reason: "approved this once; there was no such rule to store" }
        // The call was approved whether or not the rule can be kept.
        const kept = yield* Effect.result(remember.scope === "run" ? store.addForRun(rule) : store.add(rule))
        if (kept._tag === "Success")
          return { ...plain, reason: `approved, and ${untilWhen[remember.scope]} by rule ${rule.id}` }
        return { ...plain, reason: `approved this once; the rule could not be stored: ${kept.failure.message}` }
      })

      return { judge, ask: (question): Effect.Effect<Answer> => ask(question) }
    })
  )

/** Values of the environment variables that a call sets: the strings in arguments that are maps. */
const variablesIn = (input: Readonly<Record<string, unknown>>): ReadonlyArray<string> =>
  Object.values(input)
    .filter((value) => typeof value === "object" && value !== null && !Array.isArray(value))
    .flatMap((map) => Object.values(map as object).filter((value) => typeof value === "string"))

// Loaded with the first command that a mode judges: the command parser is large.
const readingCommands = Effect.promise(async () => {
  const { onlyReads } = await import("./matching/reading-commands.ts")
  return { onlyReads }
})

const untilWhen = { run: "in this run", workspace: "from now on", always: "from now on, everywhere," } as const
