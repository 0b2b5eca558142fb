import { expect, it } from "vitest"

import { openTools } from "../../test/open-tools.ts"

const lineCount = 40_000
const lines = Array.from({ length: lineCount }, (_, at) => `line ${at}`)
const text = `${lines.join("\n")}\n`
const even = lines.filter((_, at) => at % 2 === 0)

const diff = [
  "--- a/many.txt",
  "+++ b/many.txt",
  ...lines.flatMap((line, at) =>
    at % 2 === 0 ? [`@@ -${at + 1},2 +${at + 1},2 @@`, `-${line}`, `+${line} changed`, ` ${lines[at + 1]}`] : []
  ),
  ""
].join("\n")

const envelope = [
  "*** Begin Patch",
  "*** Update File: many.txt",
  ...even.flatMap((line) => ["@@", `-${line}`, `+${line} changed`]),
  "*** End Patch"
].join("\n")

const misspelled = lines.map((line) => `${line}?`).join("\n")

it.each([
  ["apply_patch, a diff of 20,000 hunks", "apply_patch", { patch: diff }, true],
  ["apply_patch, an envelope of 20,000 hunks", "apply_patch", { patch: envelope }, true],
  [
    "edit_file, 40,000 places",
    "edit_file",
    { path: "many.txt", edits: [{ find: "line", replace: "L", all: true }] },
    true
  ],
  [
    "edit_file, 40,000 lines that are not there",
    "edit_file",
    { path: "many.txt", edits: [{ find: misspelled, replace: "" }] },
    false
  ]
])("lets others in between: %s", async (_what, tool, params, ok) => {
  await using tools = await openTools({ "many.txt": text })
  let turns = 0
  const timer = setInterval(() => turns++, 1)
  const reply = await tools.call(tool, params)
  clearInterval(timer)
  expect(reply).toMatchObject({ ok })
  expect(turns).toBeGreaterThan(3)
})

it("a cancelled apply_patch of 20,000 hunks ends between two slices, and changes nothing", async () => {
  await using tools = await openTools({ "many.txt": text })
  const cancel = new AbortController()
  const call = tools.host.call("apply_patch", { patch: envelope }, { signal: cancel.signal })
  let turns = 0
  const timer = setInterval(() => ++turns === 3 && cancel.abort(), 1)
  await expect(call).rejects.toThrow("aborted")
  clearInterval(timer)
  expect(tools.workspace.read("many.txt")).toBe(text)
  expect(await tools.call("read_file", { path: "many.txt", start_line: 1, end_line: 1 })).toMatchObject({ ok: true })
  expect(tools.workspace.read("many.txt")).toBe(text)
})
