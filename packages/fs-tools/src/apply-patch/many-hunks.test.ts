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

/** The longest processor time, in milliseconds, that is taken between two turns of the event loop. */
const longestTurn = async (work: () => Promise<unknown>): Promise<number> => {
  const used = (): number => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1000
  }
  let longest = 0
  let last = used()
  let handle: NodeJS.Immediate | undefined
  const turn = (): void => {
    const now = used()
    longest = Math.max(longest, now - last)
    last = now
    handle = setImmediate(turn)
  }
  turn()
  await work()
  turn()
  clearImmediate(handle)
  return longest
}

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
  const longest = await longestTurn(async () => {
    expect(await tools.call(tool, params)).toMatchObject({ ok })
  })
  expect(longest).toBeLessThan(250)
})

const long = Array.from({ length: 100_000 }, (_, at) => `  const value${at} = compute(${at % 977},  "text ${at % 13}")`)
const hunk = [`-${long[7]?.replaceAll("  ", " ")}!`, "+new"]

it.each([
  ["edit_file, one line", { path: "long.txt", edits: [{ find: "no such text", replace: "" }] }],
  ["edit_file, three lines", { path: "long.txt", edits: [{ find: `${long[5]}\nno\n${long[7]}`, replace: "" }] }],
  ["apply_patch, a diff", { patch: ["--- a/long.txt", "+++ b/long.txt", "@@ -9 +9 @@", ...hunk, ""].join("\n") }],
  [
    "apply_patch, an envelope",
    { patch: ["*** Begin Patch", "*** Update File: long.txt", "@@", ...hunk, "*** End Patch"].join("\n") }
  ]
])("%s that is not in 100,000 takes no longer than 250 ms between two turns", async (tool, params) => {
  await using tools = await openTools({ "long.txt": `${long.join("\n")}\n` })
  const longest = await longestTurn(async () => {
    expect(await tools.call(tool.split(",")[0] ?? "", params)).toMatchObject({ ok: false })
  })
  expect(longest).toBeLessThan(250)
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
