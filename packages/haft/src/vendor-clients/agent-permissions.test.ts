import { canUseTool } from "@haft/adapters/claude-agent"
import { copilotSessionFs, copilotTools } from "@haft/adapters/copilot"
import { temporaryWorkspace } from "@haft/testing"
import { expect, it } from "vitest"

import { openRules } from "../internal.ts"
import { openHost } from "../promise.ts"

const options = { signal: new AbortController().signal }

it("canUseTool decides by haft's policy and rules, and asks where they ask", async () => {
  using workspace = temporaryWorkspace({ "a.txt": "one\n", ".env": "KEY=1\n" })
  const { root, state } = workspace
  const config = { root, state, dialect: "claude-code", sandbox: "none" } as const
  await (await openRules(config)).add({ id: "no", decision: "deny", touches: { reads: "**/.env" } })
  await using host = await openHost(config)
  const asked: Array<unknown> = []
  const decide = canUseTool(host, {
    ask: async ({ tool, diff }) => {
      asked.push([tool, diff])
      return { approved: tool === "Write" }
    }
  })
  const write = { file_path: "n.txt", content: "n\n" }
  expect(await decide("Read", { file_path: "a.txt" }, options)).toEqual({
    behavior: "allow",
    updatedInput: { file_path: "a.txt" }
  })
  expect(await decide("Read", { file_path: ".env" }, options)).toMatchObject({ behavior: "deny" })
  expect(await decide("Write", write, options)).toEqual({ behavior: "allow", updatedInput: write })
  expect(await decide("Bash", { command: "true" }, options)).toMatchObject({ behavior: "deny" })
  expect(asked).toEqual([
    ["Write", expect.stringContaining("+n")],
    ["Bash", undefined]
  ])
  expect(await canUseTool(host)("Bash", { command: "true" }, options)).toMatchObject({ behavior: "deny" })
  expect(await decide("Read", {}, options)).toMatchObject({ behavior: "deny" })
  expect(await decide("Task", {}, options)).toMatchObject({ behavior: "deny", message: "Task is no tool of this host" })
  expect(await decide("mcp__haft__Bash", { command: "true" }, options)).toMatchObject({ behavior: "allow" })
  expect(workspace.exists("n.txt")).toBe(false)
})

it("tools of a Copilot session override built-in ones, and answer with the call's id on record", async () => {
  using workspace = temporaryWorkspace({ "a.txt": "one\n" })
  const { root, state } = workspace
  await using host = await openHost({ root, state, dialect: "claude-code", approval: "all", sandbox: "none" })
  const tools = copilotTools(host)
  const read = tools.find(({ name }) => name === "Read")
  expect(read).toMatchObject({ overridesBuiltInTool: true, skipPermission: true, parameters: { type: "object" } })
  expect(await read?.handler({ file_path: "a.txt" }, { toolCallId: "t1", ...options })).toEqual({
    textResultForLlm: "     1→one",
    resultType: "success"
  })
  expect(await read?.handler({ file_path: "nope" }, { toolCallId: "t2" })).toMatchObject({ resultType: "failure" })
})

it("the file system of a Copilot session is haft's workspace", async () => {
  using workspace = temporaryWorkspace({ "a.txt": "one\n" })
  const { root, state } = workspace
  await using host = await openHost({ root, state, approval: "all" })
  const fs = copilotSessionFs(host)
  await fs.mkdir("d/e")
  await fs.writeFile("d/n.txt", "1\n")
  await fs.appendFile("d/n.txt", "2\n")
  await fs.appendFile("d/m.txt", "3\n")
  expect([await fs.readFile("d/n.txt"), await fs.readFile("d/m.txt")]).toEqual(["1\n2\n", "3\n"])
  expect(await fs.readdir("d")).toEqual(["e", "m.txt", "n.txt"])
  expect(await fs.readdirWithTypes("d")).toContainEqual({ name: "e", type: "directory" })
  expect(await fs.stat("d/n.txt")).toMatchObject({ isFile: true, isDirectory: false, size: 4 })
  await fs.rename("d/n.txt", "d/o.txt")
  expect([await fs.exists("d/n.txt"), await fs.exists("d/o.txt")]).toEqual([false, true])
  await fs.rm("d", true, false)
  await fs.rm("d", true, true)
  await expect(fs.rm("d", true, false)).rejects.toMatchObject({ code: "ENOENT" })
  await expect(fs.readFile("nope")).rejects.toMatchObject({ code: "ENOENT" })
  await expect(fs.stat("nope")).rejects.toMatchObject({ code: "ENOENT" })
  await expect(fs.readFile("../x")).rejects.toMatchObject({ code: "path_outside_workspace" })
})
