import { afterAll, describe, expect, expectTypeOf, it } from "@effect/vitest"
import {
  defineDialect,
  definePlugin as defineEffectPlugin,
  defineTool as defineEffectTool,
  denyAll,
  type ErrorCode,
  makeHost as makeCoreHost,
  memoryArtifacts,
  memoryJournal,
  memoryWorkspace,
  type RoadCode,
  type Tool,
  toolError as failWith,
  type ToolTypes
} from "@haft/core"
import { openHost as openCoreHost } from "@haft/core/promise"
import { haft } from "@haft/dialects"
import { fsTools } from "@haft/fs-tools"
import type { gitTools } from "@haft/git-tools"
import { temporaryWorkspace } from "@haft/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as z from "zod"

import { makeHost } from "../internal.ts"
import {
  definePlugin,
  defineTool,
  type HaftConfig,
  openHost,
  type OpenHost,
  type Reply,
  toolError,
  use
} from "../promise.ts"
import type { TypesOfPackages } from "./packages.ts"

// Type tests: `tsc -p tsconfig.json` checks them. What can run runs, so that the types are held against real replies.

const workspace = temporaryWorkspace({ "a.txt": "one\n" })
afterAll(() => workspace.remove())
const place = { root: workspace.root, state: workspace.state, sandbox: "none" } as const

const tool = { description: "Looks up a price.", output: z.object({ cents: z.number() }), risk: "read_only" } as const
const input = z.strictObject({ of: z.string(), currency: z.enum(["EUR", "USD"]).default("EUR") })
const price = defineTool({
  ...tool,
  name: "price",
  input,
  throws: ["network_error"],
  execute: async ({ of }) => {
    if (of === "") throw toolError("network_error", "no answer")
    return { cents: of.length }
  }
})
const guess = defineTool({ ...tool, name: "guess", input, execute: async () => ({ cents: 1 }) })
const shop = definePlugin({
  name: "shop",
  version: "1.0.0",
  config: z.strictObject({ key: z.string() }),
  tools: [price, guess]
})

/** The code that is left in a type out of these. */
type Of<R extends Reply, Codes> = Extract<NonNullable<R["error"]>["code"], Codes>

describe("a host whose configuration is known", () => {
  const open = () => openHost({ ...place, packages: ["fs"], plugins: [use(shop, { key: "k" })] })

  it("checks names and arguments, and gives the tool's own output", async () => {
    await using host = await open()
    const read = await host.call("read_file", { path: "a.txt" })
    if (!read.ok) throw read.error
    expectTypeOf(read.output.content).toEqualTypeOf<string>()
    expectTypeOf(read.output.total_lines).toEqualTypeOf<number | undefined>()
    expect(read.output).toMatchObject({ content: "one\n", total_lines: 1 })
    expect(read.blocks).toEqual([{ type: "text", text: "one\n" }])
    // @ts-expect-error a misspelt name
    const misspelt = await host.call("raed_file", { path: "a.txt" })
    expect(misspelt).toMatchObject({ ok: false, error: { code: "unknown_tool" } })
    // @ts-expect-error a number for a path
    const wrong = await host.call("read_file", { path: 1 })
    expect(wrong).toMatchObject({ ok: false, error: { code: "invalid_params" } })
    // @ts-expect-error a parameter that the tool does not have
    expect(await host.call("read_file", { path: "a.txt", lines: 3 })).toMatchObject({ ok: false })
    // @ts-expect-error the package exec was not chosen
    expect(await host.call("run_command", { command: "ls" })).toMatchObject({ ok: false })
    // @ts-expect-error the name that another dialect has for it
    expect(await host.call("file.read", { path: "a.txt" })).toMatchObject({ ok: false })
  })

  it("narrows codes to those of the tool and those of the road", async () => {
    await using host = await open()
    const read = await host.call("read_file", { path: "missing.txt" })
    expectTypeOf<Of<typeof read, "file_not_found" | "url_blocked">>().toEqualTypeOf<"file_not_found">()
    expectTypeOf<Of<typeof read, RoadCode>>().toEqualTypeOf<RoadCode>()
    expect(read.error?.code).toBe("file_not_found")
    const paid = await host.call("price", { of: "" })
    expectTypeOf<Of<typeof paid, "network_error" | "file_not_found">>().toEqualTypeOf<"network_error">()
    expect(paid.error?.code).toBe("network_error")
    const guessed = await host.call("guess", { of: "x", currency: "USD" })
    expectTypeOf<Of<typeof guessed, ErrorCode>>().toEqualTypeOf<ErrorCode>()
    if (guessed.ok) expectTypeOf(guessed.output).toEqualTypeOf<{ cents: number }>()
  })

  it("gives a tool as a function", async () => {
    await using host = await open()
    const readFile = host.tool("read_file")
    expectTypeOf(readFile).parameter(0).toExtend<{ path: string }>()
    const read = await readFile({ path: "a.txt" })
    expect(read.ok && read.output.content).toBe("one\n")
    // @ts-expect-error a misspelt name
    expect(await host.tool("raed_file")({})).toMatchObject({ error: { code: "unknown_tool" } })
    // @ts-expect-error the path is missing
    expect(await readFile({})).toMatchObject({ error: { code: "invalid_params" } })
  })

  it("takes names and arguments that only the run knows", async () => {
    await using host = await open()
    for (const name of ["read_file", "raed_file"]) {
      const args: unknown = { path: "a.txt" }
      const reply = await host.call(name, args)
      expectTypeOf(reply.output).toEqualTypeOf<unknown>()
      expectTypeOf<Of<typeof reply, ErrorCode>>().toEqualTypeOf<ErrorCode>()
      expect([reply.ok, (await host.tool(name)(args)).ok]).toEqual(name === "read_file" ? [true, true] : [false, false])
    }
    const general: OpenHost = host
    expect(general.tools.length).toBeGreaterThan(2)
  })
})

it("a host knows the packages by what was chosen", async () => {
  await using without = await openHost({ ...place, packages: { exec: false, pty: false, web: false } })
  expect((await without.call("search_text", { query: "one" })).ok).toBe(true)
  // @ts-expect-error exec is left out
  expect((await without.call("run_command", { command: "ls" })).ok).toBe(false)
  await using all = await openHost(place)
  expectTypeOf(all.tool("run_command")).parameter(0).toExtend<{ command: string }>()
  expectTypeOf(all.tool("edit_file")).parameter(0).toExtend<{ path: string }>()
})

it.each(["agentbench", "toolrouter", "approvalgate", "cliagent", "filetools"] as const)(
  "a host with the dialect %s only known at run time takes any name",
  async (dialect) => {
    await using host = await openHost({ ...place, dialect, packages: ["fs"] })
    const reply = await host.call("anything", {})
    expectTypeOf(reply).toEqualTypeOf<Reply>()
    expect(reply.error?.code).toBe("unknown_tool")
  }
)

it("a host has the names and arguments of its dialect", async () => {
  const fs = { ...place, packages: ["fs"] } as const
  await using agentbench = await openHost({ ...fs, dialect: "agentbench" })
  expectTypeOf(agentbench.tool("apply_patch")).parameter(0).toEqualTypeOf<{ unified_diff: string }>()
  await using toolrouter = await openHost({ ...fs, dialect: "toolrouter" })
  const lines = await toolrouter.call("read_file", { path: "a.txt" })
  expect(lines.ok).toBe(true)
  await using approvalgate = await openHost({ ...fs, dialect: "approvalgate" })
  expectTypeOf(approvalgate.tool("move_file")).parameter(0).toExtend<{ from: string; to: string }>()
  await using cliagent = await openHost({ ...fs, dialect: "cliagent" })
  expectTypeOf(cliagent.tool("replace_string_in_file")).parameter(0).toExtend<{ old_string: string }>()
  await using filetools = await openHost({ ...fs, dialect: "filetools" })
  const read = await filetools.call("file.read", { path: "a.txt" })
  expect(read.ok && read.output.content).toContain("one")
  // @ts-expect-error haft's own name
  expect((await filetools.call("read_file", { path: "a.txt" })).ok).toBe(false)
})

it("a host has the names and arguments of a dialect that is a package of its own", async () => {
  const fs = { ...place, packages: ["fs"] } as const
  await using claudeCode = await openHost({ ...fs, dialect: "claude-code" })
  const read = await claudeCode.call("Read", { file_path: `${place.root}/a.txt` })
  expect(read.ok).toBe(true)
  // @ts-expect-error haft's own name
  expect((await claudeCode.call("read_file", { path: "a.txt" })).ok).toBe(false)
  await using codex = await openHost({ ...fs, dialect: "codex" })
  expectTypeOf(codex.tool("apply_patch")).parameter(0).toExtend<{ input: string }>()
  await using geminiCli = await openHost({ ...fs, dialect: "gemini-cli" })
  expectTypeOf(geminiCli.tool("read_file")).parameter(0).toExtend<{ file_path: string }>()
  await using mcpFilesystem = await openHost({ ...fs, dialect: "mcp-filesystem" })
  expectTypeOf(mcpFilesystem.tool("read_text_file")).parameter(0).toExtend<{ path: string }>()
  await using anthropic = await openHost({ ...fs, dialect: "anthropic" })
  expectTypeOf(anthropic.tool("str_replace_based_edit_tool")).parameter(0).toExtend<{ command: string; path: string }>()
  await using openai = await openHost({ ...fs, dialect: "openai" })
  expectTypeOf(openai.tool("apply_patch")).parameter(0).toExtend<{ operation: object }>()
})

it("a dialect of one's own has its tools and those of any dialect", async () => {
  const mine = defineDialect({ ...haft, name: "mine" })
  const greet = mine.tool({
    name: "greet",
    description: "Greets.",
    input: z.strictObject({ name: z.string() }),
    output: z.object({ text: z.string() }),
    risk: "read_only",
    execute: ({ name }) => Effect.succeed({ text: `Hello ${name}` })
  })
  const plugin = defineEffectPlugin({ name: "greetings", version: "1.0.0", tools: [greet, price] })
  await using host = await openHost({ ...place, dialect: mine, packages: [], plugins: [plugin] })
  const greeted = await host.call("greet", { name: "Ada" })
  expect(greeted.ok && greeted.output.text).toBe("Hello Ada")
  expect((await host.call("price", { of: "x" })).ok).toBe(true)
  // @ts-expect-error tools of another dialect
  expect((await host.call("read_file", { path: "a.txt" })).ok).toBe(false)
})

it("a host with a plugin by name takes any name, and checks the arguments of those it knows", async () => {
  workspace.put(
    "../plugin/empty.mjs",
    `export default { "~haft/Plugin": 1, name: "none", version: "1.0.0", tools: [], configure: () => { throw new Error("no") } }`
  )
  const plugins = [`${workspace.outside}/../plugin/empty.mjs`]
  await using host = await openHost({ ...place, packages: ["fs"], plugins, onPluginError: "skip" })
  expect((await host.call("made_up", { any: "thing" })).error?.code).toBe("unknown_tool")
  // @ts-expect-error a number for a path
  expect((await host.call("read_file", { path: 1 })).error?.code).toBe("invalid_params")
})

it("a host from a configuration file takes any name", async () => {
  const config: HaftConfig = place
  await using host = await openHost(config)
  expectTypeOf(await host.call("anything", {})).toEqualTypeOf<Reply>()
})

describe("a host for Effect", () => {
  it.live("has the same types", () =>
    Effect.gen(function* () {
      const host = yield* makeHost({ ...place, packages: ["fs"], plugins: [use(shop, { key: "k" })] })
      const read = yield* host.call("read_file", { path: "a.txt" })
      if (!read.ok) throw read.error
      expectTypeOf(read.output.content).toEqualTypeOf<string>()
      expect(read.output.content).toBe("one\n")
      const paid = yield* host.tool("price")({ of: "" })
      expectTypeOf<Of<typeof paid, "network_error" | "file_not_found">>().toEqualTypeOf<"network_error">()
      // @ts-expect-error a misspelt name
      expect((yield* host.call("raed_file", { path: "a.txt" })).ok).toBe(false)
      // @ts-expect-error a number for a path
      expect((yield* host.call("read_file", { path: 1 })).ok).toBe(false)
    })
  )

  it("infers a tool's codes from what it touches, previews and executes", async () => {
    const mixed = defineEffectTool({
      name: "mixed",
      description: "Fails in three ways.",
      input: z.strictObject({ path: z.string() }),
      output: z.object({}),
      risk: "read_only",
      touches: ({ path }) => (path === "" ? failWith("invalid_range", "empty") : Effect.succeed({})),
      preview: () => failWith("binary_file", "no text"),
      execute: ({ path }) => (path === "a" ? failWith("is_directory", "a") : failWith("file_not_found", "gone"))
    })
    const plugin = use(defineEffectPlugin({ name: "mixed", version: "1.0.0", tools: [mixed] }))
    const services = Layer.mergeAll(memoryWorkspace(), memoryJournal(), memoryArtifacts(), denyAll)
    const made = makeCoreHost({ dialect: haft, plugins: [plugin, use(fsTools)] }).pipe(Effect.provide(services))
    await using host = await openCoreHost(made)
    const reply = await host.call("mixed", { path: "a" })
    expectTypeOf<Exclude<NonNullable<(typeof reply)["error"]>["code"], RoadCode>>().toEqualTypeOf<
      "invalid_range" | "binary_file" | "is_directory" | "file_not_found"
    >()
    expect(reply.error?.code).toBe("is_directory")
    // @ts-expect-error a misspelt name
    expect((await host.call("raed_file", { path: "a" })).ok).toBe(false)
  })
})

it("no tool of haft's own packages has every code", () => {
  type Own = TypesOfPackages<{}> | NonNullable<ReturnType<(typeof gitTools)["configure"]>["~types"]>
  type Wide<One> = One extends ToolTypes ? (ErrorCode extends One["code"] ? One["name"] : never) : never
  expectTypeOf<Wide<Own>>().toEqualTypeOf<never>()
  expectTypeOf<Wide<typeof guess extends Tool<never, infer Types> ? Types : never>>().toEqualTypeOf<"guess">()
})

it("the road's codes are those that a call of any tool can fail with", () => {
  expectTypeOf<RoadCode>().toEqualTypeOf<
    | "already_applied"
    | "approval_denied"
    | "cancelled"
    | "cluster_unavailable"
    | "internal_error"
    | "invalid_params"
    | "journal_unavailable"
    | "out_of_resources"
    | "path_outside_workspace"
    | "stale_file"
    | "symlink_blocked"
    | "timeout"
    | "unknown_outcome"
    | "unknown_tool"
  >()
})
