import { writeFileSync } from "node:fs"
import { join } from "node:path"

import { temporaryWorkspace } from "@haft/testing"
import { expect, it } from "vitest"

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
const texts: Readonly<Record<string, string>> = {
  "without a NUL": `${before}needle é ù\nlast\n`,
  "with a NUL beyond byte 8,000": `${before}\0needle é ù\nlast\n`,
  "with a NUL at its end": `${before}needle é ù\nlast\n\0`
}

it("read_file, search_text and edit_file agree on what is text, and on the text", { timeout: 120_000 }, async () => {
  using workspace = temporaryWorkspace()
  await using host = await openHost({ root: workspace.root, state: workspace.state, approval: "all" })
  const call = async (tool: string, params: object) => (await host.call(tool, { path: "f", ...params })).wire
  for (const [encoding, encode] of Object.entries(encodings)) {
    for (const [what, text] of Object.entries(texts)) {
      const title = `${encoding} ${what}`
      const bytes = encode(text)
      writeFileSync(join(workspace.root, "f"), bytes)
      const found = await call("search_text", { query: "needle" })
      const read = await call("read_file", { start_line: 2001, end_line: 2001 })
      if (text.includes("\0")) {
        expect({ title, found }).toMatchObject({ title, found: { result: { total_matches: 0 } } })
        expect({ title, read }).toMatchObject({ title, read: { error: { code: "binary_file" } } })
        const edited = await call("edit_file", { edits: [{ find: "needle", replace: "thread" }] })
        expect({ title, edited }).toMatchObject({ title, edited: { error: { code: "binary_file" } } })
        continue
      }
      const { content } = (read as { result: { content: string } }).result
      const line = content.slice(0, -1)
      expect({ title, found }).toMatchObject({
        title,
        found: { result: { matches: [{ line: 2001, content: line }], total_matches: 1 } }
      })
      const again = await call("search_text", { query: line, literal: true })
      expect({ title, again }).toMatchObject({ title, again: { result: { matches: [{ line: 2001, content: line }] } } })
      const edits = [{ find: line, replace: `${line}!` }]
      expect({ title, edited: await call("edit_file", { edits, exact: true }) }).toMatchObject({ edited: { ok: true } })
      const back = [{ find: `${line}!`, replace: line }]
      expect({ title, edited: await call("edit_file", { edits: back, exact: true }) }).toMatchObject({
        edited: { ok: true }
      })
      expect(workspace.read("f")).toBe(bytes.toString())
    }
  }
})
