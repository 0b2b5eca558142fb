import { spawnSync } from "node:child_process"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"

import { expect, it } from "vitest"

import { embeddedScripts } from "./embed-scripts.ts"

const source = join(import.meta.dirname, "../packages/node/src")
const has = (program: string): boolean => spawnSync(program, ["--version"]).status === 0
const named = (pattern: string): ReadonlyArray<string> => globSync(pattern, { cwd: source }).toSorted()

it("embedded-scripts.ts holds the shell and perl programs as they are; else run node scripts/embed-scripts.ts", () => {
  expect(readFileSync(join(source, "embedded-scripts.ts"), "utf8")).toBe(embeddedScripts())
})

it.runIf(has("shellcheck")).each(named("**/*.sh"))("shellcheck accepts %s (needs shellcheck)", (path) => {
  const checked = spawnSync("shellcheck", ["--shell=sh", join(source, path)], { encoding: "utf8" })
  expect(checked.stdout + checked.stderr).toBe("")
})

it.runIf(has("perl")).each(named("**/*.pl"))("perl compiles %s without a warning (needs perl)", (path) => {
  const checked = spawnSync("perl", ["-wc", join(source, path)], { encoding: "utf8" })
  expect(checked.stdout + checked.stderr).toBe(`${join(source, path)} syntax OK\n`)
})
