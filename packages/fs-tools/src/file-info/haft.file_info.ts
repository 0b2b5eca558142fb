import { singleLine, Workspace } from "@haft/core"
import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

/** Hashing takes longer than looking; beyond this size the fingerprint is left out. */
const fingerprintUpTo = 16 * 1024 * 1024

export const haftFileInfo = haft.tool({
  name: "file_info",
  profile: "all",
  operation: "file-info",
  description: "Kind, size, times, permissions and fingerprint of a file or directory, without its content.",
  input: z.strictObject({
    path: z.string().describe("Path, relative to the workspace"),
    follow: z.boolean().default(true).describe("Describe what a link leads to, not the link")
  }),
  output: z.object({
    path: z.string(),
    kind: z.enum(["file", "directory", "symlink", "other"]),
    size: z.number(),
    modified: z.string(),
    created: z.string().optional(),
    mode: z.string().describe("Permission bits, octal"),
    secret: z.boolean().optional().describe("Its content can't be read"),
    fingerprint: z.string().optional().describe("For expected_fingerprint of edits")
  }),
  risk: "read_only",
  timeout: "60 seconds",
  touches: ({ path }) => ({ reads: [path] }),
  execute: Effect.fnUntraced(function* ({ path: given, follow }) {
    const workspace = yield* Workspace
    const { path, kind, size, modified, created, mode } = yield* workspace.info(given, { follow })
    const isSecret = kind === "file" && workspace.isSecret(path)
    const isHashed = kind === "file" && !isSecret && size <= fingerprintUpTo
    return {
      path,
      kind,
      size,
      modified: new Date(modified).toISOString(),
      ...(created !== undefined && { created: new Date(created).toISOString() }),
      mode: mode.toString(8).padStart(4, "0"),
      ...(isSecret && { secret: true }),
      ...(isHashed && { fingerprint: yield* workspace.fingerprint(path) })
    }
  }),
  render: ({ path, kind, size, modified, mode }) =>
    singleLine(`${path}: ${kind}, ${size} bytes, ${mode}, modified ${modified}`)
})
