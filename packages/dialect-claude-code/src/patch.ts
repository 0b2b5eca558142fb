import { type Content, diffHunks } from "@haft/core"
import * as Effect from "effect/Effect"
import * as z from "zod"

export const structuredPatch = z.array(
  z.object({
    oldStart: z.number(),
    oldLines: z.number(),
    newStart: z.number(),
    newLines: z.number(),
    lines: z.array(z.string())
  })
)

/** Hunks between two versions of a file, as Claude Code reports them. */
export const patchBetween = (before: Content, after: Content): Effect.Effect<z.output<typeof structuredPatch>> =>
  Effect.map(diffHunks(before, after), (hunks = []) =>
    hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) => ({
      oldStart,
      oldLines,
      newStart,
      newLines,
      lines: [...lines]
    }))
  )
