import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { afterEach, beforeEach, expect, it } from "@effect/vitest"
import { askCallback } from "@haft/approval"
import { Host } from "@haft/core"
import { temporaryWorkspace, type TemporaryWorkspace } from "@haft/testing"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { dialectNames, examine, type HaftConfig, newPlugin, openWorkspace, standardHost, use } from "../internal.ts"
import { definePlugin, defineTool, openHost, type Tool } from "../promise.ts"

let workspace: TemporaryWorkspace
beforeEach(() => {
  workspace = temporaryWorkspace({ "a.txt": "one\n" })
})
afterEach(() => workspace.remove())

const config = (more: HaftConfig = {}): HaftConfig => ({ root: workspace.root, state: workspace.state, ...more })

const greet = defineTool({
  name: "greet",
  description: "Says hello.",
  input: z.strictObject({ name: z.string() }),
  output: z.object({ greeting: z.string() }),
  risk: "dangerous",
  execute: async ({ name }) => ({ greeting: `Hello, ${name}!` }),
  render: ({ greeting }) => greeting
})
const greetings = definePlugin({ name: "greetings", version: "1.0.0", tools: [greet] })

it.effect("is a layer with a host in it", () =>
  Effect.gen(function* () {
    const { call } = yield* Host
    expect(yield* call("read_file", { path: "a.txt" })).toMatchObject({ ok: true, text: "one\n" })
  }).pipe(Effect.provide(standardHost(config())))
)

it.each([
  [{ aproval: "none" }, "there is no setting aproval; there are root, roots, dialect, "],
  [{ sandboxOptions: { limits: { cpu: 1 } } }, "sandboxOptions.limits: there is no setting cpu; there are processes, "],
  [{ approval: "yes" }, "approval: expected one of 'ask', 'all', 'none'"],
  [{ dialect: "klingon" }, "dialect: expected one of 'haft', 'agentbench'"],
  [{ packages: ["fs", "foo"] }, "packages.1: expected one of 'fs', 'search'"],
  [{ plugins: [5] }, "plugins.0: expected the name of a package or a path, "]
])("refuses %j, handed over by a program, and says why", async (written, why) => {
  const given = { ...config(), ...written } as HaftConfig
  await expect(openHost(given)).rejects.toThrow(`what this host was given is not a configuration of haft: ${why}`)
  await expect(openWorkspace(given)).rejects.toThrow(why)
})

it("takes every option of a sandbox that its type has", async () => {
  const sandboxOptions: Required<HaftConfig>["sandboxOptions"] = { engine: "podman", processors: 1.5, image: "busybox" }
  await using host = await openHost(config({ sandboxOptions, packages: [] }))
  expect(host.tools).toEqual([])
})

it.each(dialectNames)("speaks %s, with tools in it", async (dialect) => {
  await using host = await openHost(config({ dialect }))
  expect(host.dialect.name).toBe(dialect)
  expect(host.tools.length).toBeGreaterThan(0)
})

it("waits for an answer as long as it is told to, and asks about more than the contract does", async () => {
  const asker = askCallback(() => new Promise(() => undefined))
  await using host = await openHost(config({ approvalOptions: { timeoutMs: 1, alsoAsk: ["read_only"] } }), { asker })
  expect((await host.call("read_file", { path: "a.txt" })).error).toMatchObject({
    code: "approval_denied",
    message: "the call was not approved: nobody answered in time",
    details: { by: "nobody" }
  })
})

it("takes plugins bound, unbound and by path, and only the packages it is told to", async () => {
  const module = `export default { "~haft/Plugin": 1, name: "by-path", version: "1.0.0", tools: [], configure: () => {
    throw new Error("configured")
  } }`
  workspace.put("../outside/plugin.mjs", module)
  for (const plugins of [[use(greetings)], [greetings]]) {
    await using host = await openHost(config({ packages: [], plugins, approval: "all" }))
    expect(host.tools.map(({ name }) => name)).toEqual(["greet"])
    expect(await host.call("greet", { name: "Ada" })).toMatchObject({ ok: true, text: "Hello, Ada!" })
  }
  const byPath = openHost(config({ plugins: [{ package: `${workspace.outside}/plugin.mjs` }] }))
  await expect(byPath).rejects.toThrow(/configured/)
})

it.each([
  ["not-installed-anywhere", /not-installed-anywhere: it is not installed/],
  ["./missing.mjs", /can't be loaded/],
  ["./plain.mjs", /not made by definePlugin/]
])("names the plugin %s that it can't use, and why", async (plugin, problem) => {
  workspace.put("plain.mjs", "export default {}")
  await expect(openHost(config({ plugins: [plugin] }))).rejects.toThrow(problem)
})

it("asks the caller, and denies without an answer", async () => {
  await using host = await openHost(config({ plugins: [greetings] }))
  const args = { name: "Ada" }
  expect(await host.call("greet", args)).toMatchObject({ error: { code: "approval_denied" } })
  expect(await host.call("greet", args, { ask: async () => ({ approved: true }) })).toMatchObject({ ok: true })
})

it("follows the rules in its state directory, from one call to the next, and denies while they can't be read", async () => {
  await using host = await openHost(config({ plugins: [greetings] }))
  const greetWith = async (rules: string) => {
    writeFileSync(join(workspace.state, "rules.json"), rules)
    return (await host.call("greet", { name: "Ada" })).error?.message
  }
  const rule = (decision: string) => `{"version":1,"rules":[{"id":"r","tool":"greet","decision":"${decision}"}]}`
  expect(await greetWith(rule("allow"))).toBe(undefined)
  expect(await greetWith(rule("deny"))).toBe("the call was not approved: rule r forbids it")
  expect(await greetWith("{")).toMatch(/the approval rules can't be read, so nothing is allowed: it is not JSON/)
  expect((await host.call("read_file", { path: "a.txt" })).ok).toBe(false)
})

it.skipIf(process.platform !== "linux")("says that the workspace was deleted, instead of listing nothing", async () => {
  await using host = await openHost(config({ approval: "all", sandbox: "none" }))
  rmSync(workspace.root, { recursive: true })
  const calls = {
    list_dir: {},
    find_files: { pattern: "*" },
    search_text: { query: "one" },
    run_command: { command: "true" }
  } as const
  for (const [tool, input] of Object.entries(calls)) {
    const reply = await host.call(tool, input)
    expect([tool, reply.ok, reply.text]).toEqual([tool, false, expect.stringContaining("the workspace was deleted")])
  }
  for (const tool of ["read_file", "write_file"]) {
    expect(await host.call(tool, { path: "b.txt", content: "b" })).toMatchObject({ ok: false })
  }
})

it("denies everything that needs approval when it is told to", async () => {
  await using host = await openHost(config({ plugins: [greetings], approval: "none" }))
  const reply = await host.call("greet", { name: "Ada" }, { ask: async () => ({ approved: true }) })
  expect(reply).toMatchObject({ error: { code: "approval_denied" } })
})

it.each([
  [
    "a state directory inside the workspace",
    () => config({ state: `${workspace.root}/state` }),
    /inside the workspace/
  ],
  ["a workspace that is not there", () => config({ root: `${workspace.root}/missing` }), /missing/]
])("refuses %s", async (_what, made, problem) => {
  await expect(openHost(made())).rejects.toThrow(problem)
})

it("examines the machine, and says what to do where a workspace can't be used", async () => {
  const subjects = (await examine(config())).map(({ subject }) => subject)
  expect(subjects).toEqual(expect.arrayContaining(["Node", "Workspace", "State directory"]))
  const broken = await examine(config({ root: `${workspace.root}/missing` }))
  expect(broken.find(({ subject }) => subject === "Workspace")).toMatchObject({
    state: "missing",
    mend: "Set `root` to a directory that exists and can be read.",
    settings: ["root"]
  })
})

it("refuses a plugin whose tool a model's API would refuse, and names both", async () => {
  const tool = { description: "x", output: z.object({}), risk: "read_only", execute: async () => ({}) } as const
  const dated = defineTool({ ...tool, name: "dated", input: z.strictObject({ on: z.date() }) })
  const numbered = defineTool({ ...tool, name: "numbered", input: z.strictObject({ "a b": z.string() }) })
  const pluginOf = (only: Tool) => definePlugin({ name: "odd", version: "1.0.0", tools: [only] })
  await expect(openHost(config({ plugins: [pluginOf(dated)] }))).rejects.toThrow(
    /plugin odd: its tool 'dated': its input can't be written as a JSON Schema/
  )
  await expect(openHost(config({ plugins: [pluginOf(numbered)] }))).rejects.toThrow(
    /plugin odd: its tool 'numbered': anthropic would refuse it: the property a b/
  )
})

it("starts without the plugins it can't use only when it is told to, and names them", async () => {
  workspace.put("../outside/throws.mjs", `throw new Error("a bug")`)
  const plugins = [`${workspace.outside}/throws.mjs`, "not-installed-anywhere", greetings, use(greetings)]
  await expect(openHost(config({ plugins, packages: [] }))).rejects.toThrow(/can't be loaded|not installed/)
  await using host = await openHost(config({ plugins, packages: [], onPluginError: "skip" }))
  expect(host.tools.map(({ name }) => name)).toEqual(["greet"])
  expect(host.skipped.map(({ message }) => message)).toEqual([
    expect.stringMatching(/throws\.mjs: it can't be loaded: a bug\. Mend or reinstall it/),
    expect.stringMatching(/^plugin not-installed-anywhere: it is not installed/),
    "plugin greetings: its tool 'greet' is also in plugin greetings. Use only one of the two."
  ])
})

it("runs a plugin that was published for the first plugin contract", async () => {
  const plugin = join(import.meta.dirname, "../../test/fixtures/contract-1.mjs")
  await using host = await openHost(config({ packages: [], plugins: [plugin] }))
  expect(await host.call("echo", { text: "still here" })).toMatchObject({ ok: true, text: "still here" })
})

it("examines what a first call needs, and no more, when it is asked to be brief", async () => {
  const findings = await examine(config({ sandbox: "none" }), { briefly: true })
  expect(findings.map(({ subject }) => subject)).toEqual(["Workspace", "State directory", "Sandbox none"])
})

it("examines the ripgrep that a configuration names", async () => {
  const findings = await examine(config({ packages: { search: { ripgrep: "/nowhere/rg" } } }))
  expect(findings.find(({ subject }) => subject === "ripgrep")).toMatchObject({
    state: "missing",
    found: expect.stringContaining("/nowhere/rg"),
    mend: expect.any(String)
  })
})

it("examines the plugins too: those that can't be used, and those that are not well", async () => {
  const ill = definePlugin({
    name: "ill",
    version: "1.0.0",
    tools: [],
    health: async () => {
      throw new Error("no server")
    }
  })
  const broken = { ...definePlugin({ name: "broken", version: "1.0.0", tools: [] }), "~haft/Plugin": 7 }
  const about = async (more: HaftConfig) =>
    (await examine(config(more))).filter(({ subject }) => /^(Plugin|Workspace)/.test(subject))
  expect(await about({ plugins: [ill, broken], onPluginError: "skip" })).toMatchObject([
    { subject: "Workspace", state: "ok" },
    { subject: "Plugin broken", state: "missing", found: expect.stringContaining("made for plugin contract 7") },
    { subject: "Plugin ill", state: "limited", found: "it is not well: no server" }
  ])
  expect(await about({ plugins: [broken] })).toMatchObject([{ subject: "Plugin broken", state: "missing" }])
})

it("writes a new plugin only where nothing is", async () => {
  workspace.put("words/notes.txt", "mine")
  const plugin = { name: "words", haft: "1.0.0" }
  await expect(newPlugin(plugin, workspace.root)).rejects.toThrow("words already exists in")
  expect(workspace.exists("words/package.json")).toBe(false)
  expect(await newPlugin({ ...plugin, name: "others" }, workspace.root)).toContain("others/contract.lock.json")
})
