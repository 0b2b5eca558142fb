import { execFileSync } from "node:child_process"

import { afterEach, beforeEach, describe, expect, it } from "@effect/vitest"
import { Host, use } from "@haft/core"
import { openHost, type OpenHost } from "@haft/core/promise"
import { haft } from "@haft/dialects"
import { fileJournal, nodeProcesses, nodeWorkspace, noSandbox } from "@haft/node"
import { scriptedApprover, temporaryWorkspace, type TemporaryWorkspace } from "@haft/testing"
import * as Layer from "effect/Layer"

import { gitTools } from "./index.ts"

let workspace: TemporaryWorkspace
let host: OpenHost

const git = (...args: ReadonlyArray<string>): string =>
  execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=a@b.c", ...args], {
    cwd: workspace.root,
    encoding: "utf8"
  }).trim()

const open = async (directory = ""): Promise<OpenHost> => {
  const machine = nodeWorkspace({ root: `${workspace.root}${directory}`, state: workspace.state })
  const services = noSandbox({}).pipe(
    Layer.provideMerge(
      Layer.mergeAll(nodeProcesses, fileJournal({ directory: workspace.state }), scriptedApprover().layer)
    ),
    Layer.provideMerge(machine)
  )
  return openHost(Host.layer({ dialect: haft, plugins: [use(gitTools)] }).pipe(Layer.provide(services)))
}

// A repository that has a secret file in its history, in its index and on the disk.
beforeEach(async () => {
  workspace = temporaryWorkspace({ ".env": "TOKEN=hunter2\n", "app/.env": "TOKEN=hunter2\n", "app/a*.txt": "one\n" })
  git("init", "--quiet", "--initial-branch=main")
  git("add", "--all")
  git("commit", "--quiet", "--message", "first")
  workspace.put(".env", "TOKEN=hunter2\nMORE=hunter2\n")
  workspace.put("app/.env", "TOKEN=hunter22\n")
  workspace.put("app/a*.txt", "two\n")
  host = await open()
})
afterEach(async () => {
  await host.dispose()
  workspace.remove()
})

const call = async (tool: string, args: object) => {
  const reply = await host.call(tool, args)
  expect(JSON.stringify(reply)).not.toContain("hunter2")
  return reply
}

describe("secret files that git has", () => {
  it.each<readonly [string, object]>([
    ["git_diff", {}],
    ["git_diff", { against: "HEAD" }],
    ["git_show", { revision: "HEAD^!" }],
    ["git_diff", { paths: ["."] }],
    ["git_show", {}]
  ])("are left out of %s %j, and named", async (tool, args) => {
    const reply = await call(tool, args)
    expect(reply.output).toMatchObject({ secret_files: [".env", "app/.env"] })
    expect(reply.text).toContain("app/a*.txt")
    expect(reply.text).toContain("[Left out, because they are secret files: .env, app/.env]")
  })

  it("are left out of staged and moved ones, too", async () => {
    git("mv", "-f", "app/.env", "app/.env.local")
    git("add", "--all")
    const { output } = await call("git_diff", { staged: true })
    expect(output).toMatchObject({ secret_files: [".env", "app/.env", "app/.env.local"] })
  })

  it.each<readonly [string, object]>([
    ["git_show", { path: ".env" }],
    ["git_show", { path: "./app/../.env" }],
    ["git_show", { path: "app/.env", revision: "main" }],
    ["git_show", { path: ".ENV" }],
    ["git_blame", { path: ".env" }],
    ["git_blame", { path: "./app/.env" }]
  ])("are refused by %s %j", async (tool, args) => {
    expect((await call(tool, args)).error?.code).toBe("secret_path")
  })

  it.each(["HEAD:.env", ":.env", ":0:.env", "main:app/.env", "BLOB"])(
    "are not shown as the object %s",
    async (name) => {
      const revision = name === "BLOB" ? git("rev-parse", "HEAD:.env") : name
      expect((await call("git_show", { revision })).error?.code).toBe("invalid_params")
      expect((await call("git_diff", { against: revision, paths: ["app/a*.txt"] })).error?.code).toBe("invalid_params")
      expect((await call("git_diff", { against: `HEAD..${revision}` })).error?.code).toBe("invalid_params")
    }
  )

  it("are known in a workspace that is a part of the repository", async () => {
    await host.dispose()
    host = await open("/app")
    expect((await call("git_diff", {})).output).toMatchObject({ secret_files: [".env", "app/.env"] })
    expect((await call("git_show", { path: "app/.env" })).error?.code).toBe("secret_path")
    expect((await call("git_show", { path: "./.env" })).error?.code).toBe("secret_path")
    expect((await call("git_blame", { path: ".env" })).error?.code).toBe("secret_path")
  })
})
