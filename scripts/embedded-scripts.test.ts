import { spawnSync } from "node:child_process"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"

import { expect, it } from "vitest"

import { embeddedScripts, sources } from "./embed-scripts.ts"

const has = (program: string): boolean => spawnSync(program, ["--version"]).status === 0
const named = (pattern: string): ReadonlyArray<string> =>
  sources.flatMap((source) => globSync(pattern, { cwd: source }).map((path) => join(source, path))).toSorted()

it.each(sources)("%s/embedded-scripts.ts is up to date; else run node scripts/embed-scripts.ts", (source) => {
  expect(readFileSync(join(source, "embedded-scripts.ts"), "utf8")).toBe(embeddedScripts(source))
})

it.runIf(has("shellcheck")).each(named("**/*.sh"))("shellcheck accepts %s (needs shellcheck)", (path) => {
  const checked = spawnSync("shellcheck", ["--shell=sh", path], { encoding: "utf8" })
  expect(checked.stdout + checked.stderr).toBe("")
})

it.runIf(has("perl")).each(named("**/*.pl"))("perl compiles %s without a warning (needs perl)", (path) => {
  const checked = spawnSync("perl", ["-wc", path], { encoding: "utf8" })
  expect(checked.stdout + checked.stderr).toBe(`${path} syntax OK\n`)
})
