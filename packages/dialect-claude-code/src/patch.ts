import { type Content, diffHunks } from "@haft/core"
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
export const patchBetween = (before: Content, after: Content): z.output<typeof structuredPatch> =>
  (diffHunks(before, after) ?? []).map(({ oldStart, oldLines, newStart, newLines, lines }) => ({
    oldStart,
    oldLines,
    newStart,
    newLines,
    lines: [...lines]
  }))
