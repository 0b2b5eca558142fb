import { writeFileSync } from "node:fs"
import { join } from "node:path"

import { temporaryWorkspace, type TemporaryWorkspace } from "@haft/testing"
import { afterEach, beforeEach, expect, it } from "vitest"

import { openHost } from "./promise.ts"

const encodings: Readonly<Record<string, (text: string) => Buffer>> = {
  "UTF-8": (text) => Buffer.from(text),
  "UTF-8 with a byte order mark": (text) => Buffer.from(`\uFEFF${text}`),
  "UTF-16LE": (text) => Buffer.from(`\uFEFF${text}`, "utf16le"),
  "UTF-16BE": (text) => Buffer.from(`\uFEFF${text}`, "utf16le").swap16(),
  "Latin-1": (text) => Buffer.from(text, "latin1"),
  "UTF-8 with one broken byte": (text) => Buffer.concat([Buffer.from(text), Buffer.of(0xe9, 0x0a)])
}

const before = "first ü\n".repeat(2000)
const text = `${before}needle é ù\nlast\n`

let workspace: TemporaryWorkspace
beforeEach(() => {
  workspace = temporaryWorkspace()
})
afterEach(() => workspace.remove())

const open = () => openHost({ root: workspace.root, state: workspace.state, approval: "all" })

it.each(Object.entries(encodings))("%s: edit_file finds what read_file and search_text show", async (_name, encode) => {
  const bytes = encode(text)
  writeFileSync(join(workspace.root, "f"), bytes)
  await using host = await open()
  const call = async (tool: string, params: object) => (await host.call(tool, { path: "f", ...params })).wire
  const read = (await call("read_file", { start_line: 2001, end_line: 2001 })) as { result: { content: string } }
  const line = read.result.content.slice(0, -1)
  const found = { result: { matches: [{ line: 2001, content: line }], total_matches: 1 } }
  expect(await call("search_text", { query: "needle" })).toMatchObject(found)
  expect(await call("search_text", { query: line, literal: true })).toMatchObject(found)
  for (const [find, replace] of [
    [line, `${line}!`],
    [`${line}!`, line]
  ]) {
    expect(await call("edit_file", { edits: [{ find, replace }], exact: true })).toMatchObject({ ok: true })
  }
  expect(workspace.read("f")).toBe(bytes.toString())
})

it.each(Object.entries(encodings))("%s: a NUL beyond byte 8,000 is binary for all tools", async (_name, encode) => {
  writeFileSync(join(workspace.root, "f"), encode(`${text}\0`))
  await using host = await open()
  const call = async (tool: string, params: object) => (await host.call(tool, { path: "f", ...params })).wire
  const edits = [{ find: "needle", replace: "thread" }]
  expect(await call("search_text", { query: "needle" })).toMatchObject({ result: { total_matches: 0 } })
  expect(await call("read_file", {})).toMatchObject({ error: { code: "binary_file" } })
  expect(await call("edit_file", { edits })).toMatchObject({ error: { code: "binary_file" } })
})
