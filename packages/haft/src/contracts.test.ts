import { afterEach, beforeEach, describe, expect, it } from "@effect/vitest"
import { lintTool, legalNames, schemaReaders, strictSchema } from "@haft/adapters"
import { temporaryWorkspace, type TemporaryWorkspace } from "@haft/testing"
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/server/validators/ajv"

import { requestHandler, toolRegistrations, toolRegistry, ToolRouter, universalTools } from "./contracts.ts"
import { type DialectName, dialectNames } from "./internal.ts"
import { openHost } from "./promise.ts"

let workspace: TemporaryWorkspace
beforeEach(() => {
  workspace = temporaryWorkspace({ "a.txt": "one\n" })
})
afterEach(() => workspace.remove())

const open = (dialect: DialectName) => openHost({ root: workspace.root, state: workspace.state, dialect })

describe("approvalgate's ToolRegistry", () => {
  it("holds the tools in the contract's shape, and more that are registered", async () => {
    await using host = await open("approvalgate")
    const registry = toolRegistry(host)
    const tool = registry.get("read_file")
    expect(await tool?.execute({ path: "a.txt" })).toMatchObject({ ok: true, value: { content: "one\n", size: 4 } })
    expect(await tool?.execute({ path: "b.txt" })).toMatchObject({ ok: false, error: { code: "FILE_NOT_FOUND" } })
    expect(tool?.outputSchema).toMatchObject({ properties: { content: { type: "string" } } })
    expect(registry.toOpenAIFunctions()[0]).toEqual({
      name: expect.any(String),
      description: expect.any(String),
      parameters: expect.objectContaining({ type: "object" })
    })
    const own = { ...tool!, name: "own" }
    registry.register(own)
    expect(registry.list().at(-1)).toBe(own)
    expect(registry.get("nothing")).toBe(undefined)
  })

  it("asks by what a call would do, and takes changed arguments", async () => {
    await using host = await open("approvalgate")
    const requests: Array<unknown> = []
    const registry = toolRegistry(host, async (request) => {
      requests.push(request)
      return { approved: true, modifiedArgs: { ...request.args, content: "changed" } }
    })
    const write = registry.get("write_file")!
    const asks = write.requiresApproval as (args: unknown) => Promise<boolean>
    expect(await asks({ path: "new.txt", content: "x" })).toBe(false)
    expect(await asks({ path: "a.txt", content: "x" })).toBe(true)
    expect(await asks({ path: "../a.txt" })).toBe(false)
    expect(await write.execute({ path: "a.txt", content: "x" })).toMatchObject({ ok: true })
    expect(workspace.read("a.txt")).toBe("changed")
    expect(requests).toMatchObject([{ tool: "write_file", args: { path: "a.txt" }, reason: expect.any(String) }])
  })
})

it("answers agentbench's requests with its results", async () => {
  await using host = await open("agentbench")
  const handle = requestHandler(host)
  const result = await handle({ tool: "read_file", params: { path: "a.txt" }, request_id: "r-1" })
  expect(result).toMatchObject({ request_id: "r-1", status: "success", data: { total_lines: 1 }, error: null })
})

it("gathers toolrouter's registrations in a router", async () => {
  await using host = await open("toolrouter")
  const router = new ToolRouter(toolRegistrations(host))
  expect(await router.dispatch("read_file", { path: "a.txt" })).toEqual({ text: "one\n", truncated: false })
  expect(await router.dispatch("nothing", {})).toMatchObject({ error: "unknown_tool" })
  const schema = router.schemas().find(({ name }) => name === "read_file")
  expect(schema?.parameters["required"]).toEqual(["path", "offset", "limit", "mode", "indent"])
  for (const { strict, ...tool } of router.schemas()) {
    expect({ strict, problems: lintTool(tool, "openai-strict") }).toEqual({ strict: true, problems: [] })
  }
  expect(() => new ToolRouter(toolRegistrations(host), router.list())).toThrow("registered as 'list_dir'")
})

it("shows toolrouter's registrations strictly, and takes a null for what may be left out", async () => {
  const schema = {
    type: "object",
    properties: { word: { type: "string" }, times: { type: "number" } },
    required: ["word"],
    additionalProperties: false
  }
  const router = new ToolRouter([{ name: "echo", description: "Echoes.", schema, handler: async (args) => args }])
  expect(router.schemas()).toMatchObject([{ strict: true, parameters: { required: ["word", "times"] } }])
  expect(await router.dispatch("echo", { word: "hi", times: null })).toEqual({ word: "hi" })
})

it("shows cliagent's universal interface, which validates without doing anything", async () => {
  await using host = await open("cliagent")
  const tools = new Map(universalTools(host).map((tool) => [tool.name(), tool]))
  const create = tools.get("create_file")!
  expect(create.riskLevel()).toBe("safe_write")
  expect(create.requiresApproval()).toBe(true)
  expect(create.description()).toEqual(expect.any(String))
  expect(create.parametersSchema()).toMatchObject({ required: ["path", "content"] })
  expect(await create.validate({ path: "new.txt", content: "" })).toBe(undefined)
  expect(await create.validate({ path: "../x", content: "" })).toMatchObject({ code: "path_outside_working_dir" })
  expect(workspace.exists("new.txt")).toBe(false)
  const reply = await create.execute({ path: "new.txt", content: "hello" }, { ask: async () => ({ approved: true }) })
  expect(reply).toMatchObject({ success: true, files_affected: ["new.txt"] })
})

describe.each(dialectNames)("the schemas of %s", (dialect) => {
  it("are valid JSON Schema, and every reader takes them", async () => {
    await using host = await open(dialect)
    const { legal } = legalNames(host.tools.map(({ name }) => name))
    const validator = new AjvJsonSchemaValidator()
    for (const tool of host.tools) {
      expect(() => validator.getValidator(tool.inputSchema), tool.name).not.toThrow()
      expect(() => validator.getValidator(tool.replySchema), tool.name).not.toThrow()
      for (const reader of schemaReaders.filter((name) => name !== "openai-strict")) {
        expect(lintTool({ name: legal(tool.name), parameters: tool.inputSchema }, reader), tool.name).toEqual([])
      }
      const strict = strictSchema(tool.inputSchema)
      if (strict === undefined) continue
      expect(lintTool({ name: legal(tool.name), parameters: strict }, "openai-strict"), tool.name).toEqual([])
    }
  })
})
