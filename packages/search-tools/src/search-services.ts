import { Embedder } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as z from "zod"

import { openaiEmbedder } from "./search-code/openai-embedder.ts"
import type { searchConfig } from "./search-config.ts"
import { installedRipgrep, Ripgrep } from "./search-text/ripgrep/ripgrep.ts"

/** Services that the operations of this package require and the host does not lend. */
export const searchServices = (config?: z.output<typeof searchConfig>): Layer.Layer<Ripgrep> =>
  Layer.merge(
    Layer.succeed(Ripgrep, {
      program: config?.ripgrep === undefined ? installedRipgrep : Effect.succeed(config.ripgrep)
    }),
    config?.embeddings === undefined ? Layer.empty : Layer.succeed(Embedder, openaiEmbedder(config.embeddings))
  )
