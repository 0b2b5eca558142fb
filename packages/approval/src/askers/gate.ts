import {
  type Answer,
  type Party,
  type Remembering,
  rememberScopes,
  reportProgress,
  type VerdictBasis
} from "@haft/core"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as z from "zod"

import { Asker, type Question, type RuleOffer } from "./asker.ts"
import { describeRequest, type RequestDescription } from "./describe-request.ts"

/** A question that waits for its answer, in the approvalgate contract's words and with what a person should see. */
export interface OpenRequest {
  readonly id: string
  readonly stepId: string
  /** Number of the call in its run. */
  readonly step: number
  readonly tool: string
  readonly args: Readonly<Record<string, unknown>>
  readonly reason: string
  readonly dialect: string
  /** The caller, where known by name. */
  readonly caller?: Party
  readonly description: RequestDescription
  readonly diff?: string
  /** Basis that the answer holds for; a response may repeat it, to be sure that it answers what was read. */
  readonly binding: string
  /** The rule that wants a person, where one does. */
  readonly rule?: string
  /** Basis of the policy's decision. */
  readonly basis?: VerdictBasis
  /** True where an answer can refuse some hunks of the diff and approve the rest. */
  readonly isDivisible?: true
  /** Rules that an answer can store with `remember`, the narrowest first. */
  readonly offers: ReadonlyArray<RuleOffer>
  /** Why none is offered. */
  readonly whyNoOffer?: string
  /** Milliseconds since the epoch. */
  readonly askedAt: number
  /** When the request times out, in milliseconds since the epoch. */
  readonly expiresAt?: number
}

export const GateResponse = z.strictObject({
  approved: z.boolean().describe("Whether the call may run."),
  modifiedArgs: z.record(z.string(), z.unknown()).optional().describe("Arguments to run instead; judged anew."),
  reason: z.string().max(2_000).optional().describe("A comment, with a yes or a no; whoever made the call is told."),
  remember: z
    .strictObject({
      offer: z.string().min(1).describe("The id of one of the request's offers."),
      scope: z.enum(rememberScopes).describe("Until the host ends, in this workspace, or in all that share its state."),
      expires: z.iso.datetime({ offset: true }).optional().describe("When the rule is over; never when absent.")
    })
    .optional()
    .describe("Store a rule that the request offers."),
  refusedHunks: z
    .array(z.strictObject({ path: z.string(), hunk: z.number().int().min(1) }))
    .max(10_000)
    .optional()
    .describe("Hunks of the diff that are not to be made, by file and number from 1; the rest is approved."),
  binding: z.string().optional().describe("The request's binding; an answer to another one is refused.")
})
export type GateResponse = z.output<typeof GateResponse>

/** `gone`: answered already, timed out or cancelled. */
export type GateOutcome = "accepted" | "gone" | "other_request"

export interface ApprovalGateService {
  /** Open requests, oldest first. */
  readonly open: () => ReadonlyArray<OpenRequest>
  /** Answers a request. The first answer counts. */
  readonly answer: (id: string, response: GateResponse, by?: Party) => GateOutcome
  /** Closes a request that nobody will answer. That is a no, and the reason is on record. */
  readonly giveUp: (id: string, reason: string) => void
  /** Calls back whenever a request is opened or closed; the returned function ends it. */
  readonly subscribe: (listener: (change: GateChange) => void) => () => void
}

export type GateChange =
  | { readonly type: "opened"; readonly request: OpenRequest }
  | {
      readonly type: "closed"
      readonly id: string
      readonly approved: boolean
      /** Milliseconds since the epoch. */
      readonly at: number
      /** True where nobody answered; the reason says why. */
      readonly unanswered?: true
      readonly reason?: string
      /** Name of the one who answered, where it is known. */
      readonly by?: Party
    }

/** A queue of open questions, for hosts whose people are elsewhere: behind HTTP, in a console. */
export class ApprovalGate extends Context.Service<ApprovalGate, ApprovalGateService>()("@haft/approval/ApprovalGate") {}

/** Limits of the questions that wait at a gate. Beyond them a call is refused instead of being asked about. */
export interface GateLimits {
  readonly questions: number
  /** Questions of one caller, where callers are known by name. */
  readonly perCaller: number
  /** Arguments and previews of all of them together, in characters. */
  readonly characters: number
}

const standardLimits: GateLimits = { questions: 100, perCaller: 50, characters: 32 * 1024 * 1024 }

interface Waiting {
  readonly request: OpenRequest
  readonly size: number
  readonly caller: string | undefined
  readonly answer: Deferred.Deferred<Answer>
}

/** Puts questions into an {@link ApprovalGate}, within limits. When the host ends, whatever is open is a no. */
export const askThroughLimitedGate = (limits: GateLimits): Layer.Layer<Asker | ApprovalGate> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const waiting = new Map<string, Waiting>()
      let characters = 0
      const listeners = new Set<(change: GateChange) => void>()
      const tell = (change: GateChange): void => {
        for (const listener of listeners) listener(change)
      }
      const close = (id: string, answer: Answer): void => {
        const found = waiting.get(id)
        if (found === undefined) return
        waiting.delete(id)
        characters -= found.size
        Deferred.doneUnsafe(found.answer, Effect.succeed(answer))
        const { approved, unanswered: nobodyAnswered, reason, by } = answer
        tell({
          type: "closed",
          id,
          approved,
          at: Date.now(),
          ...(nobodyAnswered === true && { unanswered: true as const }),
          ...(reason !== undefined && { reason }),
          ...(by !== undefined && { by })
        })
      }
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          for (const id of waiting.keys()) close(id, unanswered("the host ended"))
        })
      )

      const ask = (question: Question): Effect.Effect<Answer> =>
        Effect.gen(function* () {
          const size = charactersIn(question.input) + 2 * (question.preview?.length ?? 0)
          const caller = question.call.caller?.name
          const own = [...waiting.values()].filter((other) => caller !== undefined && other.caller === caller).length
          if (own >= limits.perCaller) {
            return overloaded(
              `${own} questions of this caller wait for a person already; try again when some are answered`
            )
          }
          if (waiting.size >= limits.questions || characters + size > limits.characters) {
            return overloaded(`${waiting.size} questions wait for a person already; try again when some are answered`)
          }
          const request = openRequest(question, yield* Clock.currentTimeMillis)
          const answer = yield* Deferred.make<Answer>()
          const open = Effect.sync(() => {
            waiting.set(request.id, { request, size, answer, caller })
            characters += size
            tell({ type: "opened", request })
          })
          return yield* Effect.acquireUseRelease(
            open,
            () => Effect.raceFirst(Deferred.await(answer), stillWaiting),
            () => Effect.sync(() => close(request.id, unanswered("nobody waits for the answer any more")))
          )
        })

      const gate: ApprovalGateService = {
        open: () => [...waiting.values()].map(({ request }) => request),
        answer: (id, { binding, ...response }, by) => {
          const found = waiting.get(id)
          if (found === undefined) return "gone"
          if (binding !== undefined && binding !== found.request.binding) return "other_request"
          close(id, { ...givenOnly(response), ...(by !== undefined && { by }) })
          return "accepted"
        },
        giveUp: (id, reason) => close(id, unanswered(reason)),
        subscribe: (listener) => {
          listeners.add(listener)
          return () => listeners.delete(listener)
        }
      }
      return Context.make(Asker, { ask }).pipe(Context.add(ApprovalGate, gate))
    })
  )

/** A gate with the standard limits. */
export const askThroughGate: Layer.Layer<Asker | ApprovalGate> = askThroughLimitedGate(standardLimits)

const charactersIn = (value: unknown): number => {
  if (typeof value === "string") return value.length
  if (typeof value !== "object" || value === null) return 8
  let sum = 0
  for (const [key, inner] of Object.entries(value)) sum += key.length + charactersIn(inner)
  return sum
}

/** A request for a list: without arguments, diff and detail where those are large. */
export const listedRequest = (request: OpenRequest): ListedRequest => {
  const { args, diff, description, offers, ...rest } = request
  const { detail: _leftOut, filesAffected, ...shown } = description
  const size = charactersIn([args, diff, description, offers])
  if (size <= mostListed) return { ...request, isWhole: true }
  const value = (text: string): string => (text.length > 300 ? `${text.slice(0, 300)}…` : text)
  return {
    ...rest,
    isWhole: false,
    description: {
      ...shown,
      ...(shown.command !== undefined && { command: value(shown.command) }),
      ...(shown.url !== undefined && { url: value(shown.url) }),
      ...(shown.types !== undefined && { types: value(shown.types) }),
      parameters: shown.parameters.slice(0, 50).map(({ name, value: text }) => ({ name, value: value(text) })),
      filesAffected: filesAffected.slice(0, 50).map(value)
    }
  }
}

/** An entry of a list of requests. */
export interface ListedRequest extends Omit<OpenRequest, "args" | "offers"> {
  readonly args?: OpenRequest["args"]
  readonly offers?: OpenRequest["offers"]
  /** False where arguments, diff and detail are left out; the request itself has them. */
  readonly isWhole: boolean
}

const mostListed = 16_384

const overloaded = (reason: string): Answer => ({ ...unanswered(reason), overloaded: true })

const unanswered = (reason: string): Answer => ({ approved: false, unanswered: true, reason })

// Whoever made the call hears that it is not forgotten: clients give up on calls that are silent.
const stillWaiting: Effect.Effect<never> = Effect.forever(
  Effect.andThen(reportProgress({ message: "waits for a person's approval" }), Effect.sleep("10 seconds"))
)

const openRequest = (question: Question, askedAt: number): OpenRequest => ({
  id: crypto.randomUUID(),
  stepId: question.call.id,
  step: question.call.step,
  tool: question.call.tool,
  args: question.input,
  reason: question.reason,
  dialect: question.call.dialect,
  ...(question.call.caller !== undefined && { caller: question.call.caller }),
  description: describeRequest(question),
  ...(question.preview !== undefined && { diff: question.preview }),
  binding: question.binding,
  ...(question.rule !== undefined && { rule: question.rule }),
  ...(question.basis !== undefined && { basis: question.basis }),
  ...(question.isDivisible === true && { isDivisible: true as const }),
  offers: question.offers,
  ...(question.whyNoOffer !== undefined && { whyNoOffer: question.whyNoOffer }),
  askedAt,
  ...(Number.isFinite(question.expiresAt) && { expiresAt: question.expiresAt })
})

const givenOnly = ({ approved, modifiedArgs, reason, remember, refusedHunks }: GateResponse): Answer => ({
  approved,
  ...(refusedHunks !== undefined && refusedHunks.length > 0 && { refusedHunks }),
  ...(modifiedArgs !== undefined && { modifiedArgs }),
  ...(reason !== undefined && { reason, comment: reason }),
  ...(remember !== undefined && { remember: rememberingOf(remember) })
})

const rememberingOf = ({ offer, scope, expires }: NonNullable<GateResponse["remember"]>): Remembering => ({
  offer,
  scope,
  ...(expires !== undefined && { expires })
})
