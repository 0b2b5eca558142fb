import type { Answer, ApprovalQuestion, RememberOffer } from "@haft/core"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

import type { Rule } from "../rules/rule.ts"

/** A question on its way to a person. */
export interface Question extends ApprovalQuestion {
  /** Absolute path of the workspace. */
  readonly workspace: string
  /** Hash of tool, arguments, workspace and the state of what is touched: what the answer holds for. */
  readonly binding: string
  /** When the question times out, in milliseconds since the epoch. Infinite where it never does. */
  readonly expiresAt?: number
  readonly offers: ReadonlyArray<RuleOffer>
  /** Why no rule can be stored, where none is offered. */
  readonly whyNoOffer?: string
}

/** A rule that an answer can store. */
export interface RuleOffer extends RememberOffer {
  readonly rule: Rule
}

/**
 * A way to ask a person. Several questions may be open at once. An asker that is interrupted takes its question back;
 * one that can't reach anybody answers no.
 */
export class Asker extends Context.Service<Asker, { readonly ask: (question: Question) => Effect.Effect<Answer> }>()(
  "@haft/approval/Asker"
) {}
