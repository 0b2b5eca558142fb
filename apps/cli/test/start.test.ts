import { execFileSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { temporaryWorkspace } from "@haft/testing"
import { dialectNames } from "haft/internal"
import { openHost } from "haft/promise"
import { afterAll, expect, it } from "vitest"

import { listedTools } from "../src/listed-tools.ts"
import { directory } from "./build.ts"
import { haft, placeOf } from "./haft.ts"

const home = mkdtempSync(join(tmpdir(), "haft-start-"))
afterAll(() => {
  for (const directory of [home, `${home}-state`]) rmSync(directory, { recursive: true, force: true })
})

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

it.each(dialectNames)("lists for %s the tools that a host has", async (dialect) => {
  await using host = await openHost({ root: home, state: `${home}-state`, dialect })
  expect(await listedTools(dialect)).toEqual(JSON.parse(JSON.stringify(host.tools)))
})

it("says all of a long answer to a reader that takes its time", () => {
  const slowly = `"$0" "$1" tools -w "$2" --state "$2-state" --format json | (sleep 0.5; wc -c)`
  const counted = execFileSync("sh", ["-c", slowly, process.execPath, join(directory, "bin.js"), home])
  expect(Number(counted)).toBeGreaterThan(65_536)
})

it.runIf(process.platform === "linux")("keeps compiled code where no command can replace it", async () => {
  using workspace = temporaryWorkspace({ "a.txt": "hello\n" })
  const { root } = workspace
  // A test run that measures coverage turns the compile cache off.
  const run = (env: Readonly<Record<string, string>>) =>
    haft(["call", "run_command", "command=true", "--approve", "all", ...placeOf(workspace)], {
      env: { NODE_DISABLE_COMPILE_CACHE: undefined, ...env }
    })
  await run({ TMPDIR: root, NODE_COMPILE_CACHE: "" })
  expect(readdirSync(root)).toEqual(["a.txt"])
  for (const name of ["XDG_CACHE_HOME", "NODE_COMPILE_CACHE"]) {
    const { code, stderr } = await run({ NODE_COMPILE_CACHE: "", [name]: root })
    expect(stderr).toContain(`${root} contains Node's compile cache`)
    expect(code).toBe(1)
  }
})
