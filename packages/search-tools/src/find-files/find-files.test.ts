import { describe, expect, it } from "@effect/vitest"
import { toolError } from "@haft/core"
import { cliagent, haft } from "@haft/dialects"
import * as Effect from "effect/Effect"

import { callIn } from "../../test/hosts.ts"

it("finds the first thousand of many files and warns", async () => {
  const files = Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`f${index}`, ""]))
  const reply = await callIn(cliagent, files, "file_search", { pattern: "*" })
  expect(reply.text.split("\n").slice(0, 3)).toEqual([
    "Warning: Found 1001 matches, showing first 1000",
    "Found 1001 files matching '*':",
    "  f0"
  ])
})

it("says what is wrong with a pattern beside the contract's words", async () => {
  const reply = await callIn(cliagent, {}, "file_search", { pattern: "a': *a*a*a*[a]*" })
  expect(reply.error?.message).toBe("Invalid glob pattern 'a': *a*a*a*[a]*'")
  expect(reply.error?.suggestion).toMatch(/^The problem: it has more than 3 \* or \( \) competing/u)
})

it("reports directories below max_depth that it skipped", async () => {
  const deep = { [`${"d/".repeat(21)}f`]: "", "d/f": "" }
  const found = await callIn(haft, deep, "find_files", { pattern: "**/f" })
  expect(found.text).toBe(
    "1 file\nd/f\n1 directory was not looked into: too deep. Raise max_depth, or set path further down."
  )
  const deeper = await callIn(haft, deep, "find_files", { pattern: "**/f", max_depth: 21 })
  expect(deeper.text).toBe(`2 files\n${"d/".repeat(21)}f\nd/f`)
})

describe("when nothing matches", () => {
  it("looks for ignored files no longer than a hint is worth", async () => {
    const limits: Array<number | undefined> = []
    const reply = await callIn(
      haft,
      {},
      "find_files",
      { pattern: "*.log" },
      {
        disturb: () => ({
          glob: (_path, _pattern, { respectIgnore = false, timeLimitMs } = {}) => {
            limits.push(timeLimitMs)
            return Effect.succeed(respectIgnore ? { paths: [], total: 0 } : { paths: [], total: 3, timedOut: true })
          }
        })
      }
    )
    expect(limits).toEqual([undefined, 2000])
    expect(reply.wire).toMatchObject({
      result: {
        remarks: ["At least 3 files match that .gitignore leaves out. Set include_ignored to see them."]
      }
    })
  })

  it("because the directory itself can't be read, that is an error", async () => {
    const reply = await callIn(
      haft,
      {},
      "find_files",
      { pattern: "*" },
      {
        disturb: () => ({
          glob: () => Effect.succeed({ paths: [], total: 0, unreadable: 1 }),
          list: (path) => toolError("permission_denied", `${path} can't be read`)
        })
      }
    )
    expect(reply.error?.code).toBe("permission_denied")
  })
})
