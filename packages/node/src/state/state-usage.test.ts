import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { afterAll, expect, it } from "@effect/vitest"

import { makeWorkspaces } from "../../test/workspaces.ts"
import { takeLock } from "./lock-file.ts"
import { stateDirectory } from "./state-directory.ts"
import { pruneState, removeState, stateUsage } from "./state-usage.ts"

const workspaces = makeWorkspaces("state-usage")
afterAll(workspaces.remove)

const newState = () => {
  const root = workspaces.make({})
  const directory = stateDirectory({ root, state: `${root}-state` })
  return { root, directory }
}

const addRun = (directory: string, name: string, content = "x".repeat(100)): string => {
  const run = join(directory, "runs", name)
  mkdirSync(run, { recursive: true })
  writeFileSync(join(run, "events.jsonl"), content)
  return run
}

const [old, newer, newest] = [
  "20250101T000000000-aaaaaaaa",
  "20260601T000000000-bbbbbbbb",
  "20260701T000000000-cccccccc"
]

it("marks a new state directory with its format and workspace", () => {
  const { root, directory } = newState()
  expect(JSON.parse(readFileSync(join(directory, "format.json"), "utf8"))).toEqual({ format: 1, root })
  expect(stateUsage(directory)).toMatchObject({ format: 1, root, runs: 0, openRuns: [] })
})

it("marks a state directory that an earlier version made without a mark", () => {
  const root = workspaces.make({})
  const directory = workspaces.make({ "rules.json": "[]" })
  stateDirectory({ root, state: directory })
  expect(stateUsage(directory).format).toBe(1)
  expect(readFileSync(join(directory, "rules.json"), "utf8")).toBe("[]")
})

it("refuses a state directory of a newer format by its number, and changes nothing in it", () => {
  const { root, directory } = newState()
  writeFileSync(join(directory, "format.json"), '{"format":2}')
  expect(() => stateDirectory({ root, state: directory })).toThrow(
    /has format 2, and this version of haft reads format 1/
  )
  expect(readFileSync(join(directory, "format.json"), "utf8")).toBe('{"format":2}')
})

it.each(["", "{", "[]", "null", '{"format":"1"}', '{"format":0}', '{"format":1.5}'])(
  "refuses a damaged mark instead of guessing the format: %j",
  (content) => {
    const { root, directory } = newState()
    writeFileSync(join(directory, "format.json"), content)
    expect(() => stateDirectory({ root, state: directory })).toThrow(/has no format number/)
  }
)

it("measures a state directory whose mark is damaged, and does not remove it", () => {
  const { directory } = newState()
  writeFileSync(join(directory, "format.json"), "{")
  expect(stateUsage(directory)).toMatchObject({ format: undefined, runs: 0 })
  expect(() => removeState(directory)).toThrow(/has no format number/)
  expect(existsSync(directory)).toBe(true)
})

it("prunes runs older than a time, except open ones, the newest one and names it does not know", () => {
  const { directory } = newState()
  for (const name of [old, newer, newest, "chosen-by-hand"]) addRun(directory, name)
  mkdirSync(join(directory, "open-runs"))
  const release = takeLock(join(directory, "open-runs", newer))
  const before = new Date("2026-06-15T00:00:00Z")
  expect(pruneState(directory, { before, isDry: true })).toEqual({ runs: [old], bytes: 100 })
  expect(existsSync(join(directory, "runs", old))).toBe(true)
  expect(pruneState(directory, { before })).toEqual({ runs: [old], bytes: 100 })
  expect(existsSync(join(directory, "runs", old))).toBe(false)
  release?.()
  expect(pruneState(directory, { before }).runs).toEqual([newer])
  expect(stateUsage(directory).runs).toBe(2)
})

it("removes a state directory, but neither one in use nor a directory that is none", () => {
  const { directory } = newState()
  mkdirSync(join(directory, "open-runs"))
  const release = takeLock(join(directory, "open-runs", newer))
  expect(() => removeState(directory)).toThrow(/used by 1 running host/)
  release?.()
  removeState(directory)
  expect(existsSync(directory)).toBe(false)
  const other = workspaces.make({ "precious.txt": "kept" })
  expect(() => removeState(other)).toThrow(/is not a state directory/)
  expect(existsSync(join(other, "precious.txt"))).toBe(true)
})
