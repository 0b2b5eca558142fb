import { type ChildProcess, spawn } from "node:child_process"
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"

import { temporaryWorkspace } from "@haft/testing"
import { type OpenRequest, readRun } from "haft/internal"
import { expect, it, onTestFinished } from "vitest"

import { bin, haft, placeOf } from "./haft.ts"

interface Announced {
  readonly url: string
  readonly console: string
  readonly mcp: string
  readonly tokens: string
  readonly workspace?: string
}

/** Starts `haft serve --json`; resolves when it has said where it is. */
const start = async (args: ReadonlyArray<string>) => {
  const child = spawn(process.execPath, [bin, "serve", "--json", "--port", "0", ...args])
  onTestFinished(() => void child.kill("SIGKILL"))
  let stdout = ""
  const announced = await new Promise<Announced>((resolve, reject) => {
    child.once("exit", () => reject(new Error("it ended")))
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk.toString()
      if (stdout.endsWith("}\n")) resolve(JSON.parse(stdout) as Announced)
    })
  })
  return { child, ...announced, ended: exitOf(child) }
}

const exitOf = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => child.once("exit", (code) => resolve(code)))

const tokensIn = (file: string) => JSON.parse(readFileSync(file, "utf8")) as { agent: string; approver: string }

const post = (url: string, token: string, body: unknown): Promise<Response> =>
  fetch(url, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" }
  })

it("serves until SIGTERM, lets the running call end, and exits with 0", async () => {
  using workspace = temporaryWorkspace({ "a.txt": "one\n" })
  const place = [...placeOf(workspace), "--sandbox", "none"]
  const server = await start([...place, "--token", "the-token-of-the-first-agent"])
  const { agent, approver } = tokensIn(server.tokens)
  // A token that is given is not stored.
  expect(agent).toBe(undefined)
  expect(approver).toMatch(/^[\w-]{43}$/)
  const me = await fetch(`${server.url}/v1/me`, { headers: { authorization: "Bearer the-token-of-the-first-agent" } })
  expect(await me.json()).toEqual({ name: "agent", role: "agent" })
  expect(statSync(server.tokens).mode & 0o777).toBe(0o600)
  const calls = `${server.url}/v1/workspaces/default/calls`
  const slow = post(calls, approver, { tool: "run_command", params: { command: "touch started; sleep 1; echo done" } })
  await expect.poll(() => workspace.exists("started")).toBe(true)
  server.child.kill("SIGTERM")
  expect(await (await slow).json()).toMatchObject({ ok: true })
  expect(await server.ended).toBe(0)

  const again = await start(place)
  expect(tokensIn(again.tokens)).toEqual({ agent: expect.stringMatching(/^[\w-]{43}$/), approver })
  again.child.kill("SIGINT")
  expect(await again.ended).toBe(0)
})

it("says in the record that a question was refused when the server that asked it was killed", async () => {
  using workspace = temporaryWorkspace({ "a.txt": "one\n" })
  const place = [...placeOf(workspace), "--sandbox", "none"]
  const first = await start(place)
  const { agent, approver } = tokensIn(first.tokens)
  const asking = post(`${first.url}/v1/workspaces/default/calls`, agent, {
    tool: "write_file",
    params: { path: "b.txt", content: "" }
  })
  asking.catch(() => {})
  const headers = { authorization: `Bearer ${approver}` }
  const open = async () => {
    const response = await fetch(`${first.url}/v1/workspaces/default/approvals`, { headers })
    return ((await response.json()) as { approvals: Array<unknown> }).approvals
  }
  await expect.poll(open).toHaveLength(1)
  first.child.kill("SIGKILL")
  await first.ended

  const second = await start(place)
  const base = `${second.url}/v1/workspaces/default`
  const { runs } = (await (await fetch(`${base}/runs`, { headers })).json()) as { runs: Array<{ name: string }> }
  const { events } = (await (await fetch(`${base}/runs/${runs[0]?.name}/events`, { headers })).json()) as {
    events: Array<object>
  }
  expect(events).toMatchObject([
    { type: "tool_call_started" },
    { type: "approval_requested" },
    { type: "approval_decided", decision: "deny", by: "nobody", reason: "the host died before anybody answered" },
    { type: "tool_call_finished", error: "cancelled", aborted: true }
  ])
  expect(workspace.exists("b.txt")).toBe(false)
})

it("ends running calls at the second signal, and they are on record", async () => {
  using workspace = temporaryWorkspace()
  const place = [...placeOf(workspace), "--sandbox", "none"]
  const { child, url, tokens, ended } = await start([...place, "--approve", "all", "--grace", "600"])
  const calling = post(`${url}/v1/workspaces/default/calls`, tokensIn(tokens).agent, {
    tool: "run_command",
    params: { command: "echo $$ > pid; exec sleep 1000" }
  })
  calling.catch(() => {})
  await expect.poll(() => workspace.exists("pid") && workspace.read("pid")).toMatch(/^\d+\n$/)
  child.kill("SIGTERM")
  // Signals within a second count as one, so the next is sent later than that.
  const again = setInterval(() => child.kill("SIGTERM"), 1_100)
  expect(await ended).toBe(0)
  clearInterval(again)
  expect(() => process.kill(Number(workspace.read("pid")), 0)).toThrow(/ESRCH/)
  const events = await readRun({ root: workspace.root, state: workspace.state })
  expect(events.at(-1)).toMatchObject({ type: "tool_call_finished", error: "cancelled" })
})

it("has a demo to try, and takes it away again", async () => {
  const { child, url, console: link, workspace = "", ended } = await start(["--demo"])
  expect(readFileSync(`${workspace}/prices.csv`, "utf8")).toContain("\r\n")
  expect((await fetch(link, { redirect: "manual" })).status).toBe(303)
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
  child.kill("SIGTERM")
  expect(await ended).toBe(0)
  expect(() => statSync(workspace)).toThrow(/ENOENT/)
})

it("has an agent in its demo, which waits for a person", async () => {
  const { child, url, tokens, workspace = "", ended } = await start(["--demo", "--sandbox", "none"])
  const { agent, approver } = tokensIn(tokens)
  const base = `${url}/v1/workspaces/default`
  const waiting = async () => {
    const answer = await fetch(`${base}/approvals`, { headers: { authorization: `Bearer ${approver}` } })
    return ((await answer.json()) as { approvals: ReadonlyArray<OpenRequest> }).approvals
  }
  const waitingTools = async () => (await waiting()).map(({ tool }) => tool).toSorted()
  const approve = async (tool: string) => {
    const { id } = (await waiting()).find((request) => request.tool === tool) ?? {}
    expect((await post(`${base}/approvals/${id}`, approver, { approved: true })).status).toBe(200)
  }
  await expect.poll(waitingTools).toEqual(["edit_file", "open_terminal"])
  const diffs = (await waiting()).map(({ diff }) => diff).join("")
  expect(diffs).toContain("+    sum += prices[item] * (count - free)")

  await approve("edit_file")
  await expect.poll(waitingTools).toEqual(["open_terminal", "run_command"])
  await approve("run_command")
  await expect.poll(waitingTools).toEqual(["open_terminal"])
  const lastCommand = async () => (await post(`${base}/calls`, agent, { tool: "last_command" })).json()
  await expect.poll(lastCommand).toMatchObject({ ok: true, result: { exit_code: 0 } })

  child.kill("SIGTERM")
  expect(await ended).toBe(0)
  expect(() => statSync(workspace)).toThrow(/ENOENT/)
})

it.each([
  [["--port", "many"], "--port is a number from 0 to 65535, not 'many'"],
  [["--token", ""], "--token is empty"],
  [["--token", "a"], "this token is too weak"],
  [["--token-file", "/nowhere/token"], "/nowhere/token"],
  [["now"], "unexpected argument 'now': haft serve takes options only"]
])("refuses %j in words", async (args, message) => {
  const { code, stderr } = await haft(["serve", ...args])
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
})

it("takes the agent's token from a file or from the environment, and prints none", async () => {
  using workspace = temporaryWorkspace({ token: "the-token-that-a-file-has\n" })
  const place = [...placeOf(workspace), "--sandbox", "none"]
  const server = await start([...place, "--token-file", join(workspace.root, "token")])
  const me = await fetch(`${server.url}/v1/me`, { headers: { authorization: "Bearer the-token-that-a-file-has" } })
  expect(me.status).toBe(200)
  server.child.kill("SIGTERM")
  expect(await server.ended).toBe(0)
})

it("makes, lists and revokes tokens, and shows a secret once", async () => {
  using workspace = temporaryWorkspace()
  const place = placeOf(workspace)
  const made = await haft(["token", "create", "ci", "--expires", "30d", "--workspaces", "default,docs", ...place])
  expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/^[\w-]{43}\n$/)])
  const listed = await haft(["token", "list", ...place])
  expect(listed.stdout).toMatch(/ci +agent +default, docs +until /)
  expect(listed.stdout).not.toContain(made.stdout.trim())
  expect((await haft(["token", "revoke", "ci", ...place])).stdout).toBe("Revoked ci\n")
  expect((await haft(["token", "revoke", "ci", ...place])).code).toBe(2)
  expect((await haft(["token", "create", "x", "--expires", "soon", ...place])).stderr).toContain("30d")
})

it.runIf(process.platform === "linux")(
  "serves calls on a branch by a host of its own (not on this platform)",
  async () => {
    using workspace = temporaryWorkspace({ "a.txt": "one\n" })
    const server = await start([...placeOf(workspace), "--sandbox", "none", "--approve", "all"])
    const { agent } = tokensIn(server.tokens)
    const branches = `${server.url}/v1/workspaces/default/branches`
    expect((await post(branches, agent, { name: "fix" })).status).toBe(200)
    const write = { tool: "write_file", params: { path: "a.txt", content: "two\n" } }
    expect(await (await post(`${branches}/fix/calls`, agent, write)).json()).toMatchObject({ ok: true })
    expect(workspace.read("a.txt")).toBe("one\n")
    expect(await (await post(`${branches}/fix/merge`, agent, {})).json()).toMatchObject({ ok: true })
    expect(workspace.read("a.txt")).toBe("two\n")
    server.child.kill("SIGTERM")
    expect(await server.ended).toBe(0)
  }
)
