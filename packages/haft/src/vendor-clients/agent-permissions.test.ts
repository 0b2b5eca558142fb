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
    textResultForLlm: "1\tone\n2\t",
    resultType: "success"
  })
  expect(await read?.handler({ file_path: "nope" }, { toolCallId: "t2" })).toMatchObject({ resultType: "failure" })
  const aborted = { toolCallId: "t3", signal: AbortSignal.abort() }
  await expect(read?.handler({ file_path: "a.txt" }, aborted)).rejects.toThrow("aborted")
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
  await fs.writeFile("d/o.txt.tmp", "replaced\n")
  await fs.rename("d/o.txt.tmp", "d/o.txt")
  expect([await fs.readFile("d/o.txt"), await fs.exists("d/o.txt.tmp")]).toEqual(["replaced\n", false])
  await fs.rm("d", true, false)
  await fs.rm("d", true, true)
  await expect(fs.rm("d", true, false)).rejects.toMatchObject({ code: "ENOENT" })
  await expect(fs.readFile("nope")).rejects.toMatchObject({ code: "ENOENT" })
  await expect(fs.stat("nope")).rejects.toMatchObject({ code: "ENOENT" })
  await expect(fs.readFile("../x")).rejects.toMatchObject({ code: "path_outside_workspace" })
})

it("appends of a Copilot session keep a file's encoding, their order and the appends of other sessions", async () => {
  const before = Buffer.from([0xe9, 0xff, 0x0a])
  using workspace = temporaryWorkspace({ "latin.txt": before, "log.jsonl": "0\n" })
  const { root, state } = workspace
  await using host = await openHost({ root, state, approval: "all" })
  const one = copilotSessionFs(host)
  const other = copilotSessionFs(host)
  await one.appendFile("latin.txt", "é\n")
  expect(workspace.bytes("latin.txt")).toEqual(Buffer.concat([before, Buffer.from("é\n", "latin1")]))
  const names = ["1", "2", "3", "4"]
  await Promise.all(names.flatMap((name) => [one.appendFile("log.jsonl", `${name}\n`), one.appendFile("new", name)]))
  expect([workspace.read("log.jsonl"), workspace.read("new")]).toEqual(["0\n1\n2\n3\n4\n", "1234"])
  await Promise.all([one.appendFile("both", "a"), other.appendFile("both", "b")])
  expect(workspace.read("both")).toHaveLength(2)
  await expect(one.appendFile("../x", "1")).rejects.toMatchObject({ code: "path_outside_workspace" })
  await one.appendFile("new", "")
  await one.appendFile("new", "5")
  expect(workspace.read("new")).toBe("12345")
})
