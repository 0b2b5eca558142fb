import { readFileSync } from "node:fs"
import { join } from "node:path"

import { describe, expect, it } from "@effect/vitest"
import type { JsonSchema } from "@haft/core"
import { temporaryWorkspace } from "@haft/testing"

import { type DialectName, dialectNames, type HaftConfig } from "./internal.ts"
import { openHost } from "./promise.ts"

const open = async (config: HaftConfig = {}) => {
  const workspace = temporaryWorkspace({})
  const host = await openHost({
    root: workspace.root,
    state: workspace.state,
    approval: "all",
    sandbox: "none",
    replyBytes: 32_768,
    ...config
  })
  const artifact = (address: string): string =>
    readFileSync(join(workspace.state, "runs", address.replace("artifact:", "")), "utf8")
  return { workspace, host, artifact, [Symbol.asyncDispose]: () => host.dispose().then(workspace.remove) }
}

const files = Object.fromEntries(
  Array.from({ length: 1_500 }, (_, n) => [`many/a file with a rather long name number ${n}.txt`, `${n}\n`])
)

describe("a reply beyond its budget", () => {
  it("keeps the first and last entries of a list, and names the artifact with all of them", async () => {
    await using opened = await open()
    for (const [path, text] of Object.entries(files)) opened.workspace.put(path, text)
    const reply = await opened.host.call("delete_path", { path: "many", recursive: true })
    expect(JSON.stringify(reply.wire).length).toBeLessThan(32_768)
    expect(reply.text.length).toBeLessThan(32_768)
    const { result, shortened } = reply.wire as {
      result: { deleted: ReadonlyArray<string> }
      shortened: { artifact: string; parts: ReadonlyArray<object> }
    }
    expect(result.deleted[0]).toBe("many")
    expect(result.deleted.at(-1)).toContain("number 999.txt")
    expect(shortened.parts).toEqual([{ field: "deleted", total: 1_501, shown: result.deleted.length }])
    expect(reply.text).toContain(`deleted: ${result.deleted.length} of 1501 shown. All of it is in artifact:`)
    expect((JSON.parse(opened.artifact(shortened.artifact)) as typeof result).deleted).toHaveLength(1_501)
    const undone = await opened.host.call("undo", {})
    expect(undone.ok && JSON.stringify(undone.wire).length).toBeLessThan(32_768)
  })

  it("keeps the beginning and the end of one long line", async () => {
    await using opened = await open()
    opened.workspace.put("line.txt", `begin${"x".repeat(2_000_000)}end\n`)
    const reply = await opened.host.call("read_file", { path: "line.txt", max_bytes: 4_000_000 })
    const { result, shortened } = reply.wire as { result: Record<string, unknown>; shortened: { artifact: string } }
    expect(result["content"]).toMatch(/^beginx+\n\[\d+ bytes left out\]\nx+end\n$/)
    expect(result["truncated"]).toBe(true)
    expect(JSON.stringify(reply).length).toBeLessThan(65_536)
    expect(opened.artifact(shortened.artifact)).toContain("xend")
  })

  it.each<[DialectName, string, object]>([
    ["agentbench", "list_files", {}],
    ["filetools", "file.list", { path: "many" }],
    ["approvalgate", "delete_file", { path: "many", recursive: true }],
    ["toolrouter", "list_dir", { path: "many", limit: 2_000 }]
  ])("holds for lists of %s too: %s", async (dialect, tool, args) => {
    await using opened = await open({ dialect })
    for (const [path, text] of Object.entries(files)) opened.workspace.put(path, text)
    const reply = await opened.host.call(tool, args)
    expect([tool, reply.error?.message]).toEqual([tool, undefined])
    expect(JSON.stringify(reply.wire).length).toBeLessThan(40_000)
  })

  it("leaves texts whole in a contract that returns them whole", async () => {
    await using opened = await open({ dialect: "approvalgate" })
    opened.workspace.put("line.txt", "x".repeat(100_000))
    const reply = await opened.host.call("read_file", { path: "line.txt" })
    expect(JSON.stringify(reply.wire).includes("x".repeat(100_000))).toBe(true)
    expect(reply.text.length).toBe(100_000)
  })

  it("is what it was where it fits", async () => {
    await using opened = await open()
    opened.workspace.put("a.txt", "x".repeat(30_000))
    const reply = await opened.host.call("read_file", { path: "a.txt" })
    expect(reply.wire).not.toHaveProperty("shortened")
    expect(reply.text).toBe("x".repeat(30_000))
  })
})

// Failures quote arguments: the name of a session, a pattern, a path, the name of the tool itself.
describe("a failure that quotes a large argument", () => {
  const large = "x".repeat(200_000)

  it.each(dialectNames)("stays within the budget, whatever tool and parameter of %s it is about", async (dialect) => {
    await using opened = await open({ dialect })
    opened.workspace.put("a.txt", "one\n")
    const sizes: Array<string> = []
    const call = async (tool: string, args: unknown) => {
      const reply = await opened.host.call(tool, args)
      if (!reply.ok && JSON.stringify(reply).length > 6 * 32_768)
        sizes.push(`${tool} ${Object.keys(args as object).join()}`)
    }
    await call(large, {})
    for (const { name, inputSchema } of opened.host.tools) {
      for (const [parameter, other] of textParameters(inputSchema)) await call(name, { ...other, [parameter]: large })
    }
    expect(sizes).toEqual([])
  })

  it("keeps the beginning and the end of the message", async () => {
    await using opened = await open()
    const { error } = await opened.host.call("close_terminal", { terminal_id: large })
    expect(error?.code).toBe("session_not_found")
    expect(error?.message).toMatch(/^there is no session 'x+\n\[\d+ bytes left out\]\nx+'/)
  })
})

/** Each text parameter of a tool, with something that fits for those that the tool requires beside it. */
const textParameters = (schema: JsonSchema): ReadonlyArray<[string, Record<string, unknown>]> => {
  const properties = Object.entries((schema["properties"] ?? {}) as Readonly<Record<string, JsonSchema>>)
  const required = (schema["required"] ?? []) as ReadonlyArray<string>
  const fitting = ({ enum: choices, type }: JsonSchema): unknown =>
    (choices as ReadonlyArray<unknown> | undefined)?.[0] ??
    { integer: 1, number: 1, boolean: false, array: [], object: {} }[String(type)] ??
    "a.txt"
  return properties
    .filter(([name, { type }]) => type === "string" && !/^(?:code|cmd|command|content|text)$/.test(name))
    .map(([name]) => [
      name,
      Object.fromEntries(
        properties.filter(([key]) => required.includes(key)).map(([key, value]) => [key, fitting(value)])
      )
    ])
}
