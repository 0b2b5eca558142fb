import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import type { ApprovedState, Call, Party } from "../pipeline/call.ts"
import type { Facts } from "../touches.ts"
import type { RefusedHunk } from "./refuse-hunks.ts"

/** Everything a policy may look at before it decides. */
export interface ApprovalRequest {
  readonly call: Call
  /** Decoded arguments: keys in schema order, defaults filled in. */
  readonly input: Readonly<Record<string, unknown>>
  readonly facts: Facts
  /** The values of fields that a caller leaves out; required fields are missing. Absent where that is not known. */
  readonly defaults?: () => Readonly<Record<string, unknown>>
  /** The contract's own wish: true where it wants a person to confirm. */
  readonly asks: boolean
  /** True for a tool that reaches beyond this machine. */
  readonly openWorld?: true
  /** True where nothing is going to run: what is judged then does not count as used. */
  readonly isPreview?: true
  /**
   * True for what a command really changed, after it ran and before that is committed. Only rules about written paths
   * apply: the call itself was judged before.
   */
  readonly isEffects?: true
}

/** Approval request as shown to a person. */
export interface ApprovalQuestion extends ApprovalRequest {
  /** Why there is a question, in words. */
  readonly reason: string
  /** The rule that wants a person, where one does. */
  readonly rule?: string
  readonly basis?: VerdictBasis
  /** A unified diff, for calls that change files. */
  readonly preview?: string
  /** The state of every touched file now; the answer holds for exactly this state. */
  readonly state: ApprovedState
  /** True where the preview is a diff whose hunks can be refused one by one. */
  readonly isDivisible?: true
  /** Rules that an answer can store, to be shown before it does; the first is the narrowest. */
  readonly offers?: ReadonlyArray<RememberOffer>
}

/** A rule that an answer can store. */
export interface RememberOffer {
  /** Names it among the offers of its question. */
  readonly id: string
  /** Scope, as text. */
  readonly label: string
  /** The rule itself, as it would be stored. */
  readonly rule: object
}

/** How far a remembered answer reaches: until this host ends, in this workspace, in all that keep their state together. */
export const rememberScopes = ["run", "workspace", "always"] as const

/** An offer that a person took up. */
export interface Remembering {
  readonly offer: string
  readonly scope: (typeof rememberScopes)[number]
  /** When the rule is over, as ISO 8601; never when absent. */
  readonly expires?: string
}

/**
 * Basis of a verdict: a rule, a protected path, the mode of the workspace, a setting of the host, or the contract's
 * own table. `error` where the policy could not judge.
 */
export type VerdictBasis = "rule" | "protected_path" | "mode" | "setting" | "contract" | "error"

export interface Verdict {
  readonly decision: "allow" | "ask" | "deny"
  readonly reason: string
  readonly basis?: VerdictBasis
  /** The rule that decided, where one did. */
  readonly rule?: string
  /** Workspace files besides those touched whose state a person's answer depends on: scripts that a command runs. */
  readonly dependsOn?: ReadonlyArray<string>
  /** Messages of people to the caller besides the decision, returned with the reply. */
  readonly notes?: ReadonlyArray<string>
}

export interface Answer {
  readonly approved: boolean
  /** True where nobody answered: the time was over, or nobody could be reached. That is a no, but nobody's. */
  readonly unanswered?: boolean
  /** True where nobody was asked, because too many questions wait already. */
  readonly overloaded?: boolean
  readonly reason?: string
  /** Comment for whoever made the call, with an approval or a denial. */
  readonly comment?: string
  /** Arguments the person changed; they are validated, assessed and judged anew. */
  readonly modifiedArgs?: Readonly<Record<string, unknown>>
  /** Hunks of the preview that are not to be made; the rest is approved. Only for a question that is divisible. */
  readonly refusedHunks?: ReadonlyArray<RefusedHunk>
  /** Store a rule that the question offered, so that calls like this one are not asked about. */
  readonly remember?: Remembering
  /** Name of the one who answered, where it is known. */
  readonly by?: Party
}

/** Puts a question to whoever made the call, for callers that have a person at hand. */
export type AskCaller = (question: ApprovalQuestion) => Effect.Effect<Answer>

/** Decides whether a call may run. The road asks it for every call; tools never do. */
export class Approver extends Context.Service<
  Approver,
  {
    /** The policy's decision, without asking anybody. */
    readonly judge: (request: ApprovalRequest) => Effect.Effect<Verdict>
    /** A person's answer to a question the policy left open. */
    readonly ask: (question: ApprovalQuestion) => Effect.Effect<Answer>
  }
>()("@haft/core/Approver") {}

/** Lets through what the contract does not ask about, and answers no to everything else. */
export const denyAll: Layer.Layer<Approver> = Layer.succeed(Approver, {
  judge: ({ asks }) =>
    Effect.succeed(
      asks
        ? { decision: "deny", reason: "this call needs approval and nobody is there to give it" }
        : { decision: "allow", reason: "the contract does not ask for approval" }
    ),
  ask: () => Effect.succeed({ approved: false, unanswered: true, reason: "nobody is there to approve" })
})
