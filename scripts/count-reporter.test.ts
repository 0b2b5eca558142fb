import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

import { expect, test } from "vitest"

const root = dirname(import.meta.dirname)

const suite = `
test("passes", () => {})
test("fails", () => { throw new Error("on purpose") })
test("needs something", (context) => context.skip("no such program here"))
test("is for others (not on this platform)", (context) => context.skip())
`

test("counts tests in one plain line", () => {
  const { status, lines } = run(suite, {})
  expect({ status, last: lines.at(-1) }).toEqual({ status: 1, last: "1 passed, 1 failed, 2 skipped" })
})

test("passes a run with skipped tests", () => {
  expect(run(withoutFailure, {}).status).toBe(0)
})

test("fails a run with skipped tests where HAFT_NO_SKIP=1, and says which and why", () => {
  const { status, lines } = run(withoutFailure, { HAFT_NO_SKIP: "1" })
  expect({ status, last: lines.at(-1) }).toEqual({ status: 1, last: "1 passed, 1 failed, 1 skipped" })
  expect(lines.filter((line) => line.includes("no such program here"))).toHaveLength(1)
})

test("counts a file that does not load as failed", () => {
  const { status, lines } = run(`throw new Error("on purpose")`, {})
  expect({ status, last: lines.at(-1) }).toEqual({ status: 1, last: "0 passed, 1 failed, 0 skipped" })
})

const withoutFailure = suite.replace(/^test\("fails".*$/m, "")

function run(content: string, env: Record<string, string>) {
  const directory = mkdtempSync(join(tmpdir(), "haft-count-"))
  try {
    writeFileSync(join(directory, "one.test.ts"), content)
    const reporter = join(import.meta.dirname, "count-reporter.ts")
    const args = ["run", "--globals", "--root", directory, "--reporter=dot", `--reporter=${reporter}`]
    const { status, stdout } = spawnSync(process.execPath, [join(root, "node_modules/vitest/vitest.mjs"), ...args], {
      cwd: directory,
      encoding: "utf8",
      env: { PATH: process.env["PATH"], ...env }
    })
    return { status, lines: stdout.trimEnd().split("\n") }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
