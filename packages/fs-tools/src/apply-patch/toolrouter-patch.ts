import { type ChangedPath, singleLine } from "@haft/core"
import * as z from "zod"

import { isOfFile } from "./patch.ts"

/** Shared part of toolrouter's two patch tools: the same parameters and the same answer. */
export const patchInput = z.strictObject({
  patch: z.string().describe("A unified diff, or sections between *** Begin Patch and *** End Patch")
})

const result = z.object({
  path: z.string(),
  bytes_written: z.number(),
  created: z.boolean(),
  deleted: z.boolean().optional(),
  moved_to: z.string().optional()
})

export const patchOutput = z.object({ results: z.array(result) })

export const patchResults = ({
  changes
}: {
  readonly changes: ReadonlyArray<ChangedPath>
}): z.output<typeof patchOutput> => ({
  results: changes
    .filter(isOfFile)
    .map(({ path, kind, movedTo, bytesWritten }) =>
      Object.assign(
        { path, bytes_written: bytesWritten, created: kind === "created" },
        kind === "deleted" && { deleted: true },
        movedTo !== undefined && { moved_to: movedTo }
      )
    )
})

export const renderResults = ({ results }: z.output<typeof patchOutput>): string =>
  results.length === 0
    ? "The patch changes nothing"
    : results
        .map(({ path, created, deleted, moved_to }) => {
          if (deleted === true) return singleLine(`deleted ${path}`)
          if (moved_to !== undefined) return singleLine(`moved ${path} to ${moved_to}`)
          return singleLine(`${created ? "created" : "changed"} ${path}`)
        })
        .join("\n")
