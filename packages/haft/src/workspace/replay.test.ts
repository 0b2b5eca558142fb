import { temporaryWorkspace, type TemporaryWorkspace } from "@haft/testing"
import { afterEach, beforeEach, describe, expect, it } from "vitest"

import type { HaftConfig } from "../config/config.ts"
import { runsOf } from "../internal.ts"
import { openHost, replayRun } from "../promise.ts"

let workspace: TemporaryWorkspace
let config: HaftConfig
beforeEach(() => {
  workspace = temporaryWorkspace({ "a.txt": "one\n", link: { symlink: "a.txt" } })
  config = { root: workspace.root, state: workspace.state, packages: ["fs", "exec"], sandbox: "none" }
})
afterEach(() => workspace.remove())

/** Makes calls and returns the name of their run. */
const record = async (...calls: ReadonlyArray<readonly [tool: string, args: object]>): Promise<string> => {
  {
    await using host = await openHost({ ...config, approval: "all" })
    for (const [tool, args] of calls) await host.call(tool, args)
  }
  return (await runsOf(config)).at(-1)?.name ?? ""
}

const outcomes = ({ calls }: Awaited<ReturnType<typeof replayRun>>) => calls.map(({ outcome }) => outcome)

describe("a replay", () => {
  it("begins with the workspace as it was before the run, and leaves it alone", async () => {
    await record(
      ["read_file", { path: "a.txt" }],
      ["write_file", { path: "docs/b.md", content: "two\n" }],
      ["edit_file", { path: "a.txt", edits: [{ find: "one", replace: "1" }] }],
      ["move_path", { from: "docs/b.md", to: "c.md" }],
      ["delete_path", { path: "docs", recursive: true }],
      ["read_file", { path: "missing.txt" }]
    )
    const replay = await replayRun(config)
    expect(outcomes(replay)).toEqual(["same", "same", "same", "same", "same", "same"])
    expect(replay.files).toEqual([])
    expect(replay.whyNotBefore).toBe(undefined)
    expect([workspace.read("a.txt"), workspace.read("c.md")]).toEqual(["1\n", "two\n"])
  })

  it("takes later runs back first", async () => {
    const first = await record(["edit_file", { path: "a.txt", edits: [{ find: "one", replace: "two" }] }])
    await record(["edit_file", { path: "a.txt", edits: [{ find: "two", replace: "three" }] }])
    const replay = await replayRun(config, { run: first })
    expect([outcomes(replay), replay.files, replay.whyNotBefore]).toEqual([["same"], [], undefined])
    expect(workspace.read("a.txt")).toBe("three\n")
  })

  it("tells which reply is different when a file that was read has changed", async () => {
    await record(["read_file", { path: "a.txt" }])
    workspace.put("a.txt", "other\n")
    const { calls, files } = await replayRun(config)
    expect(calls[0]?.differences.map(({ where }) => where)).toContain("result.content")
    expect(files).toEqual([])
  })

  it("tells which file is different when a command does not do the same again", async () => {
    await record(["run_command", { command: "echo $$ > number.txt; pwd" }])
    expect(outcomes(await replayRun(config))).toEqual(["skipped"])
    const replay = await replayRun({ ...config, approval: "all" })
    expect(replay.files).toEqual([{ path: "number.txt", kind: "different" }])
    // The command printed the path of the copy, which is compared as the path of the workspace.
    expect(replay.calls[0]?.differences.map(({ where }) => where)).not.toContain("result.stdout")
  })

  it("says so when it can't go back", async () => {
    await record(["write_file", { path: "b.md", content: "two" }])
    workspace.put("b.md", "changed by hand")
    const replay = await replayRun(config)
    expect(replay.whyNotBefore).toContain("b.md has changed since")
    expect(replay.files).toEqual([{ path: "b.md", kind: "different" }])
    expect(workspace.read("b.md")).toBe("changed by hand")
  })

  it("makes a copy that stays in a directory that is empty and elsewhere", async () => {
    await record(["write_file", { path: "b.md", content: "two" }])
    const into = `${workspace.outside}/copy`
    expect(outcomes(await replayRun(config, { into }))).toEqual(["same"])
    await expect(replayRun(config, { into })).rejects.toThrow("not empty")
    await expect(replayRun(config, { into: `${workspace.root}/copy` })).rejects.toThrow("inside the workspace")
    await expect(replayRun(config, { run: "none-such" })).rejects.toThrow("there is no run")
  })
})
