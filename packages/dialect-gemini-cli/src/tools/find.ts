import { resolve } from "node:path"

import { makeToolError, singleLine, Workspace } from "@haft/core"
import { listInOrder } from "@haft/fs-tools/operations"
import { newestFiles, pathMatcher } from "@haft/search-tools/operations"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { answer, geminiCli } from "../dialect.ts"

export const glob = geminiCli.tool({
  name: "glob",
  operation: "find-files",
  description: "Find files by a glob such as **/*.ts, the most recently modified first, with absolute paths.",
  input: z.strictObject({
    pattern: z.string().describe("Glob, matched against paths relative to the directory"),
    dir_path: z.string().optional().describe("Directory to look in; the workspace when absent"),
    case_sensitive: z.boolean().optional().describe("Tell capital and small letters apart; false when absent"),
    respect_git_ignore: z.boolean().optional().describe("Leave out what .gitignore names; true when absent"),
    respect_gemini_ignore: z.boolean().optional().describe("Accepted; .geminiignore is not read here")
  }),
  output: answer,
  risk: "read_only",
  timeout: "60 seconds",
  touches: ({ dir_path = "." }) => ({ reads: [dir_path] }),
  execute: Effect.fnUntraced(function* ({
    pattern,
    dir_path = ".",
    case_sensitive = false,
    respect_git_ignore = true
  }) {
    const keeps = yield* pathMatcher(pattern, { caseSensitive: case_sensitive })
    const { directory, files } = yield* newestFiles({
      path: dir_path,
      pattern: case_sensitive ? pattern : "**",
      includeIgnored: !respect_git_ignore,
      keeps
    })
    const where = `within ${singleLine(directory)}`
    if (files.length === 0) return { llmContent: `No files found matching pattern "${pattern}" ${where}` }
    const heading = `Found ${files.length} file(s) matching "${pattern}" ${where}, sorted by modification time (newest first):`
    return { llmContent: [heading, ...files.map(singleLine)].join("\n") }
  }),
  render: ({ llmContent }) => llmContent
})

export const listDirectory = geminiCli.tool({
  name: "list_directory",
  operation: "list-directory",
  description: "List a directory: directories first, files with their size.",
  input: z.strictObject({
    dir_path: z.string().describe("Directory, absolute or relative to the workspace"),
    ignore: z.array(z.string()).optional().describe("Globs of names that are left out"),
    file_filtering_options: z
      .strictObject({
        respect_git_ignore: z.boolean().optional().describe("Accepted; everything but .git is listed"),
        respect_gemini_ignore: z.boolean().optional().describe("Accepted; .geminiignore is not read here")
      })
      .optional()
      .describe("Which files are left out")
  }),
  output: answer,
  risk: "read_only",
  timeout: "60 seconds",
  touches: ({ dir_path }) => ({ reads: [dir_path] }),
  execute: Effect.fnUntraced(function* ({ dir_path, ignore = [] }) {
    const workspace = yield* Workspace
    const shown = singleLine(resolve(workspace.root, dir_path))
    const ignored = yield* Effect.forEach(ignore, (one) => pathMatcher(one))
    const { entries } = yield* listInOrder(dir_path, {
      include: ({ name }) => !ignored.some((matches) => matches(name))
    }).pipe(
      Effect.mapError((error) =>
        makeToolError(error.code, `Error listing directory: ${reasonOf(error, shown)}`, {
          details: { worded: true, type: "ls_execution_error" }
        })
      )
    )
    if (entries.length === 0) return { llmContent: `Directory ${shown} is empty.` }
    const directories = entries
      .filter(({ kind }) => kind === "directory")
      .map(({ path }) => `[DIR] ${singleLine(path)}`)
    const files = yield* Effect.forEach(
      entries.filter(({ kind }) => kind !== "directory"),
      ({ path }) =>
        workspace.info(`${dir_path}/${path}`, { follow: false }).pipe(
          Effect.match({ onFailure: () => 0, onSuccess: ({ size }) => size }),
          Effect.map((size) => `${singleLine(path)} (${size} bytes)`)
        )
    )
    return { llmContent: [`Directory listing for ${shown}:`, ...directories, ...files].join("\n") }
  }),
  render: ({ llmContent }) => llmContent
})

const reasonOf = ({ code, message }: { readonly code: string; readonly message: string }, path: string): string =>
  code === "file_not_found" ? `ENOENT: no such file or directory, stat '${path}'` : singleLine(message)
