import { openaiLocalTools, patchGrammar } from "@haft/adapters/openai"
import { temporaryWorkspace } from "@haft/testing"
import OpenAI from "openai"
import type { ResponseInputItem } from "openai/resources/responses/responses"
import { expect, it } from "vitest"

import { scriptedApi } from "../../test/scripted-api.ts"
import type { DialectName } from "../host/dialects.ts"
import { openHost } from "../promise.ts"

/** Runs a conversation with scripted turns, as an application would, and returns all that went back to the model. */
const converse = async (
  { root, state }: { readonly root: string; readonly state: string },
  dialect: DialectName,
  turns: ReadonlyArray<ReadonlyArray<object>>,
  options?: Parameters<typeof openaiLocalTools>[1]
) => {
  await using host = await openHost({ root, state, dialect, approval: "all", sandbox: "none" })
  await using api = await scriptedApi((_, count) => ({ id: `r${count}`, object: "response", output: turns[count - 1] }))
  const client = new OpenAI({ apiKey: "none", baseURL: api.url })
  const { tools, call } = openaiLocalTools(host, options)
  const input: Array<ResponseInputItem> = [{ role: "user", content: "go" }]
  for (;;) {
    const { output } = await client.responses.create({ model: "scripted", input, tools })
    const calls = output.filter(
      (item) =>
        item.type === "shell_call" ||
        item.type === "apply_patch_call" ||
        item.type === "custom_tool_call" ||
        item.type === "function_call"
    )
    if (calls.length === 0) break
    for (const item of calls) input.push(await call(item))
  }
  return { tools: api.requests[0]?.body["tools"], answers: api.requests.at(-1)?.body["input"] as Array<object> }
}

const done = [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "done" }] }]

it("OpenAI's shell and apply_patch run through haft", async () => {
  using workspace = temporaryWorkspace({ "a.txt": "one\ntwo\n" })
  const caller = { type: "program", caller_id: "p" }
  const shell = (call_id: string, commands: ReadonlyArray<string>) => ({
    type: "shell_call",
    call_id,
    action: { commands, timeout_ms: null, max_output_length: 1000 }
  })
  const patch = (call_id: string, operation: object) => ({ type: "apply_patch_call", call_id, operation, caller })
  const { tools, answers } = await converse(workspace, "openai", [
    [shell("c1", ["cat a.txt", "exit 2"])],
    [
      patch("c2", { type: "update_file", path: "a.txt", diff: "@@\n-two\n+2\n" }),
      patch("c3", { type: "update_file", path: "a.txt", diff: "@@\n-three\n+3\n" }),
      patch("c4", { type: "create_file", path: "b.txt", diff: "+b\n" })
    ],
    done
  ])
  expect(tools).toEqual([{ type: "apply_patch" }, { type: "shell", environment: { type: "local" } }])
  expect(answers.slice(1)).toMatchObject([
    {
      type: "shell_call_output",
      call_id: "c1",
      max_output_length: 1000,
      output: [
        { stdout: "one\ntwo\n", stderr: "", outcome: { type: "exit", exit_code: 0 } },
        { stdout: "", stderr: "", outcome: { type: "exit", exit_code: 2 } }
      ]
    },
    { type: "apply_patch_call_output", call_id: "c2", status: "completed", output: "Updated a.txt", caller },
    { type: "apply_patch_call_output", call_id: "c3", status: "failed", caller },
    { type: "apply_patch_call_output", call_id: "c4", status: "completed", caller }
  ])
  expect([workspace.read("a.txt"), workspace.read("b.txt")]).toEqual(["one\n2\n", "b\n"])
})

it("a tool with a grammar is a custom tool of OpenAI, beside functions", async () => {
  using workspace = temporaryWorkspace({ "a.txt": "one\n" })
  const input = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+1\n*** End Patch"
  const { tools, answers } = await converse(
    workspace,
    "codex",
    [
      [
        { type: "custom_tool_call", call_id: "c1", name: "apply_patch", input },
        { type: "function_call", call_id: "c2", name: "view_image", arguments: '{"path":"nope.png"}' }
      ],
      done
    ],
    { custom: { apply_patch: patchGrammar }, content: ({ text }) => text }
  )
  const offered = tools as ReadonlyArray<{ readonly name?: string; readonly type: string }>
  expect(offered.find(({ name }) => name === "apply_patch")).toMatchObject({
    type: "custom",
    format: { type: "grammar", syntax: "lark" }
  })
  expect(offered.find(({ name }) => name === "view_image")).toMatchObject({ type: "function" })
  expect(answers.slice(1)).toMatchObject([
    {
      type: "custom_tool_call_output",
      call_id: "c1",
      output: "Success. Updated the following files:\nM a.txt\n"
    },
    { type: "function_call_output", call_id: "c2", output: expect.stringContaining("unable to locate image") }
  ])
  expect(workspace.read("a.txt")).toBe("1\n")
})
