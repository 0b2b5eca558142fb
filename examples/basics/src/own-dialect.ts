import { mkdtemp, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { defineDialect } from "@haft/core"
import { execServices, runCommand, shellWords } from "@haft/exec-tools/operations"
import { planEdits, planOnce, type TextEdit } from "@haft/fs-tools/operations"
import { searchServices, searchText } from "@haft/search-tools/operations"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { definePlugin, Host, standardHost } from "haft"
import * as z from "zod"

const unix = defineDialect({
  name: "unix",
  symlinks: "inside",
  asks: (risk) => risk !== "read_only",
  success: ({ output }) => ({ data: output }),
  failure: ({ error }) => ({ error: error.message }),
  envelope: (output) => ({ type: "object", properties: { data: output, error: { type: "string" } } })
})

const replacing = planOnce((plan, { file, ...edit }: TextEdit & { readonly file: string }) =>
  planEdits(plan, file, [edit])
)

const sed = unix.tool({
  name: "sed",
  description: "Replace a text that stands in a file once.",
  input: z.strictObject({
    file: z.string().describe("The file, relative to the workspace"),
    find: z.string().min(1).describe("The text"),
    replace: z.string().describe("What takes its place")
  }),
  output: z.object({}),
  risk: "dangerous",
  touches: ({ file }) => ({ writes: [file] }),
  preview: (call) => Effect.map(replacing.preview(call), ({ diff }) => diff),
  execute: (call) => Effect.as(replacing.commit(call), {})
})

const grep = unix.tool({
  name: "grep",
  description: "Find lines with a text in them.",
  input: z.strictObject({ text: z.string().min(1).describe("The text") }),
  output: z.object({ lines: z.array(z.string()) }),
  risk: "read_only",
  touches: () => ({ reads: ["."] }),
  execute: ({ text: query }) =>
    searchText({
      query,
      isRegex: false,
      caseSensitive: true,
      path: ".",
      include: [],
      maxResults: 100,
      contextLines: 0,
      countAll: false
    }).pipe(Effect.map(({ matches }) => ({ lines: matches.map(({ path, line }) => `${path}:${line}`) })))
})

const sh = unix.tool({
  name: "sh",
  description: "Run a command line.",
  input: z.strictObject({ command: z.string().describe("The command line") }),
  output: z.object({ stdout: z.string() }),
  risk: "dangerous",
  touches: ({ command }) => ({ runs: command, reads: ["."] }),
  execute: ({ command }) =>
    Effect.map(runCommand({ command, words: shellWords(command) }), ({ stdout }) => ({ stdout: stdout.text }))
})

const tools = definePlugin({
  name: "unix-tools",
  version: "1.0.0",
  tools: [sed, grep, sh],
  layer: () => Layer.merge(execServices(), searchServices())
})

const root = await mkdtemp(join(tmpdir(), "haft-example-"))
await writeFile(join(root, "a.txt"), "one\ntwo\n")

await Effect.gen(function* () {
  const { call } = yield* Host
  const edited = yield* call("sed", { file: "a.txt", find: "two", replace: "three" })
  const found = yield* call("grep", { text: "three" })
  const ran = yield* call("sh", { command: "cat a.txt" })
  console.log(edited.wire, found.wire, ran.wire)
  if (!edited.ok || !found.text.includes("a.txt:2") || !ran.text.includes("three")) process.exitCode = 1
}).pipe(
  Effect.provide(
    standardHost({ root, dialect: unix, packages: [], plugins: [tools], approval: "all", sandbox: "none" })
  ),
  Effect.runPromise
)
