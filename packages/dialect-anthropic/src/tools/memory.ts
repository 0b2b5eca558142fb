import { Buffer } from "node:buffer"
import { posix } from "node:path"

import { type ChangePlan, singleLine, type ToolError, type Touches, Workspace } from "@haft/core"
import { planDelete, planEdits, planInsert, planMove, planOnce, planWrite } from "@haft/fs-tools/operations"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { anthropic, answer, worded } from "../dialect.ts"
import { linesOf, numbered, viewDirectory, viewFile, viewNothing } from "../views.ts"

const root = "/memories"
/** Directory of the workspace, or a root of that name, that holds the memories. */
const directory = "memories"

const input = z.strictObject({
  command: z.enum(["view", "create", "str_replace", "insert", "delete", "rename"]).describe("What to do"),
  path: z.string().optional().describe("File or directory below /memories; all commands but rename"),
  view_range: z.array(z.int()).length(2).optional().describe("view: first and last line, -1 for the end of the file"),
  file_text: z.string().optional().describe("create: all that the file shall hold"),
  old_str: z.string().optional().describe("str_replace: text to replace, which must be unique"),
  new_str: z.string().optional().describe("str_replace: text to put there; nothing when absent"),
  insert_line: z.int().optional().describe("insert: line after which the text comes, 0 for the beginning"),
  insert_text: z.string().optional().describe("insert: text to put there"),
  old_path: z.string().optional().describe("rename: what is renamed"),
  new_path: z.string().optional().describe("rename: its new path; nothing may be there")
})

type Call = z.output<typeof input>

export const memory = anthropic.tool({
  name: "memory",
  operation: "edit-text",
  description:
    "Keep notes between conversations, as files below /memories: view, create, str_replace, insert, delete and rename.",
  input,
  output: answer,
  risk: "safe_write",
  // Notes are written without consent, except where one could make a program run later, such as a git hook.
  asks: ({ writes }) => writes.some(({ isProtected }) => isProtected),
  timeout: "60 seconds",
  touches: (call) => touchesOf(call),
  preview: (call) =>
    call.command === "view" ? Effect.succeed("") : Effect.map(operation.preview(call), ({ diff }) => diff),
  execute: (call) =>
    Effect.map(
      call.command === "view" ? view(call) : Effect.map(operation.commit(call), ({ result }) => result),
      (output) => ({ output })
    ),
  render: ({ output }) => output
})

const touchesOf = Effect.fnUntraced(function* (
  call: Call
): Effect.fn.Return<Touches, ToolError<"invalid_params" | "path_outside_workspace">> {
  if (call.command === "rename") {
    return { removes: [(yield* place(call, "old_path")).inside, (yield* place(call, "new_path")).inside] }
  }
  const { inside } = yield* place(call, "path")
  if (call.command === "view") return { reads: [inside] }
  return call.command === "delete" ? { removes: [inside] } : { writes: [inside] }
})

const required = <Key extends keyof Call>(
  call: Call,
  key: Key
): Effect.Effect<NonNullable<Call[Key]>, ToolError<"invalid_params">> => {
  const value = call[key]
  return value === undefined || value === null
    ? Effect.fail(worded("invalid_params", `Error: ${key} is required for command ${call.command}`))
    : Effect.succeed(value)
}

/** Place of a path in the workspace, and the path as the model wrote it. */
const place = Effect.fnUntraced(function* (call: Call, key: "path" | "old_path" | "new_path") {
  const path = yield* required(call, key)
  const shown = singleLine(path)
  if (path !== root && !path.startsWith(`${root}/`)) {
    return yield* worded("path_outside_workspace", `Error: Path must start with ${root}, got: ${shown}`)
  }
  const inside = posix.join(directory, path.slice(root.length))
  if (inside !== directory && !posix.normalize(path).startsWith(`${root}/`)) {
    return yield* worded("path_outside_workspace", `Error: Path ${shown} would escape ${root} directory`)
  }
  return { inside: inside.replace(/\/$/, ""), shown }
})

const view = Effect.fnUntraced(function* (call: Call) {
  const { inside, shown } = yield* place(call, "path")
  const workspace = yield* Workspace
  const found = yield* Effect.result(workspace.info(inside))
  if (found._tag === "Failure") {
    if (found.failure.code !== "file_not_found") return yield* found.failure
    return inside === directory ? viewNothing(shown) : yield* missing(shown, ". Please provide a valid path.")
  }
  if (found.success.kind === "directory") return yield* viewDirectory(inside, shown)
  const [first = 1, last = -1] = call.view_range ?? []
  return `Here's the content of ${shown} with line numbers:\n${yield* viewFile(inside, [first, last])}`
})

const missing = (shown: string, end: string): ToolError<"file_not_found"> =>
  worded("file_not_found", `Error: The path ${shown} does not exist${end}`)

const planCall = Effect.fnUntraced(function* (plan: ChangePlan, call: Call) {
  if (call.command === "rename") return yield* rename(plan, call)
  const { inside, shown } = yield* place(call, "path")
  if (call.command === "create") {
    const content = Buffer.from((yield* required(call, "file_text")).toWellFormed())
    yield* planWrite(plan, inside, content, { createDirectories: true, mustBeNew: true }).pipe(
      Effect.mapError((error) =>
        error.code === "already_exists" ? worded(error.code, `Error: File ${shown} already exists`) : error
      )
    )
    return `File created successfully at: ${shown}`
  }
  if (call.command === "delete") {
    if (inside === directory) {
      return yield* worded("path_outside_workspace", `Error: Cannot delete the ${root} directory itself`)
    }
    yield* planDelete(plan, { path: inside, recursive: true }).pipe(
      Effect.mapError((error) => (error.code === "file_not_found" ? missing(shown, "") : error))
    )
    return `Successfully deleted ${shown}`
  }
  return yield* call.command === "insert"
    ? insert(plan, call, inside, shown).pipe(inFileWords(shown))
    : replace(plan, call, inside, shown).pipe(inFileWords(shown))
})

const operation = planOnce(planCall)

const rename = Effect.fnUntraced(function* (plan: ChangePlan, call: Call) {
  const [from, to] = [yield* place(call, "old_path"), yield* place(call, "new_path")]
  if (from.inside === directory) {
    return yield* worded("path_outside_workspace", `Error: Cannot rename the ${root} directory itself`)
  }
  yield* planMove(plan, { from: from.inside, to: to.inside, overwrite: false, createDirectories: true }).pipe(
    Effect.mapError((error) => {
      if (error.code === "already_exists")
        return worded(error.code, `Error: The destination ${to.shown} already exists`)
      return error.code === "file_not_found" ? missing(from.shown, "") : error
    })
  )
  return `Successfully renamed ${from.shown} to ${to.shown}`
})

const replace = Effect.fnUntraced(function* (plan: ChangePlan, call: Call, inside: string, shown: string) {
  const find = yield* required(call, "old_str")
  const { after, edits } = yield* planEdits(plan, inside, [{ find, replace: call.new_str ?? "" }]).pipe(
    Effect.mapError((error) => inReplaceWords(error, find, shown))
  )
  const lines = linesOf(after.text)
  const line = edits[0]?.line ?? 1
  const first = Math.max(1, line - 2)
  const snippet = numbered(lines.slice(first - 1, line + 2), first)
  return `The memory file has been edited. Here is the snippet showing the change (with line numbers):\n${snippet}`
})

const insert = Effect.fnUntraced(function* (plan: ChangePlan, call: Call, inside: string, shown: string) {
  const line = yield* required(call, "insert_line")
  yield* planInsert(plan, inside, { line, text: yield* required(call, "insert_text") }).pipe(
    Effect.mapError((error) =>
      error.code === "invalid_range"
        ? worded(
            error.code,
            `Error: Invalid \`insert_line\` parameter: ${line}. It should be within the range of lines of the file: [0, ${Number(error.details?.["lines"])}]`
          )
        : error
    )
  )
  return `The file ${shown} has been edited.`
})

const inReplaceWords = <Code extends ToolError["code"]>(
  error: ToolError<Code>,
  text: string,
  shown: string
): ToolError<Code> => {
  if (error.code === "match_not_found") {
    return worded(
      error.code,
      `Error: No replacement was performed, old_str \`${text}\` did not appear verbatim in ${shown}.`
    )
  }
  if (error.code !== "match_not_unique") return error
  const lines = error.details?.["lines"] as ReadonlyArray<number>
  return worded(
    error.code,
    `Error: No replacement was performed. Multiple occurrences of old_str \`${text}\` in lines: ${lines.join(", ")}. Please ensure it is unique`
  )
}

const inFileWords =
  (shown: string) =>
  <A, Code extends ToolError["code"], R>(
    planned: Effect.Effect<A, ToolError<Code>, R>
  ): Effect.Effect<A, ToolError<Code>, R> =>
    Effect.mapError(planned, (error) => {
      if (error.code === "file_not_found") {
        return worded(error.code, `Error: The path ${shown} does not exist. Please provide a valid path.`)
      }
      const isFile = error.code !== "is_directory" && error.code !== "not_a_regular_file"
      return isFile ? error : worded(error.code, `Error: The path ${shown} is not a file.`)
    })
