import { singleLine, type ToolError } from "@haft/core"
import { planMove, planOnce } from "@haft/fs-tools/operations"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { locate } from "../allowed-directories.ts"
import { asksForControlFiles } from "../asks.ts"
import { mcpFilesystem } from "../dialect.ts"
import { worded } from "../system-errors.ts"

const input = z.strictObject({
  source: z.string().describe("What is moved, absolute or relative to the first allowed directory"),
  destination: z.string().describe("Its new path; nothing may be there")
})

const operation = planOnce(
  Effect.fnUntraced(function* (plan, { source, destination }: z.output<typeof input>) {
    const [from, to] = [yield* locate(source), yield* locate(destination)]
    return yield* planMove(plan, { from: from.path, to: to.path, overwrite: false, createDirectories: false }).pipe(
      Effect.mapError((error) => inServerWords(error, from.absolute, to.absolute))
    )
  })
)

export const moveFile = mcpFilesystem.tool({
  name: "move_file",
  operation: "move-path",
  description: "Move or rename a file or a directory. Fails where something is at the destination.",
  input,
  output: z.strictObject({ content: z.string() }),
  risk: "dangerous",
  asks: asksForControlFiles,
  timeout: "60 seconds",
  touches: Effect.fnUntraced(function* ({ source, destination }) {
    const [from, to] = [yield* locate(source), yield* locate(destination)]
    return { removes: [from.path, to.path] }
  }),
  preview: (call) => Effect.map(operation.preview(call), ({ diff }) => diff),
  execute: (call) =>
    Effect.as(operation.commit(call), {
      content: `Successfully moved ${singleLine(call.source)} to ${singleLine(call.destination)}`
    }),
  render: ({ content }) => content
})

const inServerWords = <Code extends ToolError["code"]>(
  error: ToolError<Code>,
  from: string,
  to: string
): ToolError<Code> => {
  if (error.code === "already_exists") return worded(error.code, `Destination already exists: ${singleLine(to)}`)
  if (error.code !== "file_not_found") return error
  const names = `'${singleLine(from)}' -> '${singleLine(to)}'`
  return worded(error.code, `ENOENT: no such file or directory, rename ${names}`)
}
