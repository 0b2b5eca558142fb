import type { Reply } from "@haft/core"

export interface ModelOptions {
  /** Text of a reply for the model: the dialect's envelope as JSON by default. */
  readonly content?: (reply: Reply) => string
}

export const contentOf = (reply: Reply, { content = envelope }: ModelOptions): string => content(reply)

const envelope = ({ wire }: Reply): string => JSON.stringify(wire)

/**
 * Reads arguments as a model wrote them. Text that is not JSON is passed on as it is: the host refuses it, on record.
 * Some APIs that are compatible with OpenAI's send an object instead of text, or nothing at all.
 */
export const parseArguments = (written: unknown): unknown => {
  if (typeof written !== "string") return written ?? {}
  if (written.trim() === "") return {}
  try {
    return JSON.parse(written) as unknown
  } catch {
    return written
  }
}
