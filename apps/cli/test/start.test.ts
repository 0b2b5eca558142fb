import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { afterAll, expect, it } from "vitest"

import { directory } from "./build.ts"

const home = mkdtempSync(join(tmpdir(), "haft-start-"))
afterAll(() => rmSync(home, { recursive: true }))

const loadedBy = (...args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const list = join(home, "list.json")
  const spy = join(home, "spy.cjs")
  writeFileSync(join(home, "a.txt"), "hello\n")
  const write = `require("node:fs").writeFileSync(${JSON.stringify(list)}, JSON.stringify(process.moduleLoadList))`
  writeFileSync(spy, `process.on("exit", () => ${write})`)
  const env = { ...process.env, XDG_STATE_HOME: `${home}-state`, XDG_CONFIG_HOME: join(home, "config") }
  execFileSync(process.execPath, ["-r", spy, join(directory, "bin.js"), ...args], { env, cwd: home, stdio: "pipe" })
  rmSync(`${home}-state`, { recursive: true, force: true })
  return JSON.parse(readFileSync(list, "utf8")) as ReadonlyArray<string>
}

it("loads for a call neither what runs commands nor what asks people nor threads", () => {
  const loaded = loadedBy("call", "read_file", "path=a.txt")
  const unneeded = ["child_process", "readline", "worker_threads", "dgram", "zlib", "http"]
  expect(loaded.filter((name) => unneeded.includes(name.replace("NativeModule ", "")))).toEqual([])
})

it("loads next to nothing to tell its version", () => {
  const loaded = loadedBy("--version")
  expect(loaded.filter((name) => ["NativeModule crypto", "NativeModule module"].includes(name))).toEqual([])
})
