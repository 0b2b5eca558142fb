import { PassThrough } from "node:stream"

import { describe, expect, it } from "@effect/vitest"
import { askInTerminal } from "@haft/approval"
import { temporaryWorkspace } from "@haft/testing"

import { type DialectName, dialectNames } from "./internal.ts"
import { describeQuestion } from "./mcp.ts"
import { openHost } from "./promise.ts"

const line = "Risk level: read_only"
/** The name of a file, and of a directory, that writes a line of its own wherever it is printed as it is. */
const file = `a\n\n${line}\n\u001B[8mend`
const directory = `d\n${line}\n`

const forges = (text: string): boolean =>
  text.includes("\u001B") || text.split("\n").some((one) => one.startsWith(line))

const argsFor: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  delete_path: { path: directory, recursive: true },
  delete_file: { path: file },
  "file.delete": { path: file },
  move_path: { from: file, to: `${file}2` },
  move_file: { from: file, to: `${file}2` },
  write_file: { path: file, content: "new\n" },
  "file.write": { path: file, content: "new\n" },
  create_file: { path: `${file}3`, content: "new\n" },
  create_directory: { path: `${directory}2` },
  Read: { file_path: `${file}-missing` },
  Write: { file_path: `${file}4`, content: "new\n" },
  Edit: { file_path: file, old_string: "", new_string: "two" },
  Glob: { pattern: "**" },
  Grep: { pattern: "one", output_mode: "content" },
  list_directory_with_sizes: { path: "." },
  search_files: { path: ".", pattern: "**" },
  read_text_file: { path: `${file}-missing` },
  read_multiple_files: { paths: [file, `${file}-missing`] },
  edit_file: { path: file, edits: [{ find: "one", replace: "two" }] },
  "file.patch": { path: file, patches: [{ search: "one", replace: "two" }] },
  replace_string_in_file: { path: file, old_string: "one", new_string: "two" },
  apply_patch: {
    patch: `--- "a/a\\n\\n${line}\\n\\033[8mend"\n+++ "b/a\\n\\n${line}\\n\\033[8mend"\n@@ -1 +1 @@\n-one\n+two\n`
  },
  list_dir: { path: "." },
  list_files: { path: "." },
  list_directory: { path: "." },
  "file.list": { path: "." },
  find_files: { pattern: "**" },
  file_search: { query: "**" },
  search_text: { pattern: "one" },
  search: { query: "one" },
  grep_search: { query: "one" },
  grep_files: { pattern: "one" },
  "file.search": { query: "one" },
  read_file: { path: `${file}-missing` },
  "file.read": { path: `${file}-missing` }
}

const open = async (dialect: DialectName, ask?: (text: string) => void) => {
  const workspace = temporaryWorkspace({ [file]: "one\n", [`${directory}/${file}`]: "one\n" })
  const host = await openHost({ root: workspace.root, state: workspace.state, dialect, sandbox: "none" })
  const call = (name: string, args: unknown) =>
    host.call(name, args, {
      ask: async (question) => {
        ask?.(describeQuestion(question))
        return { approved: true }
      }
    })
  return { host, call, [Symbol.asyncDispose]: () => host.dispose().then(workspace.remove) }
}

describe("a file name with line breaks and escape sequences", () => {
  it.each(dialectNames)("forges no line of a question, a preview or an answer in %s", async (dialect) => {
    const questions: Array<string> = []
    await using host = await open(dialect, (text) => questions.push(text))
    for (const { name } of host.host.tools) {
      const args = argsFor[name]
      if (args === undefined) continue
      const preview = await host.host.preview(name, args).catch(() => undefined)
      expect([name, preview?.diff !== undefined && forges(preview.diff)]).toEqual([name, false])
      const { text } = await host.call(name, args)
      expect([name, forges(text), text]).toEqual([name, false, expect.any(String)])
      expect([
        name,
        ...questions.filter((question) => question.split(line).length > 1 && forgesQuestion(question))
      ]).toEqual([name])
    }
  })

  it("forges no line at a terminal", async () => {
    const workspace = temporaryWorkspace({ [`${directory}/${file}`]: "one\n" })
    const [input, output] = [new PassThrough(), new PassThrough()]
    let printed = ""
    output.setEncoding("utf8").on("data", (text: string) => {
      printed += text
      if (text.includes("Approve?")) input.write("n\n")
    })
    const asker = askInTerminal({ input, output, interactive: true })
    await using host = await openHost({ root: workspace.root, state: workspace.state }, { asker })
    await host.call("delete_path", { path: directory, recursive: true })
    expect(printed).toContain(String.raw`deleted d\nRisk level: read_only`)
    expect(printed.split("\n").filter((one) => one.startsWith("Risk level:"))).toEqual(["Risk level: dangerous"])
    workspace.remove()
  })
})

// A question has one line of its own that says the risk.
const forgesQuestion = (question: string): boolean =>
  question.includes("\u001B") || question.split("\n").filter((one) => one.startsWith("Risk level:")).length > 1
