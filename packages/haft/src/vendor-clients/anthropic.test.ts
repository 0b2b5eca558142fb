import Anthropic from "@anthropic-ai/sdk"
import { anthropicClientTools, runnableTools } from "@haft/adapters/anthropic"
import { temporaryWorkspace } from "@haft/testing"
import { expect, it } from "vitest"

import { scriptedApi } from "../../test/scripted-api.ts"
import { openHost } from "../promise.ts"

const use = (id: string, name: string, input: object) => ({ type: "tool_use", id, name, input })

const message = (content: ReadonlyArray<object>) => ({
  id: "m",
  type: "message",
  role: "assistant",
  model: "scripted",
  content,
  stop_reason: content.some((block) => "name" in block) ? "tool_use" : "end_turn",
  usage: { input_tokens: 1, output_tokens: 1 }
})

/** Tool results that a request adds to the conversation. */
const lastResults = ({ messages }: Readonly<Record<string, unknown>>): ReadonlyArray<object> => {
  const { content = "" } = (messages as ReadonlyArray<{ readonly content: string | Array<object> }>).at(-1) ?? {}
  return typeof content === "string" ? [] : content.filter((block) => "tool_use_id" in block)
}

const opened = async (files: Parameters<typeof temporaryWorkspace>[0]) => {
  const workspace = temporaryWorkspace(files)
  const { root, state } = workspace
  const host = await openHost({ root, state, dialect: "anthropic", approval: "all", sandbox: "none" })
  return { workspace, host, [Symbol.asyncDispose]: () => host.dispose().finally(workspace.remove) }
}

it("Anthropic's tool runner edits, runs and remembers through haft", async () => {
  await using one = await opened({ "a.txt": "one\ntwo\n", "b.txt": "one\ntwo\n" })
  const { host, workspace } = one
  const turns = [
    [use("t1", "bash", { command: "cd /; cd -; A=1; cat a.txt" })],
    [
      use("t2", "str_replace_based_edit_tool", { command: "view", path: "b.txt" }),
      use("t3", "str_replace_based_edit_tool", { command: "str_replace", path: "a.txt", old_str: "two", new_str: "2" }),
      use("t4", "memory", { command: "create", path: "/memories/n.md", file_text: "n\n" }),
      use("t5", "read", { file_path: "nope" })
    ],
    [use("t6", "bash", { command: "echo $A; false" })],
    [{ type: "text", text: "done" }]
  ]
  await using api = await scriptedApi((_, count) => message(turns[count - 1] ?? []))
  const client = new Anthropic({ apiKey: "none", baseURL: api.url })
  const tools = runnableTools(host, {
    maxCharacters: 8,
    properties: { memory: { cache_control: { type: "ephemeral" } }, read: { defer_loading: true } }
  })
  const last = await client.beta.messages.toolRunner({
    model: "scripted",
    max_tokens: 100,
    messages: [{ role: "user", content: "go" }],
    tools
  })
  expect(last.content).toMatchObject([{ type: "text", text: "done" }])
  expect(workspace.read("a.txt")).toBe("one\n2\n")
  expect(workspace.read("memories/n.md")).toBe("n\n")
  const sent = api.requests[0]?.body["tools"] as ReadonlyArray<{ readonly name: string }>
  expect(sent.find(({ name }) => name === "bash")).toEqual({ type: "bash_20250124", name: "bash" })
  expect(sent.find(({ name }) => name === "str_replace_based_edit_tool")).toMatchObject({
    type: "text_editor_20250728",
    max_characters: 8
  })
  expect(sent.find(({ name }) => name === "memory")).toMatchObject({
    type: "memory_20250818",
    cache_control: { type: "ephemeral" }
  })
  expect(sent.find(({ name }) => name === "read")).toMatchObject({
    input_schema: { required: ["file_path"] },
    defer_loading: true
  })
  expect(api.requests.flatMap(({ body }) => lastResults(body))).toMatchObject([
    { tool_use_id: "t1", content: `${workspace.root}\none\ntwo` },
    { tool_use_id: "t2", content: "     1\to\n[view cut at 8 of 29 characters: use view_range]" },
    { tool_use_id: "t3", content: "Successfully replaced text at exactly one location." },
    { tool_use_id: "t4", content: "File created successfully at: /memories/n.md" },
    { tool_use_id: "t5", content: "read: nope: no such file or directory", is_error: true },
    { tool_use_id: "t6", content: "1", is_error: true }
  ])
})

it("Anthropic's environment worker serves a session through haft", async () => {
  await using one = await opened({ "a.txt": "one\n" })
  const allowed = { type: "agent.tool_use", evaluated_permission: "allow" }
  const events = [
    { ...use("e1", "edit", { file_path: "a.txt", old_string: "one", new_string: "1" }), ...allowed },
    { ...use("e2", "grep", { pattern: "1" }), ...allowed },
    { type: "session.status_terminated", id: "end" }
  ]
  await using api = await scriptedApi(({ method, path }) => {
    if (path.endsWith("/events/stream")) {
      return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("")
    }
    if (path.endsWith("/heartbeat")) {
      return { lease_extended: true, state: "active", ttl_seconds: 90, last_heartbeat: "2026-01-01T00:00:00Z" }
    }
    if (path.endsWith("/events") && method === "GET") return { data: [], next_page: null }
    if (path === "/v1/sessions/s") return { id: "s", type: "session", resources: [], agent: { skills: [] } }
    return {}
  })
  const client = new Anthropic({ apiKey: "none", baseURL: api.url, logLevel: "off" })
  const worker = client.beta.environments.work.worker({
    tools: runnableTools(one.host, { only: ["bash", "read", "write", "edit", "glob", "grep"] }),
    workdir: one.workspace.outside
  })
  await worker.handleItem({ workId: "w", environmentId: "e", sessionId: "s", environmentKey: "key" })
  const posted = api.requests.filter(({ method, path }) => method === "POST" && path === "/v1/sessions/s/events")
  expect(posted.flatMap(({ body }) => body["events"])).toMatchObject([
    { tool_use_id: "e1", content: [{ type: "text", text: "edited a.txt (1 replacement(s))" }] },
    { tool_use_id: "e2", content: [{ type: "text", text: `${one.workspace.root}/a.txt:1:1\n` }] }
  ])
  expect(one.workspace.read("a.txt")).toBe("1\n")
})

it("client tools answer a Messages loop, with the call's id on record and denials as errors", async () => {
  const workspace = temporaryWorkspace({ "a.txt": "one\n" })
  const { root, state } = workspace
  await using host = await openHost({ root, state, dialect: "anthropic", sandbox: "none" })
  const asked: Array<string> = []
  const { tools, call } = anthropicClientTools(host, {
    only: ["bash", "memory"],
    ask: async ({ call: { tool } }) => {
      asked.push(tool)
      return { approved: false }
    }
  })
  expect(tools).toHaveLength(2)
  expect(tools).toContainEqual({ type: "bash_20250124", name: "bash" })
  expect(tools).toContainEqual({ type: "memory_20250818", name: "memory" })
  const denied = await call({ id: "t1", name: "bash", input: { command: "true" } })
  expect(denied).toMatchObject({ tool_use_id: "t1", is_error: true })
  expect(asked).toEqual(["bash"])
  expect(await call({ id: "t2", name: "memory", input: { command: "view", path: "/memories" } })).toMatchObject({
    is_error: false
  })
  workspace.remove()
})
