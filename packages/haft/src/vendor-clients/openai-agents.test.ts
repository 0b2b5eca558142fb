import { agentsEditor, agentsSandboxSession, agentsShell, asksAbout } from "@haft/adapters/openai-agents"
import { temporaryWorkspace } from "@haft/testing"
import { Agent, applyPatchTool, Runner, shellTool } from "@openai/agents-core"
import { assistantMessage, modelResponse, ScriptedModel } from "@openai/agents-core/testing"
import { expect, it } from "vitest"

import { openHost } from "../promise.ts"

it("an agent of OpenAI's Agents SDK runs commands and patches files through haft", async () => {
  using workspace = temporaryWorkspace({ "a.txt": "one\ntwo\n" })
  const { root, state } = workspace
  await using host = await openHost({ root, state, dialect: "openai", sandbox: "none" })
  const asked: Array<string> = []
  const ask = async ({ call: { tool } }: { readonly call: { readonly tool: string } }) => {
    asked.push(tool)
    return { approved: true }
  }
  const shell = (callId: string, commands: Array<string>) =>
    ({ type: "shell_call", callId, status: "completed", action: { commands } }) as const
  const patch = (callId: string, diff: string) =>
    ({
      type: "apply_patch_call",
      callId,
      status: "completed",
      operation: { type: "update_file", path: "a.txt", diff }
    }) as const
  const model = new ScriptedModel([
    modelResponse([shell("c1", ["cat a.txt", "exit 3"])]),
    modelResponse([patch("c2", "@@\n-two\n+2\n")]),
    modelResponse([patch("c3", "@@\n-three\n+3\n")]),
    modelResponse([assistantMessage("done")])
  ])
  const agent = new Agent({
    name: "a",
    model,
    tools: [shellTool({ shell: agentsShell(host, { ask }) }), applyPatchTool({ editor: agentsEditor(host, { ask }) })]
  })
  const result = await new Runner({ tracingDisabled: true }).run(agent, "go")
  expect(result.finalOutput).toBe("done")
  expect(workspace.read("a.txt")).toBe("one\n2\n")
  expect(asked).toEqual(["shell", "apply_patch"])
  const outputs = result.newItems.filter(({ type }) => type === "tool_call_output_item").map(({ rawItem }) => rawItem)
  expect(outputs).toMatchObject([
    {
      callId: "c1",
      output: [
        { stdout: "one\ntwo\n", outcome: { type: "exit", exitCode: 0 } },
        { stdout: "", outcome: { type: "exit", exitCode: 3 } }
      ]
    },
    { callId: "c2", status: "completed" },
    { callId: "c3", status: "failed" }
  ])
  expect(await asksAbout(host, "shell", { commands: ["true"] })).toBe(true)
  expect(await asksAbout(host, "shell", {})).toBe(false)
})

it("a sandbox session of OpenAI's Agents SDK is haft's workspace", async () => {
  using workspace = temporaryWorkspace({ "a.txt": "one\n", "d/b.txt": "b\n" })
  const { root, state } = workspace
  await using host = await openHost({ root, state, sandbox: "none", approval: "all" })
  const session = agentsSandboxSession(host, { root })
  expect(await session.exec?.({ cmd: "cat b.txt; exit 2", workdir: "d" })).toMatchObject({ stdout: "b\n", exitCode: 2 })
  expect(await session.execCommand?.({ cmd: "false" })).toBe("\n(exit code 1)")
  expect(Buffer.from((await session.readFile?.({ path: "a.txt", maxBytes: 2 })) as Uint8Array).toString()).toBe("on")
  expect(await session.listDir?.({ path: "." })).toMatchObject([
    { name: "a.txt", type: "file" },
    { name: "d", path: "./d", type: "dir" }
  ])
  expect([
    await session.pathExists?.("d/b.txt"),
    await session.pathExists?.("d/c"),
    await session.pathExists?.("x/y")
  ]).toEqual([true, false, false])
  expect([await session.directoryExists?.("d"), await session.directoryExists?.("a.txt")]).toEqual([true, false])
  const editor = session.createEditor?.()
  expect(await editor?.createFile({ type: "create_file", path: "n.txt", diff: "+n\n" })).toMatchObject({
    status: "completed"
  })
  expect(await editor?.updateFile({ type: "update_file", path: "a.txt", diff: "@@\n-zwei\n+2\n" })).toMatchObject({
    status: "failed"
  })
  expect(await editor?.deleteFile({ type: "delete_file", path: "a\n*** x" })).toMatchObject({ status: "failed" })
  expect(workspace.read("n.txt")).toBe("n\n")
  await using other = await openHost({ root, state, dialect: "openai" })
  expect(() => agentsSandboxSession(other, { root })).toThrow("must speak the dialect haft")
})
