import { artifactLink, attachBlock } from "@haft/core"
import * as Effect from "effect/Effect"
import * as z from "zod"

import type { Output } from "./collect-output.ts"

interface Outputs {
  readonly stdout: Output
  readonly stderr: Output
}

/** Addresses of the artifacts that have what a reply leaves out. */
export const outputPaths = {
  stdout_path: z.string().optional().describe("Artifact with all of it, for read_file and search_text"),
  stderr_path: z.string().optional()
}

export const outputPathsOf = ({ stdout, stderr }: Outputs): z.output<z.ZodObject<typeof outputPaths>> => ({
  ...(stdout.truncated && { stdout_path: stdout.address }),
  ...(stderr.truncated && { stderr_path: stderr.address })
})

/** Links the reply to the artifacts with what it leaves out. */
export const linkOutput = ({ stdout, stderr }: Outputs): Effect.Effect<void> =>
  Effect.forEach(
    [stdout, stderr].filter(({ truncated }) => truncated),
    ({ address }) => attachBlock(artifactLink(address)),
    { discard: true }
  )
