import { spawn } from "node:child_process"
import { appendFileSync, openSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

import { afterAll, expect, it } from "@effect/vitest"
import { type Tool, Workspace } from "@haft/core"
import { temporaryWorkspace } from "@haft/testing"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { definePlugin as defineEffectPlugin, defineTool as defineEffectTool } from "./internal.ts"
import { definePlugin, defineTool } from "./promise.ts"
import { checkPlugin, type PluginProblem, showReport, testPlugin } from "./testing.ts"

const path = z.string().describe("A file")
const output = z.object({ text: z.string() })
const files = { "a.txt": "one\n" }

const problemsOf = async (
  tool: Tool<Workspace>,
  args: Record<string, unknown>
): Promise<ReadonlyArray<Pick<PluginProblem, "rule" | "problem">>> => {
  const plugin = defineEffectPlugin({ name: "subject", version: "1.0.0", tools: [tool] })
  const { problems } = await testPlugin(plugin, { files, calls: [{ tool: tool.name, args }] })
  return problems.map(({ rule, problem }) => ({ rule, problem }))
}

const good = defineTool({
  name: "first_word",
  description: "Reads the first word of a file.",
  input: z.strictObject({ path }),
  output,
  risk: "read_only",
  touches: (input) => ({ reads: [input.path] }),
  execute: async (input, { workspace }) => {
    const bytes = await workspace.read(input.path, { maxBytes: 100_000_000 })
    return { text: new TextDecoder().decode(bytes.subarray(0, 100)).split(/\s/)[0] ?? "" }
  }
})

it("finds nothing wrong with a tool that behaves, and says so in words", async () => {
  const plugin = definePlugin({ name: "good", version: "1.2.3", tools: [good] })
  const report = await testPlugin(plugin, { files, calls: [{ tool: "first_word", args: { path: "a.txt" } }] })
  expect(report).toEqual({
    plugin: "good",
    version: "1.2.3",
    contract: 1,
    ok: true,
    tools: ["first_word"],
    calls: expect.any(Number),
    problems: [],
    notTried: []
  })
  expect(showReport(report)).toMatch(/^good 1\.2\.3 conforms: 1 tool, \d+ calls$/)
})

it("says which tools it could not try, for want of a call that succeeds", async () => {
  const report = await testPlugin(definePlugin({ name: "good", version: "1.2.3", tools: [good] }))
  expect(report).toMatchObject({ ok: true, notTried: [{ tool: "first_word", dialect: "haft" }] })
  expect(showReport(report)).toContain("! first_word (haft) was not tried out: its call fails with file_not_found")
})

it.each([
  ["says it only reads", "a.txt", "touches", "it says it is read_only, and changed a.txt"],
  [
    "did not declare it",
    "other.txt",
    "errors",
    expect.stringContaining("refusing to change other.txt: the call did not declare it")
  ]
])("catches a file that is written by a tool that %s", async (_title, written, rule, problem) => {
  const writes = defineEffectTool({
    name: "sneaky",
    description: "Writes a second file.",
    input: z.strictObject({ path }),
    output,
    risk: "read_only",
    touches: (input) => ({ writes: [input.path] }),
    execute: (input) =>
      Workspace.use((workspace) =>
        workspace.commit([
          { kind: "write", path: input.path, content: new Uint8Array() },
          { kind: "write", path: written, content: new Uint8Array() }
        ])
      ).pipe(Effect.as({ text: "done" }))
  })
  expect(await problemsOf(writes, { path: "a.txt" })).toEqual(expect.arrayContaining([{ rule, problem }]))
})

it("catches a file that is written by a tool that names nothing", async () => {
  const writes = defineTool({
    ...shape("sneaky"),
    execute: async (_input, { workspace }) => {
      await workspace.commit([{ kind: "write", path: "other.txt", content: new Uint8Array() }])
      return { text: "done" }
    }
  })
  expect(await problemsOf(writes, {})).toEqual(
    expect.arrayContaining([
      { rule: "errors", problem: expect.stringContaining("refusing to change other.txt: the call did not declare it") }
    ])
  )
})

it("catches a file that is written past the workspace and was not declared", async () => {
  const writes = defineTool({
    ...shape("sidestep"),
    risk: "safe_write",
    touches: () => ({ writes: ["a.txt"] }),
    execute: async (_input, { workspace }) => {
      writeFileSync(join(workspace.root, "other.txt"), "x")
      return { text: "done" }
    }
  })
  expect(await problemsOf(writes, {})).toEqual(
    expect.arrayContaining([
      { rule: "touches", problem: "it changed other.txt, which its touches do not name as written" }
    ])
  )
})

it("catches a file that is read and was not declared", async () => {
  const reads = defineTool({
    ...shape("nosy"),
    execute: async (_input, { workspace }) => ({ text: new TextDecoder().decode(await workspace.read("a.txt")) })
  })
  expect(await problemsOf(reads, {})).toEqual([
    { rule: "touches", problem: "it read a.txt, which its touches do not name" }
  ])
})

it("catches a tool that goes round the workspace and follows every path out of it", async () => {
  const round = defineTool({
    ...shape("round"),
    input: z.strictObject({ path }),
    execute: async (input, { workspace }) => {
      try {
        return { text: readFileSync(join(workspace.root, input.path), "utf8").slice(0, 500) }
      } catch {
        return { text: "" }
      }
    }
  })
  expect(await problemsOf(round, { path: "a.txt" })).toEqual([
    { rule: "paths", problem: expect.stringMatching(/^with 'path' as .* it shows what lies outside the workspace$/) }
  ])
  const writes = defineTool({
    ...shape("round_writer"),
    risk: "safe_write",
    input: z.strictObject({ path }),
    touches: () => ({ writes: ["a.txt"] }),
    execute: async (input, { workspace }) => {
      if (!input.path.includes("\0")) appendFileSync(join(workspace.root, input.path.slice(0, 40)), "x")
      return { text: "" }
    }
  })
  expect(await problemsOf(writes, { path: "a.txt" })).toEqual(
    expect.arrayContaining([
      { rule: "paths", problem: expect.stringMatching(/it changes what lies outside the workspace$/) },
      { rule: "errors", problem: "it fails by a bug: fail with a ToolError where callers can mend it" }
    ])
  )
})

it("catches parameters that are not looked at, and schemas that a model can't use", async () => {
  const lax = defineTool({
    ...shape("lax"),
    description: "",
    input: z.looseObject({ "a b": z.string() }),
    execute: async () => ({ text: "" })
  })
  expect(await problemsOf(lax, { "a b": "x" })).toEqual([
    { rule: "schema", problem: expect.stringMatching(/^anthropic would refuse it: the property a b/) },
    { rule: "schema", problem: "it has no description, so no model knows its use" },
    { rule: "schema", problem: "its parameter 'a b' has no description: add .describe(…)" },
    {
      rule: "parameters",
      problem: "it takes a call with a parameter it does not know: use z.strictObject and exact types"
    }
  ])
})

it("catches what is not closed, not bounded and not the same twice", async () => {
  const left = defineTool({
    ...shape("left"),
    risk: "safe_write",
    idempotent: true,
    touches: () => ({ writes: ["log.txt"] }),
    execute: async (_input, { workspace }) => {
      openSync(join(workspace.root, "a.txt"), "r")
      appendFileSync(join(workspace.root, "log.txt"), "x")
      return { text: "x".repeat(5_000_000) }
    }
  })
  // On a slow machine the test of cancelling finds the same open descriptor, so there may be a second problem.
  expect(await problemsOf(left, {})).toEqual(
    expect.arrayContaining([
      { rule: "output", problem: expect.stringMatching(/^its reply has 5\d+ characters: clip it$/) },
      { rule: "leftovers", problem: "once the host is closed, it leaves an open descriptor of a.txt" },
      { rule: "idempotence", problem: "it says it is idempotent, and a second call changes log.txt" }
    ])
  )
})

it("catches a tool that can't be interrupted", { timeout: 120_000 }, async () => {
  const stubborn = defineEffectTool({
    ...shape("stubborn"),
    execute: () => Effect.uninterruptible(Effect.as(Effect.sleep("1300 millis"), { text: "" }))
  })
  expect(await problemsOf(stubborn, {})).toContainEqual({
    rule: "cancellation",
    problem: expect.stringMatching(/^it went on for \d+ ms after it was cancelled$/)
  })
})

const started: Array<() => void> = []
afterAll(() => started.forEach((end) => end()))

const circle: Record<string, unknown> = {}
circle["self"] = circle

it.each<readonly [string, Partial<Parameters<typeof defineTool>[0]>, ReadonlyArray<unknown>]>([
  [
    "leaves a process, wherever it works",
    {
      execute: async () => {
        const child = spawn("sleep", ["600"], { cwd: "/", stdio: "ignore" })
        child.unref()
        started.push(() => child.kill("SIGKILL"))
        return { text: "" }
      }
    },
    [["leftovers", expect.stringMatching(/^once the host is closed, it leaves process \d+: sleep 600$/)]]
  ],
  [
    "leaves a timer",
    {
      execute: async () => {
        const timer = setInterval(() => undefined, 60_000)
        started.push(() => clearInterval(timer))
        return { text: "" }
      }
    },
    [["leftovers", expect.stringMatching(/it leaves a timer that keeps the process from ending/)]]
  ],
  [
    "leaves an open file outside of the workspace",
    { execute: async () => ({ text: `${openSync("/etc/hosts", "r")}` }) },
    [["leftovers", expect.stringMatching(/^once the host is closed, it leaves an open descriptor of \/etc\/hosts/)]]
  ],
  [
    "works on after it was cancelled",
    {
      risk: "safe_write",
      touches: () => ({ writes: ["late.txt"] }),
      execute: async (_input, { workspace }) => {
        await sleep(600)
        appendFileSync(join(workspace.root, "late.txt"), "x")
        return { text: "" }
      }
    },
    [["cancellation", "cancelled, it went on and changed late.txt"]]
  ],
  [
    "runs a program of the machine, though it only reads",
    {
      touches: () => ({ reads: ["a.txt"] }),
      execute: async (_input, { run }) => ({ text: (await run({ program: "/bin/cat", args: ["a.txt"] })).stdout.text })
    },
    [["touches", expect.stringMatching(/^it ran '\/bin\/cat a\.txt', and its touches name no command$/)]]
  ],
  [
    "answers what it does not publish",
    { output: z.object({ text: z.string().meta({ maxLength: 1 }) }), execute: async () => ({ text: "long" }) },
    [["reply", expect.stringMatching(/^its reply does not fit the schema it publishes: /)]]
  ],
  [
    "answers a circle",
    { output: z.looseObject({}), render: () => "", execute: async () => circle },
    [["errors", expect.stringMatching(/^its call fails with internal_error/)]]
  ],
  [
    "throws what is no error",
    {
      execute: async () => {
        throw null
      }
    },
    [["errors", expect.stringMatching(/^its call fails with internal_error/)]]
  ],
  [
    "never says what it touches",
    { touches: () => new Promise(() => undefined) },
    [["errors", "it can't be tested: a call of subject did not end within 2 seconds: give the tool a timeout"]]
  ],
  [
    "throws when it is asked for a diff",
    {
      preview: async () => {
        throw new Error("a bug")
      }
    },
    [["errors", "it can't be tested: a bug"]]
  ],
  [
    "changes its own input",
    {
      input: z.strictObject({ list: z.array(z.string()).default([]).describe("A list") }),
      execute: async (input) => ({ text: `${(input["list"] as Array<string>).push("x")}` })
    },
    [["errors", expect.stringMatching(/^its call fails with internal_error/)]]
  ],
  [
    "takes a call without what it requires",
    {
      input: z.strictObject({
        mode: z.preprocess((value) => value ?? "x", z.string().nullable()).describe("What it takes for required")
      })
    },
    [["parameters", "it takes a call without 'mode': use z.strictObject and exact types"]]
  ]
])("catches a tool that %s", { timeout: 120_000 }, async (_title, odd, expected) => {
  const tool = defineTool({
    ...shape("subject"),
    execute: async () => ({ text: "" }),
    ...(odd as object)
  })
  const plugin = definePlugin({ name: "odd", version: "1.0.0", tools: [tool] })
  const args = { ...("input" in odd && "mode" in odd.input.shape && { mode: "x" }) }
  const report = await testPlugin(plugin, {
    files,
    calls: [{ tool: "subject", args }],
    sandbox: "none",
    callTimeoutMs: 2000
  })
  expect(report.ok).toBe(false)
  const found = report.problems.map(({ rule, problem }) => [rule, problem])
  for (const one of expected) expect(found).toContainEqual(one)
  for (const { rule, problem } of report.problems) {
    expect(showReport(report)).toContain(`✗ subject (haft), ${rule}: ${problem}`)
  }
})

it.each([
  ["a configuration that does not fit", {}, { config: 1 }, /^plugin odd: it takes no configuration/],
  ["a version that is none", { version: "new" }, {}, /^plugin odd: its version is "new", and no semantic version/],
  ["a start that fails", { start: () => Promise.reject(new Error("no server")) }, {}, /could not start: no server/]
])("reports a plugin with %s as it reports everything else", async (_title, odd, test, message) => {
  const plugin = definePlugin({ name: "odd", version: "1.0.0", tools: [good], ...odd })
  const report = await testPlugin(plugin, test)
  expect(report).toMatchObject({
    ok: false,
    problems: [{ tool: "", rule: "loading", problem: expect.stringMatching(message) }]
  })
  expect(showReport(report)).toMatch(/\n✗ loading: plugin odd: /)
})

it("tries an installed package with the calls that it brings", async () => {
  using project = temporaryWorkspace({
    "node_modules/p/package.json": JSON.stringify({ name: "p", type: "module", exports: "./lib/index.js" }),
    "node_modules/p/conformance.json": JSON.stringify({ calls: [{ tool: "none", args: {} }], no_such_key: 1 }),
    "node_modules/p/lib/index.js": `export default { "~haft/Plugin": 1, name: "p", version: "1.0.0", tools: [] }`
  })
  await expect(checkPlugin("p", project.root)).rejects.toThrow(/p\/conformance\.json does not say how to test a plugin/)
})

it("reports a package that can't be loaded as it reports everything else", async () => {
  expect(await checkPlugin("not-installed-anywhere", import.meta.dirname)).toMatchObject({
    ok: false,
    problems: [{ rule: "loading", problem: expect.stringContaining("it is not installed") }]
  })
})

function shape(name: string) {
  return { name, description: "Does something.", input: z.strictObject({}), output, risk: "read_only" } as const
}
