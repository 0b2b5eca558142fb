import { renameSync, symlinkSync, writeFileSync } from "node:fs"

import { afterEach, beforeEach, expect, it } from "@effect/vitest"
import { temporaryWorkspace, type TemporaryWorkspace } from "@haft/testing"

import { openHost, openHostLater } from "../promise.ts"

let workspace: TemporaryWorkspace
beforeEach(() => {
  workspace = temporaryWorkspace({ "a.txt": "one\n" })
})
afterEach(() => workspace.remove())

const configOf = ({ root, state }: TemporaryWorkspace) => ({ root, state, packages: ["fs"] }) as const

it("has its tools before it is open, and opens once, however many call", async () => {
  const config = configOf(workspace)
  let opened = 0
  const late = await openHostLater(config, [], () => {
    opened++
    return openHost(config)
  })
  expect({ tools: late.tools, opened }).toEqual({ tools: [], opened: 0 })
  const replies = await Promise.all([1, 2].map(() => late.call("read_file", { path: "a.txt" })))
  late.open()
  expect({ opened, ok: replies.map(({ ok }) => ok) }).toEqual({ opened: 1, ok: [true, true] })
  await late.dispose()
})

it.runIf(process.platform === "linux")(
  "works in the directory that was there when it was made (not on this platform)",
  async () => {
    const config = configOf(workspace)
    const late = await openHostLater(config, [], () => openHost(config))
    renameSync(workspace.root, `${workspace.root}-was`)
    writeFileSync(`${workspace.outside}/secret.txt`, "do-not-tell")
    symlinkSync(workspace.outside, workspace.root)
    const reply = await late.call("read_file", { path: "a.txt" })
    const outside = await late.call("read_file", { path: "secret.txt" })
    await late.dispose()
    expect(reply.text).toContain("one")
    expect(outside.ok).toBe(false)
  }
)

it("has nothing to close where nobody opened it", async () => {
  const late = await openHostLater(configOf(workspace), [], () => Promise.reject(new Error("opened")))
  await expect(late.dispose()).resolves.toBe(undefined)
})

it("reports a failed opening to callers and in `unusable`", async () => {
  const late = await openHostLater(configOf(workspace), [], () => Promise.reject(new Error("no room")))
  late.open()
  await expect(late.call("read_file", {})).rejects.toThrow("no room")
  await expect(late.unusable).rejects.toThrow("no room")
  await late.dispose()
})

it.each([
  [
    "a workspace that is not there",
    ({ root, state }: TemporaryWorkspace) => ({ root: `${root}/none`, state }),
    "exist"
  ],
  ["a file", ({ root, state }: TemporaryWorkspace) => ({ root: `${root}/a.txt`, state }), "is not a directory"],
  ["a state directory inside", ({ root }: TemporaryWorkspace) => ({ root, state: `${root}/state` }), "is inside"]
])("refuses %s at once", async (_, place, problem) => {
  const opening = openHostLater(place(workspace), [], () => Promise.reject(new Error("opened")))
  await expect(opening).rejects.toThrow(problem)
})
