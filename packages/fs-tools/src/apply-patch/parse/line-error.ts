import { type ToolError, toolError } from "@haft/core"
import * as Effect from "effect/Effect"

export type ParseError = ToolError<"patch_parse_error" | "path_outside_workspace" | "invalid_params">

/** Says which line of a patch can't be read, counted here from 0 and told from 1. */
export const refuseLine = (line: number, problem: string): Effect.Effect<never, ToolError<"patch_parse_error">> =>
  toolError("patch_parse_error", `line ${line + 1} of the patch: ${problem}; nothing was changed`, {
    suggestion: "Correct the patch and send it again.",
    details: { line: line + 1 }
  })

/** Says so when a patch came with its line breaks spelled out, as a text that was put into JSON twice does. */
export const refuseEscaped = (patch: string): Effect.Effect<void, ToolError<"patch_parse_error">> =>
  /\\n(?:[-+]{3} |@@|\*\*\* )/.test(patch)
    ? toolError(
        "patch_parse_error",
        "the patch spells its line breaks '\\n'; send line breaks as such; nothing was changed",
        {
          suggestion: "Send the patch again with real line breaks: the text was escaped once too often."
        }
      )
    : Effect.void
