import type { Reply } from "@haft/core"

export interface ModelOptions {
  /** What the model reads of a reply: the dialect's envelope as JSON by default. */
  readonly content?: (reply: Reply) => string
}

export const contentOf = (reply: Reply, { content = envelope }: ModelOptions): string => content(reply)

const envelope = ({ wire }: Reply): string => JSON.stringify(wire)

/** Arguments as a model wrote them. What is not JSON goes down the road as it is, and is refused there, on record. */
export const parseArguments = (written: string): unknown => {
  if (written.trim() === "") return {}
  try {
    return JSON.parse(written) as unknown
  } catch {
    return written
  }
}
