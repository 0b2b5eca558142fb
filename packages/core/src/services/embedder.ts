import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

import type { ToolError } from "../tool-error.ts"

/** Turns texts into vectors whose directions are close where the texts mean something similar. */
export interface EmbedderService {
  /** URL of the service that sees the texts; absent where none leaves this machine. */
  readonly endpoint?: string
  /** One vector a text, in the order of the texts, all of one length. */
  readonly embed: (
    texts: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<ReadonlyArray<number>>, ToolError<"network_error">>
}

/** Embedder that `search_code` reranks its results with. A host has none unless it is given one. */
export const Embedder = Context.Reference<EmbedderService | undefined>("@haft/core/Embedder", {
  defaultValue: () => undefined
})
