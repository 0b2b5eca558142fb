import { temporaryWorkspace } from "@haft/testing"
import { describe, expect, it, onTestFinished } from "vitest"

import { type ApprovalMode, type HaftConfig, modeNames, openWorkspace, readRun } from "./internal.ts"

const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`many/${index}.txt`, "x\n"]))

const open = async (config: HaftConfig = {}) => {
  const files = { "a.txt": "one\n", ".git/config": "", ".vscode/settings.json": "{}\n", ...many }
  const { root, state, remove } = temporaryWorkspace(files)
  const workspace = await openWorkspace({ root, state, approval: "none", sandbox: "none", ...config })
  onTestFinished(async () => {
    await workspace.dispose()
    remove()
  })
  const host = await workspace.host()
  const codeOf = async (tool: string, params: object) => (await host.call(tool, params)).error?.code ?? "ok"
  return { workspace, codeOf, config: { root, state } }
}

const denied = "approval_denied"

describe("the mode of a workspace", () => {
  it("is part of the configuration, and says which calls run without a question", async () => {
    const calls: ReadonlyArray<readonly [string, object]> = [
      ["read_file", { path: "a.txt" }],
      ["write_file", { path: "b.txt", content: "b" }],
      ["edit_file", { path: "a.txt", edits: [{ find: "one", replace: "two" }] }],
      ["create_directory", { path: "new" }],
      ["move_path", { from: "a.txt", to: "c.txt" }],
      ["delete_path", { path: "c.txt" }],
      ["delete_path", { path: "many", recursive: true }],
      ["write_file", { path: ".vscode/settings.json", content: "{}" }],
      ["run_command", { command: "true" }],
      ["run_command", { command: "true", read_only: true }],
      ["fetch_url", { url: "https://docs.example/" }]
    ]
    const outcomes: Record<string, ReadonlyArray<string>> = {}
    for (const mode of modeNames) {
      const { codeOf } = await open({ mode })
      const codes: Array<string> = []
      for (const [tool, params] of calls) codes.push(await codeOf(tool, params))
      outcomes[mode] = codes
    }
    const edits = ["ok", "ok", "ok", "ok", "ok", "ok"]
    // Without a sandbox nothing holds a command to reading.
    const asked = [denied, denied, denied, denied, denied]
    expect(outcomes).toEqual({
      plan: ["ok", denied, denied, denied, denied, denied, ...asked],
      ask: ["ok", denied, denied, denied, denied, denied, ...asked],
      "accept-edits": [...edits, ...asked],
      auto: [...edits, ...asked]
    })
  })

  it("can be changed while it is open, which is on record with who did it", async () => {
    const { workspace, codeOf, config } = await open()
    const write = (path: string) => codeOf("write_file", { path, content: "x" })
    const modes: ReadonlyArray<ApprovalMode> = ["accept-edits", "plan", "plan", "ask"]
    const seen = [await write("1.txt")]
    for (const [index, mode] of modes.entries()) {
      await workspace.setMode(mode, { name: "alice", role: "approver" })
      seen.push(workspace.mode(), await write(`${index + 2}.txt`))
    }
    expect(seen).toEqual([denied, "accept-edits", "ok", "plan", denied, "plan", denied, "ask", denied])
    const events = await readRun(config)
    const person = { name: "alice", role: "approver" }
    expect(events.filter(({ type }) => type === "mode_changed")).toMatchObject([
      { from: "ask", to: "accept-edits", person },
      { from: "accept-edits", to: "plan", person },
      { from: "plan", to: "ask", person }
    ])
    const approvals = events.flatMap(({ approval }) => (approval === undefined ? [] : [approval]))
    expect(approvals).toMatchObject([
      { decision: "deny", basis: "contract" },
      { decision: "allow", basis: "mode" },
      { decision: "deny", basis: "mode" },
      { decision: "deny", basis: "mode" },
      { decision: "deny", basis: "contract" }
    ])
  })

  it("adds no question to a contract that has none", async () => {
    for (const mode of ["ask", "accept-edits", "auto"] as const) {
      const { workspace, codeOf } = await open({ mode, dialect: "agentbench" })
      expect([workspace.mode(), await codeOf("run", { command: "true" })]).toEqual([mode, "ok"])
    }
  })
})
