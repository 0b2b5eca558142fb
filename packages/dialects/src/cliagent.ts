import { defineDialect, type Dialect, type ErrorCode, type ToolError } from "@haft/core"

const errorNames = {
  path_outside_workspace: "path_outside_working_dir",
  symlink_blocked: "path_outside_working_dir",
  match_not_found: "string_not_found"
} satisfies Partial<Record<ErrorCode, string>>

const pathOf = ({ details }: ToolError): string => (typeof details?.["path"] === "string" ? details["path"] : "")

const isOutside = (error: ToolError): string => `Path '${pathOf(error)}' is outside working directory`

/**
 * The cliagent contract: a line for people in `output`, facts in `metadata`. Its tools answer with
 * `output`, `files_affected` and `metadata`; the wording of its messages is part of the contract.
 */
export const cliagent: Dialect<"cliagent"> = defineDialect({
  name: "cliagent",
  hasHumanFormat: true,
  symlinks: "inside",
  asks: (risk) => risk !== "read_only",
  errorNames,
  wording: {
    path_outside_workspace: isOutside,
    symlink_blocked: isOutside,
    file_not_found: (error) => `File '${pathOf(error)}' not found`
  },
  success: ({ output, durationMs, isForeign, text, writes }) => ({
    success: true,
    ...(isForeign ? { output: text, files_affected: writes } : pick(output, ["output", "files_affected"])),
    execution_time_ms: Math.round(durationMs),
    ...(isForeign ? { metadata: output } : pick(output, ["metadata"]))
  }),
  failure: ({ error, errorName, durationMs }) => ({
    success: false,
    output: `Error: ${error.message}`,
    files_affected: [],
    execution_time_ms: Math.round(durationMs),
    ...pick((error.output ?? {}) as Readonly<Record<string, unknown>>, ["metadata"]),
    error: { code: errorName, message: error.message, suggestion: error.suggestion ?? "" }
  }),
  envelope: (output) => ({
    type: "object",
    properties: {
      success: { type: "boolean" },
      output: { type: "string" },
      files_affected: { type: "array", items: { type: "string" } },
      execution_time_ms: { type: "integer", minimum: 0 },
      metadata: metadataOf(output),
      error: {
        type: "object",
        properties: { code: { type: "string" }, message: { type: "string" }, suggestion: { type: "string" } },
        required: ["code", "message", "suggestion"]
      }
    },
    required: ["success", "output", "files_affected", "execution_time_ms"]
  }),
  print: (tool, wire) => ({ tool, ...(wire as object) })
})

const pick = (output: Readonly<Record<string, unknown>>, keys: ReadonlyArray<string>) =>
  Object.fromEntries(keys.filter((key) => output[key] !== undefined).map((key) => [key, output[key]]))

// A foreign tool's whole output is its metadata; the contract's own tools name theirs.
const metadataOf = (output: Readonly<Record<string, unknown>>): object => {
  const properties = (output["properties"] ?? {}) as Record<string, object>
  return "files_affected" in properties ? (properties["metadata"] ?? { type: "object" }) : output
}
