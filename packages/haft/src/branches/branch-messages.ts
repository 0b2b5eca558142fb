import {
  type ApprovalQuestion,
  type Answer,
  makeToolError,
  type Reply,
  type ToolDescription,
  type ToolError
} from "@haft/core"
import type { CallOptions, CallPreview } from "@haft/core"

import type { HaftConfig } from "../config/config.ts"

/** Messages from the opener of a branch's host to it. */
export type ToBranchHost =
  | { readonly type: "open"; readonly config: HaftConfig }
  | {
      readonly type: "call"
      readonly id: number
      readonly tool: string
      readonly args: unknown
      readonly options: Pick<CallOptions, "requestId" | "traceParent" | "caller">
      readonly canAsk: boolean
    }
  | { readonly type: "preview"; readonly id: number; readonly tool: string; readonly args: unknown }
  | { readonly type: "cancel"; readonly id: number }
  | { readonly type: "answer"; readonly id: number; readonly answer: Answer }

/** Messages from a branch's host to its opener. */
export type FromBranchHost =
  | { readonly type: "opened"; readonly tools: ReadonlyArray<ToolDescription> }
  | { readonly type: "refused"; readonly message: string; readonly error?: PlainError }
  | { readonly type: "question"; readonly id: number; readonly call: number; readonly question: ApprovalQuestion }
  | { readonly type: "reply"; readonly id: number; readonly reply: PlainReply }
  | { readonly type: "previewed"; readonly id: number; readonly preview: CallPreview }
  | { readonly type: "failed"; readonly id: number; readonly message: string; readonly error?: PlainError }

/** A tool error as plain data: messages between processes keep nothing else of an error. */
export type PlainError = Pick<ToolError, "code" | "message" | "suggestion" | "details" | "retryable" | "output">

type PlainReply = Omit<Reply, "error"> & { readonly error?: PlainError }

export const plainError = ({ code, message, suggestion, details, retryable, output }: ToolError): PlainError => ({
  code,
  message,
  ...(suggestion !== undefined && { suggestion }),
  ...(details !== undefined && { details }),
  ...(retryable !== undefined && { retryable }),
  ...(output !== undefined && { output })
})

export const errorFrom = ({ code, message, ...options }: PlainError): ToolError => makeToolError(code, message, options)

export const plainReply = (reply: Reply): PlainReply =>
  reply.error === undefined ? reply : { ...reply, error: plainError(reply.error) }

export const replyFrom = (reply: PlainReply): Reply =>
  (reply.error === undefined ? reply : { ...reply, error: errorFrom(reply.error) }) as Reply

/** A question without its function, which no message can carry. */
export const plainQuestion = ({ defaults: _function, ...question }: ApprovalQuestion): ApprovalQuestion => question
