import { singleLine, Workspace } from "@haft/core"
import { listInOrder } from "@haft/fs-tools/operations"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { locate } from "../allowed-directories.ts"
import { mcpFilesystem } from "../dialect.ts"
import { inSystemWords } from "../system-errors.ts"

const directory = z.string().describe("Directory, absolute or relative to the first allowed directory")
const output = z.strictObject({ content: z.string() })

export const listDirectory = mcpFilesystem.tool({
  name: "list_directory",
  operation: "list-directory",
  description: "List a directory, one entry a line: [DIR] before directories, [FILE] before everything else.",
  input: z.strictObject({ path: directory }),
  output,
  risk: "read_only",
  timeout: "60 seconds",
  touches: ({ path }) => Effect.map(locate(path), (located) => ({ reads: [located.path] })),
  execute: ({ path }) =>
    Effect.map(entriesOf(path), ({ entries }) => ({
      content: entries.map(({ path: name, kind }) => `${tagOf(kind)} ${singleLine(name)}`).join("\n")
    })),
  render: ({ content }) => content
})

export const listDirectoryWithSizes = mcpFilesystem.tool({
  name: "list_directory_with_sizes",
  operation: "list-directory",
  description: "List a directory with the size of each file, and the number of entries and bytes at the end.",
  input: z.strictObject({
    path: directory,
    sortBy: z.enum(["name", "size"]).default("name").describe("Order by name, or the largest first")
  }),
  output,
  risk: "read_only",
  timeout: "60 seconds",
  touches: ({ path }) => Effect.map(locate(path), (located) => ({ reads: [located.path] })),
  execute: Effect.fnUntraced(function* ({ path, sortBy }) {
    const { entries, inside } = yield* entriesOf(path)
    const workspace = yield* Workspace
    const sized = yield* Effect.forEach(entries, ({ path: name, kind }) =>
      // An entry that can't be looked at, such as a link that leads out, is listed all the same.
      workspace.info(`${inside}/${name}`).pipe(
        Effect.match({ onFailure: () => 0, onSuccess: ({ size }) => size }),
        Effect.map((size) => ({ name, isDirectory: kind === "directory", size }))
      )
    )
    const sorted = sized.toSorted((one, other) =>
      sortBy === "size" ? other.size - one.size : one.name.localeCompare(other.name)
    )
    const files = sized.filter(({ isDirectory }) => !isDirectory)
    const bytes = files.reduce((sum, { size }) => sum + size, 0)
    const lines = sorted.map(
      ({ name, isDirectory, size }) =>
        `${isDirectory ? "[DIR]" : "[FILE]"} ${singleLine(name).padEnd(30)} ${isDirectory ? "" : shownSize(size).padStart(10)}`
    )
    const counted = `Total: ${files.length} files, ${sized.length - files.length} directories`
    return { content: [...lines, "", counted, `Combined size: ${shownSize(bytes)}`].join("\n") }
  }),
  render: ({ content }) => content
})

const entriesOf = Effect.fnUntraced(function* (path: string) {
  const located = yield* locate(path)
  const words = inSystemWords({ call: "scandir", path: located.absolute })
  const { entries } = yield* words(listInOrder(located.path, {}))
  return { entries, inside: located.path }
})

const tagOf = (kind: string): string => (kind === "directory" ? "[DIR]" : "[FILE]")

const units = ["B", "KB", "MB", "GB", "TB"]

const shownSize = (bytes: number): string => {
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log(bytes) / Math.log(1024)))
  return power === 0 ? `${bytes} B` : `${(bytes / 1024 ** power).toFixed(2)} ${units[power]}`
}
