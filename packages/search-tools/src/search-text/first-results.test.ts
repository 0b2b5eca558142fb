import { writeFileSync } from "node:fs"
import { join } from "node:path"

import { describe, expect, it } from "@effect/vitest"
import { filetools } from "@haft/dialects"
import { nodeProcesses } from "@haft/node"

import { callIn } from "../../test/hosts.ts"
import { standIns } from "../../test/stand-in.ts"

const standIn = standIns()

describe("a search without a total", () => {
  const many = Object.fromEntries(
    Array.from({ length: 400 }, (_, index) => [`d${String(index % 20).padStart(2, "0")}/f${index}`, "hit\nhit\n"])
  )

  it("ends with the last result, in the order of whole paths", async () => {
    const reply = await callIn(filetools, many, "file.search", { pattern: "hit", max_results: 3 })
    expect(reply.wire).toEqual({
      matches: [
        { path: "d00/f0", line: 1, content: "hit" },
        { path: "d00/f0", line: 2, content: "hit" },
        { path: "d00/f100", line: 1, content: "hit" }
      ],
      truncated: true
    })
  })

  it("does so with the processes of a real host", async () => {
    const params = { pattern: "hit", max_results: 1 }
    const reply = await callIn(filetools, many, "file.search", params, { processes: nodeProcesses })
    expect(reply.wire).toEqual({ matches: [{ path: "d00/f0", line: 1, content: "hit" }], truncated: true })
  })

  it.each([
    ["d00-x", "beside the directory ripgrep saw first"],
    ["d00.x", "with a dot"]
  ])("finds %s first, %s", async (name) => {
    const reply = await callIn(filetools, { ...many, [name]: "hit" }, "file.search", { pattern: "hit", max_results: 1 })
    expect(reply.wire).toEqual({ matches: [{ path: name, line: 1, content: "hit" }], truncated: true })
  })

  it("is right where UTF-8 and UTF-16 sort differently", async () => {
    const files = { "\uFFE6": "hit", "🙂": "hit" }
    const reply = await callIn(filetools, files, "file.search", { pattern: "hit", max_results: 1 })
    expect(reply.wire).toEqual({ matches: [{ path: "🙂", line: 1, content: "hit" }], truncated: true })
  })

  it("shows nothing of a file that is binary behind the last result", async () => {
    const reply = await callIn(
      filetools,
      { b: "hit" },
      "file.search",
      { pattern: "hit", max_results: 1 },
      {
        prepare: ({ root }) => writeFileSync(join(root, "a"), `${"hit\n".repeat(100_000)}\0`)
      }
    )
    expect(reply.wire).toEqual({ matches: [{ path: "b", line: 1, content: "hit" }], truncated: false })
  })

  it("ends ripgrep with the last result, whatever it has still to do", async () => {
    const ripgrep = standIn(
      "busy-when-sorted",
      'for a in "$@"; do [ "$a" = --sort=path ] && printf "./a\\0001\\n./b\\0001\\n" && exec sleep 600; done; for a in "$@"; do [ "$a" = --count ] && exit 1; done; printf "./a\\0001:1:0:x\\n"'
    )
    const params = { pattern: "hit", max_results: 1 }
    const reply = await callIn(filetools, { a: "hit", b: "hit" }, "file.search", params, { ripgrep })
    expect(reply.wire).toEqual({ matches: [{ path: "a", line: 1, content: "hit" }], truncated: true })
  })

  it("goes parallel when the ordered pass takes long", async () => {
    const ripgrep = standIn(
      "slow-when-sorted",
      'for a in "$@"; do [ "$a" = --sort=path ] && exec sleep 20; done; for a in "$@"; do [ "$a" = --count ] && printf "./a\\0001\\n" && exit; done; printf "./a\\0001:1:0:x\\n"'
    )
    const reply = await callIn(filetools, { a: "hit" }, "file.search", { pattern: "hit" }, { ripgrep })
    expect(reply.wire).toEqual({ matches: [{ path: "a", line: 1, content: "hit" }], truncated: false })
  })
})
