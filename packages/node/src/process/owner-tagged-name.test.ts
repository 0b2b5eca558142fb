import { spawn } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { afterAll, describe, expect, it } from "vitest"

import { leftBehind, ownName } from "./owner-tagged-name.ts"

const directory = mkdtempSync(join(tmpdir(), "haft-test-own-name-"))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

describe.runIf(process.platform === "linux")("what a process left behind (needs /proc)", () => {
  it("is only what a process made that is gone, of this kind and with these process numbers", async () => {
    const [, , namespace, pid = "", start = ""] = ownName("kind").split("-")
    const child = spawn("true", { stdio: "ignore" })
    await new Promise((resolve) => child.once("exit", resolve))
    const gone = `haft-kind-${namespace}-${child.pid}-1234-abcd`
    const numberUsedAgain = `haft-kind-${namespace}-${pid}-${Number(start) - 1}-abcd`
    const others = [
      ownName("kind"),
      `haft-other-${namespace}-${child.pid}-1234-abcd`,
      `haft-kind-1-${child.pid}-1234-abcd`,
      "haft-kind-abcdef",
      "else"
    ]
    for (const name of [gone, numberUsedAgain, ...others]) mkdirSync(join(directory, name))
    expect(leftBehind(directory, "kind").toSorted()).toEqual([gone, numberUsedAgain].toSorted())
    expect(others.every((name) => existsSync(join(directory, name)))).toBe(true)
  })
})
