import {
  type CallOptions,
  type CallPreview,
  makeToolError,
  type Reply,
  type ToolDescription,
  type ToolError
} from "@haft/core"
import { type Branch, type BranchProcess, startOnBranch } from "@haft/node/internal"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

import { ConfigError, type HaftConfig } from "../config/config.ts"
import { errorFrom, type FromBranchHost, type PlainError, replyFrom, type ToBranchHost } from "./branch-messages.ts"

/** A host on a branch. It runs in a process of its own, and its files, search and commands see the branch. */
export interface BranchHost {
  readonly tools: ReadonlyArray<ToolDescription>
  readonly call: (
    tool: string,
    args: unknown,
    options?: Omit<CallOptions, "onProgress">
  ) => Effect.Effect<Reply, ToolError>
  readonly preview: (tool: string, args: unknown) => Effect.Effect<CallPreview, ToolError>
}

/** Starts a host on a branch. It ends with the scope, or with its process. */
export const startBranchHost = Effect.fnUntraced(function* (
  branch: Branch,
  config: HaftConfig
): Effect.fn.Return<BranchHost, ToolError | ConfigError, Scope.Scope> {
  const { state: _ofTheWorkspace, ...rest } = config
  const sent = yield* Effect.try({
    try: () => structuredClone({ ...rest, root: branch.root }),
    catch: () =>
      new ConfigError("a host on a branch runs in a process of its own: give its plugins and dialect by name")
  })
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js"
  const module = new URL(`./branch-host-process.${extension}`, import.meta.url)
  const child = yield* startOnBranch(branch, module.pathname)
  const opened = yield* Deferred.make<ReadonlyArray<ToolDescription>, ToolError>()
  const waiting = new Map<number, Deferred.Deferred<FromBranchHost, ToolError>>()
  const asking = new Map<number, NonNullable<CallOptions["ask"]>>()
  const context = yield* Effect.context()
  const send = (message: ToBranchHost): void => child.send(message)
  const fail = (error: ToolError): void => {
    Deferred.doneUnsafe(opened, Effect.fail(error))
    for (const one of waiting.values()) Deferred.doneUnsafe(one, Effect.fail(error))
    waiting.clear()
  }
  receive(child, (message) => {
    if (message.type === "opened") Deferred.doneUnsafe(opened, Effect.succeed(message.tools))
    else if (message.type === "refused") fail(failureFrom(message))
    else if (message.type === "question") {
      const answer = asking.get(message.call)?.(message.question) ?? Effect.succeed(unanswered)
      const told = Effect.map(answer, (given) => send({ type: "answer", id: message.id, answer: given }))
      Effect.runForkWith(context)(told)
    } else {
      const one = waiting.get(message.id)
      waiting.delete(message.id)
      if (one !== undefined) {
        Deferred.doneUnsafe(
          one,
          message.type === "failed" ? Effect.fail(failureFrom(message)) : Effect.succeed(message)
        )
      }
    }
  })
  child.onEnd((reason) => fail(gone(branch.name, reason)))
  send({ type: "open", config: sent })
  const tools = yield* Deferred.await(opened)
  let last = 0
  const request = (make: (id: number) => ToBranchHost, ask?: CallOptions["ask"]) =>
    Effect.suspend(() => {
      const id = ++last
      const one = Deferred.makeUnsafe<FromBranchHost, ToolError>()
      waiting.set(id, one)
      if (ask !== undefined) asking.set(id, ask)
      send(make(id))
      return Deferred.await(one).pipe(
        Effect.onInterrupt(() => Effect.sync(() => send({ type: "cancel", id }))),
        Effect.ensuring(
          Effect.sync(() => {
            waiting.delete(id)
            asking.delete(id)
          })
        )
      )
    })
  return {
    tools,
    call: (tool, args, { ask, ...options } = {}) =>
      Effect.flatMap(
        request((id) => ({ type: "call", id, tool, args, options: plain(options), canAsk: ask !== undefined }), ask),
        (message) => (message.type === "reply" ? Effect.succeed(replyFrom(message.reply)) : Effect.fail(unexpected))
      ),
    preview: (tool, args) =>
      Effect.flatMap(
        request((id) => ({ type: "preview", id, tool, args })),
        (message) => (message.type === "previewed" ? Effect.succeed(message.preview) : Effect.fail(unexpected))
      )
  }
})

const receive = ({ onMessage }: BranchProcess, listener: (message: FromBranchHost) => void): void =>
  onMessage((message) => listener(message as FromBranchHost))

const plain = ({ requestId, traceParent, caller }: CallOptions) => ({
  ...(requestId !== undefined && { requestId }),
  ...(traceParent !== undefined && { traceParent }),
  ...(caller !== undefined && { caller })
})

const unanswered = { approved: false, unanswered: true, reason: "nobody waits for the answer any more" }

const failureFrom = ({ message, error }: { readonly message: string; readonly error?: PlainError }): ToolError =>
  error === undefined ? makeToolError("internal_error", message) : errorFrom(error)

const gone = (branch: string, reason: string): ToolError =>
  makeToolError("cancelled", `the host on branch '${branch}' is gone: ${reason}`, {
    suggestion: "Open it again; what was changed on the branch is still there.",
    details: { branch }
  })

const unexpected = makeToolError("internal_error", "the host of a branch sent an answer to something else")
