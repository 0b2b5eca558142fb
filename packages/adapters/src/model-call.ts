import type { Reply } from "@haft/core"

export interface ModelOptions {
  /** What the model reads of a reply: the dialect's envelope as JSON by default. */
  readonly content?: (reply: Reply) => string
}

export const contentOf = (reply: Reply, { content = envelope }: ModelOptions): string => content(reply)

const envelope = ({ wire }: Reply): string => JSON.stringify(wire)

/**
 * Arguments as a model wrote them. What is not JSON goes down the road as it is, and is refused there, on record. Some
 * APIs that speak the same words send an object, or nothing at all.
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
