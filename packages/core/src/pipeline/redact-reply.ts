import * as Effect from "effect/Effect"

import { redact, redactText } from "../text/redact.ts"
import { mark } from "../text/secret-patterns.ts"
import { makeToolError, toolError, type ToolError } from "../tool-error.ts"
import type { ContentBlock, Progress, Reply } from "./call.ts"

/** A reply without its secrets, for hosts with `redactReplies`. Images, audio and other binary blocks stay. */
export const redactReply = (reply: Reply): Reply => {
  const shown = { wire: redact(reply.wire), text: redactText(reply.text), blocks: reply.blocks.map(redactBlock) }
  return reply.ok
    ? { ...reply, ...shown, output: redact(reply.output) }
    : { ...reply, ...shown, error: redactError(reply.error) }
}

const redactBlock = (block: ContentBlock): ContentBlock =>
  "text" in block ? { ...block, text: redactText(block.text) } : block

const redactError = ({ code, message, suggestion, details, retryable, output }: ToolError): ToolError =>
  makeToolError(code, redactText(message), {
    ...(suggestion !== undefined && { suggestion: redactText(suggestion) }),
    ...(details !== undefined && { details: redact(details) as Readonly<Record<string, unknown>> }),
    ...(retryable !== undefined && { retryable }),
    ...(output !== undefined && { output: redact(output) })
  })

/** Progress without its secrets. */
export const redactProgress = (progress: Progress): Progress => ({ ...progress, message: redactText(progress.message) })

/** Refuses arguments of a change that contain the mark: written to a file, it would replace the secret there too. */
export const refuseMark = (input: unknown): Effect.Effect<void, ToolError<"invalid_params">> =>
  mentionsMark(input)
    ? toolError("invalid_params", `the arguments contain '${mark}', which stands for a hidden secret in replies`, {
        suggestion: "Change only the other lines, with an edit or a patch that contains no line with a hidden secret."
      })
    : Effect.void

const mentionsMark = (value: unknown): boolean => {
  if (typeof value === "string") return value.includes(mark)
  return typeof value === "object" && value !== null && Object.values(value).some(mentionsMark)
}
