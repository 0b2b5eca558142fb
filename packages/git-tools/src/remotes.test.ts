import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"

import { afterEach, beforeEach, describe, expect, it } from "@effect/vitest"
import { Host, type NetworkConfig, networkPolicy, use } from "@haft/core"
import { openHost } from "@haft/core/promise"
import { haft } from "@haft/dialects"
import { fileJournal, NameResolver, nodeProcesses, nodeWorkspace, unshareSandbox } from "@haft/node"
import { scriptedApprover, temporaryWorkspace, type TemporaryWorkspace } from "@haft/testing"
import * as Layer from "effect/Layer"

import { gitTools } from "./index.ts"

/** git's own server program, behind HTTP. */
const serveGit = (root: string) => (request: IncomingMessage, response: ServerResponse) => {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost")
  const backend = spawn("git", ["http-backend"], {
    env: {
      PATH: process.env["PATH"],
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      REMOTE_USER: "ada",
      PATH_INFO: pathname,
      REQUEST_METHOD: request.method,
      QUERY_STRING: searchParams.toString(),
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      ...(request.headers["content-encoding"] !== undefined && {
        HTTP_CONTENT_ENCODING: request.headers["content-encoding"]
      }),
      GIT_PROTOCOL: String(request.headers["git-protocol"] ?? "")
    }
  })
  request.pipe(backend.stdin)
  const parts: Array<Buffer> = []
  backend.stdout.on("data", (part: Buffer) => parts.push(part))
  backend.once("close", () => {
    const all = Buffer.concat(parts)
    const end = all.indexOf("\r\n\r\n")
    const headers = all
      .subarray(0, end)
      .toString()
      .split("\r\n")
      .map((line) => line.split(": ") as [string, string])
    const status = headers.find(([name]) => name === "Status")?.[1].slice(0, 3) ?? "200"
    response.writeHead(Number(status), Object.fromEntries(headers.filter(([name]) => name !== "Status")))
    response.end(all.subarray(end + 4))
  })
}

let remotes: TemporaryWorkspace
let workspace: TemporaryWorkspace
let server: Server
let url: string
let port: number

const git = (directory: string, ...args: ReadonlyArray<string>): string =>
  execFileSync("git", [...args], { cwd: directory, encoding: "utf8" })

beforeEach(async () => {
  remotes = temporaryWorkspace()
  workspace = temporaryWorkspace({ "a.txt": "one\n" })
  const bare = join(remotes.root, "project.git")
  git(remotes.root, "init", "--quiet", "--bare", "--initial-branch=main", bare)
  git(bare, "config", "http.receivepack", "true")
  server = createServer(serveGit(remotes.root)).listen(0, "127.0.0.1")
  await once(server, "listening")
  port = (server.address() as AddressInfo).port
  url = `http://project.test:${port}/project.git`
  git(workspace.root, "init", "--quiet", "--initial-branch=main")
  git(workspace.root, "config", "user.name", "Ada")
  git(workspace.root, "config", "user.email", "ada@example.org")
  git(workspace.root, "remote", "add", "origin", url)
  git(workspace.root, "add", "--all")
  git(workspace.root, "commit", "--quiet", "--message", "first")
})
afterEach(() => {
  server.close()
  workspace.remove()
  remotes.remove()
})

const open = async (network?: NetworkConfig, approved = true) => {
  const approver = scriptedApprover(() => ({ approved }))
  const services = unshareSandbox({ state: workspace.state }).pipe(
    Layer.provide(Layer.succeed(NameResolver, async () => ["127.0.0.1"])),
    Layer.provideMerge(network === undefined ? Layer.empty : networkPolicy(network)),
    Layer.provideMerge(Layer.mergeAll(nodeProcesses, fileJournal({ directory: workspace.state }), approver.layer)),
    Layer.provideMerge(nodeWorkspace({ root: workspace.root, state: workspace.state }))
  )
  const host = await openHost(Host.layer({ dialect: haft, plugins: [use(gitTools)] }).pipe(Layer.provide(services)))
  const call = async (tool: string, args: object = {}) => (await host.call(tool, args)).wire
  return { call, approver, [Symbol.asyncDispose]: () => host.dispose() }
}

describe.runIf(process.platform === "linux")("remotes over HTTP (not on this platform)", () => {
  it("are pushed to, fetched from and cloned, each after a question", async () => {
    await using opened = await open({ allow: [`project.test:${port}`], ask: false })
    const { call, approver } = opened
    expect(await call("git_push")).toMatchObject({
      ok: true,
      result: { remote: "origin", updates: [{ flag: "*", reference: "HEAD:refs/heads/main", summary: "[new branch]" }] }
    })
    const commit = git(workspace.root, "rev-parse", "HEAD").trim()
    expect(git(join(remotes.root, "project.git"), "rev-parse", "main").trim()).toBe(commit)
    expect(await call("git_fetch")).toEqual({
      ok: true,
      result: { remote: "origin", branches: [{ name: "origin/main", commit }] }
    })
    expect(await call("git_clone", { url, directory: "copy", depth: 1 })).toEqual({
      ok: true,
      result: { directory: "copy", branch: "main", commit }
    })
    expect(workspace.read("copy/a.txt")).toBe("one\n")
    expect(await call("git_clone", { url, directory: "copy" })).toMatchObject({ error: { code: "already_exists" } })
    const asked = approver.questions.map(({ call, facts }) => [call.tool, facts.network])
    expect(asked).toEqual(["git_push", "git_fetch", "git_clone", "git_clone"].map((tool) => [tool, true]))
  })

  it("refuse a push that loses commits, unless it is forced", async () => {
    await using opened = await open({ allow: [`project.test:${port}`] })
    const { call } = opened
    await call("git_push")
    git(workspace.root, "commit", "--quiet", "--amend", "--message", "other")
    expect(await call("git_push")).toMatchObject({ error: { code: "command_failed" } })
    expect(await call("git_push", { force: true })).toMatchObject({ ok: true })
  })

  it("are not reached without a policy, or where it does not list them, or without approval", async () => {
    await using closed = await open()
    expect(await closed.call("git_fetch")).toMatchObject({ error: { code: "approval_denied" } })
    expect(closed.approver.questions).toEqual([])
    await using other = await open({ allow: ["example.com"], ask: false })
    expect(await other.call("git_push")).toMatchObject({
      error: { code: "command_failed", message: expect.stringContaining("403") }
    })
    await using refused = await open({ allow: [`project.test:${port}`] }, false)
    expect(await refused.call("git_push")).toMatchObject({ error: { code: "approval_denied" } })
    expect(git(join(remotes.root, "project.git"), "for-each-ref")).toBe("")
  })

  it.each([
    ["git_push", { remote: "--receive-pack=evil" }],
    ["git_push", { remote: "https://user:secret@example.com/x" }],
    ["git_push", { branch: "+main" }],
    ["git_push", { branch: "main:other" }],
    ["git_fetch", { remote: "ext::sh" }],
    ["git_fetch", { branch: "--upload-pack=evil" }],
    ["git_clone", { url: "file:///etc", directory: "x" }],
    ["git_clone", { url: "ssh://example.com/x", directory: "x" }]
  ])("refuse %s %j", async (tool, args) => {
    await using opened = await open({ allow: [`project.test:${port}`] })
    expect(await opened.call(tool, args)).toMatchObject({ ok: false, error: { code: "invalid_params" } })
  })

  it("speak no other protocol, whatever the repository's configuration says", async () => {
    git(workspace.root, "remote", "set-url", "origin", remotes.root)
    await using opened = await open({ allow: [`project.test:${port}`] })
    expect(await opened.call("git_fetch")).toMatchObject({ error: { message: expect.stringContaining("not allowed") } })
  })
})
