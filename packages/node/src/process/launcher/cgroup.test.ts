import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { afterAll, describe, expect, it } from "vitest"

import { findPlaces } from "./cgroup.ts"

const mounts = mkdtempSync(join(tmpdir(), "haft-test-cgroup-"))
afterAll(() => rmSync(mounts, { recursive: true, force: true }))

const group = (path: string, controllers?: string): string => {
  const directory = join(mounts, path)
  mkdirSync(directory, { recursive: true })
  if (controllers !== undefined) writeFileSync(join(directory, "cgroup.subtree_control"), controllers)
  return directory
}

describe("groups for limits", () => {
  it("are made in the host's own group where each controller has a hierarchy", () => {
    const memory = group("memory/own/group")
    const pids = group("pids")
    const own = "5:pids:/\n4:memory:/own/group\n1:cpu,cpuacct:/\n0::/\n"
    expect(findPlaces(mounts, own, () => true)).toEqual([
      { version: 1, controllers: ["memory"], parent: memory },
      { version: 1, controllers: ["pids"], parent: pids }
    ])
  })

  it("are made in the nearest group above that hands limits on, where all controllers share one hierarchy", () => {
    group("", "cpu memory pids\n")
    const slice = group("user.slice/app.slice", "memory pids\n")
    group("user.slice/app.slice/editor.scope", "\n")
    expect(findPlaces(mounts, "0::/user.slice/app.slice/editor.scope\n", () => true)).toEqual([
      { version: 2, controllers: ["memory", "pids"], parent: slice }
    ])
  })

  it("are not made where the machine does not allow it", () => {
    expect(findPlaces(mounts, "0::/user.slice/app.slice/editor.scope\n", () => false)).toEqual([])
    expect(findPlaces(join(mounts, "nothing"), "0::/\n", () => true)).toEqual([])
  })
})
