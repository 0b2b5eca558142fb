import { afterEach, beforeEach, describe, expect, it } from "@effect/vitest"
import { Host, use } from "@haft/core"
import { openHost, type OpenHost } from "@haft/core/promise"
import { haft } from "@haft/dialects"
import { fileJournal, nodeProcesses, nodeWorkspace, noSandbox } from "@haft/node"
import { scriptedApprover, temporaryWorkspace, type TemporaryWorkspace } from "@haft/testing"
import * as Layer from "effect/Layer"

import { projectTools } from "./index.ts"
import { parseJestJson, parseJunit } from "./test-outcome.ts"

let workspace: TemporaryWorkspace
let host: OpenHost
let approver: ReturnType<typeof scriptedApprover>

beforeEach(async () => {
  workspace = temporaryWorkspace({ "package.json": `{ "type": "module" }` })
  approver = scriptedApprover()
  const services = noSandbox({}).pipe(
    Layer.provideMerge(Layer.mergeAll(nodeProcesses, fileJournal({ directory: workspace.state }), approver.layer)),
    Layer.provideMerge(nodeWorkspace({ root: workspace.root, state: workspace.state }))
  )
  host = await openHost(Host.layer({ dialect: haft, plugins: [use(projectTools)] }).pipe(Layer.provide(services)))
})
afterEach(async () => {
  await host.dispose()
  workspace.remove()
})

const call = async (tool: string, args: object = {}) => (await host.call(tool, args)).wire

// Puts a script in the place of a program of the project.
const program = (path: string, script: string) => workspace.put(path, script)

describe("run_tests", () => {
  it("runs node's own tests and tells what failed", async () => {
    workspace.put(
      "sum.test.js",
      `import test from "node:test"; import assert from "node:assert"
       test("adds", () => assert.equal(1 + 1, 2)); test("fails <badly>", () => assert.equal(1, 2)); test.skip("later")`
    )
    expect(await call("run_tests")).toMatchObject({
      ok: true,
      result: { runner: "node", passed: 1, failed: 1, skipped: 1, failures: [{ test: "fails <badly>" }] }
    })
    expect(await call("run_tests", { filter: "adds" })).toMatchObject({ result: { passed: 1, failed: 0 } })
    expect(approver.questions.map(({ facts }) => facts.runs)).toEqual([
      "node --test --test-reporter=junit",
      "node --test --test-reporter=junit --test-name-pattern adds"
    ])
  })

  it.each([
    ["vitest", "node_modules/vitest/vitest.mjs"],
    ["jest", "node_modules/jest/bin/jest.js"]
  ])("reads the report of %s", async (name, path) => {
    workspace.put("package.json", JSON.stringify({ devDependencies: { [name]: "1" } }))
    const assertionResults = [{ fullName: "a b", status: "failed", failureMessages: ["wrong"] }]
    const report = {
      numPassedTests: 2,
      numFailedTests: 1,
      numPendingTests: 0,
      testResults: [{ name: "x", assertionResults }]
    }
    program(path, `console.log("noise"); console.log(${JSON.stringify(JSON.stringify(report))}); process.exitCode = 1`)
    expect(await call("run_tests")).toEqual({
      ok: true,
      result: {
        runner: name,
        passed: 2,
        failed: 1,
        skipped: 0,
        duration_ms: expect.any(Number),
        failures: [{ test: "a b", file: "x", message: "wrong" }]
      }
    })
  })

  it("says so when there is no runner, no result, or no end", async () => {
    workspace.put("package.json", `{ "devDependencies": { "vitest": "1" } }`)
    expect(await call("run_tests")).toMatchObject({ error: { code: "command_failed" } })
    program("node_modules/vitest/vitest.mjs", "setInterval(() => {}, 1000)")
    expect(await call("run_tests", { timeout_ms: 1000 })).toMatchObject({ error: { code: "timeout" } })
    await call("run_tests", { filter: "" }).then((wire) =>
      expect(wire).toMatchObject({ error: { code: "invalid_params" } })
    )
    using empty = temporaryWorkspace()
    const services = Layer.mergeAll(fileJournal({ directory: empty.state }), approver.layer, nodeProcesses).pipe(
      Layer.provideMerge(nodeWorkspace({ root: empty.root, state: empty.state }))
    )
    const layer = Host.layer({ dialect: haft, plugins: [use(projectTools)] }).pipe(Layer.provide(services))
    await using other = await openHost(layer)
    expect((await other.call("run_tests", {})).wire).toMatchObject({ error: { code: "file_not_found" } })
  })

  it("understands files that do not load, XML with entities, and refuses what is neither", () => {
    const testResults = [{ name: "x.test.js", message: "can't load", status: "failed", assertionResults: [] }]
    const report = { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, testResults }
    expect(parseJestJson(JSON.stringify(report))?.failures).toEqual([
      { test: "x.test.js", file: "x.test.js", message: "can't load" }
    ])
    const xml = `<testsuites><testcase name="a" file="t.py"><failure message="1 &lt; 2">x</failure></testcase>
      <testcase name="b"><error>&quot;boom&quot;</error></testcase><testcase name="c"/></testsuites>`
    expect(parseJunit(xml)).toEqual({
      passed: 1,
      failed: 2,
      skipped: 0,
      failures: [
        { test: "a", file: "t.py", message: "1 < 2" },
        { test: "b", message: `"boom"` }
      ]
    })
    expect([parseJestJson("nothing"), parseJestJson("{}"), parseJunit("nothing")]).toEqual([
      undefined,
      undefined,
      undefined
    ])
  })

  it.each(["<testcase", "<testcase>", '<testcase name="', "<testcase><failure>", '<testcase><error "'])(
    "is not held up by a megabyte of %s",
    (part) => {
      expect(parseJunit(`<testsuites>${part.repeat(1_000_000 / part.length)}`)).toMatchObject({ failed: 0 })
    }
  )
})

describe("format_code", () => {
  it("formats with the project's formatter and tells which files changed", async () => {
    workspace.put("package.json", `{ "devDependencies": { "prettier": "3" } }`)
    workspace.put("a.js", "x  =  1")
    workspace.put("b.js", "x = 1")
    program(
      "node_modules/prettier/bin/prettier.cjs",
      `const fs = require("fs"); for (const file of process.argv.slice(4))
       fs.writeFileSync(file, fs.readFileSync(file, "utf8").replace(/ +/g, " "))`
    )
    expect(await call("format_code", { paths: ["a.js", "b.js"] })).toEqual({
      ok: true,
      result: { formatter: "prettier", changed: ["a.js"] }
    })
    expect(approver.questions[0]?.facts.writes.map(({ path }) => path)).toEqual(["a.js", "b.js"])
    program("node_modules/prettier/bin/prettier.cjs", `console.error("bad syntax"); process.exitCode = 2`)
    expect(await call("format_code", { paths: ["a.js"] })).toMatchObject({
      error: { code: "command_failed", message: "prettier refused: bad syntax" }
    })
  })

  it.each([
    [{ paths: ["a.js"] }, "file_not_found"],
    [{ paths: [] }, "invalid_params"],
    [{ paths: ["../outside/x.js"] }, "path_outside_workspace"]
  ])("refuses %o with %s", async (args, code) => {
    expect(await call("format_code", args)).toMatchObject({ ok: false, error: { code } })
  })
})

describe("install_package", () => {
  it.each([
    [{ name: "--global" }, "invalid_params"],
    [{ name: "zod", version: "1 && rm -rf ." }, "invalid_params"],
    [{ name: "../evil" }, "invalid_params"],
    [{ name: "https://example.org/x.tgz" }, "invalid_params"]
  ])("refuses %o with %s", async (args, code) => {
    expect(await call("install_package", args)).toMatchObject({ ok: false, error: { code } })
  })

  it("asks a person first, with the command and where it goes, and installs nothing without a yes", async () => {
    const preview = await host.preview("install_package", { name: "zod", version: "^4", dev: true })
    expect(preview).toMatchObject({
      asks: true,
      facts: {
        runs: "npm install --ignore-scripts --save-dev zod@^4",
        fetches: "pkg:npm/zod",
        risk: "dangerous"
      }
    })
    workspace.put("pnpm-lock.yaml", "")
    expect((await host.preview("install_package", { name: "zod" })).facts.runs).toBe("pnpm add --ignore-scripts zod")
  })
})
