import { describe, expect, it } from "@effect/vitest"
import { temporaryWorkspace } from "@haft/testing"

import type { DialectName, HaftConfig } from "./internal.ts"
import { openHost } from "./promise.ts"

const secret = "hunter2-4711"
const settings = `host = db\npassword = ${secret}\nport = 5432\n`

const open = async (config: HaftConfig = {}) => {
  const workspace = temporaryWorkspace({ "app.ini": settings, "a.txt": "a\n" })
  const { root, state } = workspace
  const host = await openHost({ root, state, approval: "all", sandbox: "none", redactReplies: true, ...config })
  return { workspace, host, [Symbol.asyncDispose]: () => host.dispose().then(workspace.remove) }
}

describe("redactReplies", () => {
  it.each<readonly [string, Readonly<Record<string, unknown>>]>([
    ["read_file", { path: "app.ini" }],
    ["search_text", { query: "password" }],
    ["edit_file", { path: "app.ini", edits: [{ find: "port = 5432", replace: "port = 5433" }] }],
    ["run_command", { command: "cat app.ini" }],
    ["run_command", { command: "cat app.ini >&2; exit 3" }],
    ["read_file", { path: `https://me:${secret}@x.test` }]
  ])("replaces secrets in the reply of %s %j", async (tool, args) => {
    await using opened = await open()
    const reply = await opened.host.call(tool, args)
    const shown = JSON.stringify([reply.wire, reply.text, reply.blocks, reply.output, reply.error])
    expect(shown).not.toContain(secret)
    expect(shown).toContain("[redacted]")
  })

  it.each<readonly [DialectName, string]>([
    ["agentbench", "read_file"],
    ["approvalgate", "read_file"],
    ["cliagent", "read_file"],
    ["filetools", "file.read"],
    ["toolrouter", "read_file"]
  ])("replaces secrets in the dialect %s", async (dialect, tool) => {
    await using opened = await open({ dialect })
    const reply = await opened.host.call(tool, { path: "app.ini" })
    expect(reply.ok).toBe(true)
    expect(JSON.stringify(reply)).not.toContain(secret)
    expect(JSON.stringify(reply.wire)).toContain("password = [redacted]")
  })

  it("refuses a change that would write the mark in place of the secret", async () => {
    await using opened = await open()
    const reply = await opened.host.call("write_file", {
      path: "app.ini",
      content: "password = [redacted]\nport = 1\n"
    })
    expect(reply.error?.code).toBe("invalid_params")
    expect(opened.workspace.read("app.ini")).toBe(settings)
  })

  it("hides the secret in previews", async () => {
    await using opened = await open()
    const edits = [{ find: "port = 5432", replace: "port = 5433" }]
    const { diff } = await opened.host.preview("edit_file", { path: "app.ini", edits })
    expect(diff).toContain("password = [redacted]")
  })

  it("is off by default: replies have the file as it is, the audit log does not", async () => {
    await using opened = await open({ redactReplies: false })
    expect(JSON.stringify((await opened.host.call("read_file", { path: "app.ini" })).wire)).toContain(secret)
  })
})
