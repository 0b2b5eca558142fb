import { execFileSync } from "node:child_process"
import { readdirSync, rmSync } from "node:fs"
import { join } from "node:path"

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
let approver: ReturnType<typeof scriptedApprover>

const git = (...args: ReadonlyArray<string>): string =>
  execFileSync("git", [...args], { cwd: workspace.root, encoding: "utf8" })

beforeEach(async () => {
  workspace = temporaryWorkspace({ "a.txt": "one\ntwo\n", "odd name.txt": "x\n" })
  git("init", "--quiet", "--initial-branch=main")
  git("config", "user.name", "Ada")
  git("config", "user.email", "ada@example.org")
  git("add", "--all")
  git("commit", "--quiet", "--message", "first\n\nwith a body")
  approver = scriptedApprover()
  const machine = nodeWorkspace({ root: workspace.root, state: workspace.state })
  const services = noSandbox({}).pipe(
    Layer.provideMerge(Layer.mergeAll(nodeProcesses, fileJournal({ directory: workspace.state }), approver.layer)),
    Layer.provideMerge(machine)
  )
  host = await openHost(Host.layer({ dialect: haft, plugins: [use(gitTools)] }).pipe(Layer.provide(services)))
})
afterEach(async () => {
  await host.dispose()
  workspace.remove()
})

const call = async (tool: string, args: object = {}) => (await host.call(tool, args)).wire

describe("reading a repository", () => {
  it("tells the branch and every kind of change, in files of any name", async () => {
    expect(await call("git_status")).toEqual({ ok: true, result: { branch: "main", is_clean: true, files: [] } })
    workspace.put("new ü.txt", "x")
    workspace.put("a.txt", "changed\n")
    git("mv", "odd name.txt", "moved.txt")
    expect(await call("git_status")).toEqual({
      ok: true,
      result: {
        branch: "main",
        is_clean: false,
        files: [
          { path: "a.txt", staged: " ", unstaged: "M" },
          { path: "moved.txt", staged: "R", unstaged: " ", moved_from: "odd name.txt" },
          { path: "new ü.txt", staged: "?", unstaged: "?" }
        ]
      }
    })
  })

  it("shows differences, staged ones and those of some paths", async () => {
    workspace.put("a.txt", "one\n2\n")
    expect(await call("git_diff")).toMatchObject({ result: { diff: expect.stringContaining("-two\n+2\n") } })
    expect(await call("git_diff", { staged: true })).toEqual({ ok: true, result: { diff: "" } })
    expect(await call("git_diff", { paths: ["odd name.txt"] })).toEqual({ ok: true, result: { diff: "" } })
    expect(await call("git_diff", { against: "HEAD" })).toMatchObject({ ok: true })
    expect(approver.questions).toEqual([])
  })

  it("lists commits, and shows them and files of theirs", async () => {
    const id = git("rev-parse", "HEAD").trim()
    expect(await call("git_log")).toEqual({
      ok: true,
      result: {
        commits: [
          {
            id,
            author: "Ada",
            email: "ada@example.org",
            date: expect.any(String),
            subject: "first",
            body: "with a body"
          }
        ]
      }
    })
    expect(await call("git_show")).toMatchObject({ result: { content: expect.stringContaining("+two") } })
    expect(await call("git_show", { path: "a.txt" })).toEqual({ ok: true, result: { content: "one\ntwo\n" } })
  })

  it("says who wrote a line", async () => {
    const commit = git("rev-parse", "HEAD").trim()
    expect(await call("git_blame", { path: "a.txt", start_line: 2 })).toEqual({
      ok: true,
      result: { lines: [{ line: 2, commit, author: "Ada", text: "two" }] }
    })
  })

  it("runs no program that the repository names", async () => {
    git("config", "diff.external", "touch ran-external")
    git("config", "core.fsmonitor", "touch ran-monitor")
    workspace.put("a.txt", "changed\n")
    expect(await call("git_diff")).toMatchObject({ ok: true })
    expect(await call("git_status")).toMatchObject({ ok: true })
    expect([workspace.exists("ran-external"), workspace.exists("ran-monitor")]).toEqual([false, false])
  })

  it.each([
    ["git_log", { revision: "--output=x" }, "invalid_params"],
    ["git_log", { revision: "nowhere" }, "command_failed"],
    ["git_diff", { paths: ["../outside"] }, "path_outside_workspace"],
    ["git_blame", { path: "missing.txt" }, "command_failed"],
    ["git_branch", { name: "-d" }, "invalid_params"],
    ["git_commit", { message: "  " }, "invalid_params"]
  ])("refuses %s %o with %s", async (tool, args, code) => {
    expect(await call(tool, args)).toMatchObject({ ok: false, error: { code } })
  })

  it("runs no filter of the repository's, nor of one within it", async () => {
    const inner = (...args: ReadonlyArray<string>): string => git("-C", "inner", ...args)
    git("init", "--quiet", "inner")
    workspace.put("inner/b.txt", "one\n")
    inner("add", "--all")
    inner("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "--quiet", "--message", "inner")
    git("add", "--all")
    git("commit", "--quiet", "--message", "second")
    for (const [config, file] of [
      [git, "a.txt"],
      [inner, "inner/b.txt"]
    ] as const) {
      config("config", "filter.Odd.One.clean", `touch '${workspace.outside}/clean'; cat`)
      config("config", "filter.Odd.One.required", "true")
      config("config", "filter.two.process", `touch '${workspace.outside}/process'`)
      workspace.put(file, "changed\n")
    }
    workspace.put(".git/info/attributes", "a.txt filter=Odd.One\n")
    workspace.put("inner/.gitattributes", "*.txt filter=two\n")
    workspace.put(".gitattributes", "*.txt filter=two\n")
    expect(await call("git_status")).toMatchObject({ ok: true })
    expect(await call("git_diff")).toMatchObject({ ok: true, result: { diff: expect.stringContaining("+changed") } })
    expect(await call("git_diff", { against: "HEAD" })).toMatchObject({ ok: true })
    expect(await call("git_blame", { path: "a.txt" })).toMatchObject({ ok: true })
    expect(readdirSync(workspace.outside)).toEqual([])
  })

  it("checks no signature, and fetches nothing that is missing", async () => {
    const ran = join(workspace.outside, "ran")
    workspace.put("program", { text: `#!/bin/sh\ntouch '${ran}'\n`, mode: 0o755 })
    const program = join(workspace.root, "program")
    git("config", "gpg.program", program)
    git("config", "log.showSignature", "true")
    const signed = git("cat-file", "commit", "HEAD").replace(
      "\n\n",
      "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n\n"
    )
    workspace.put("signed", signed)
    const id = git("hash-object", "-t", "commit", "-w", "signed").trim()
    expect(await call("git_log", { revision: id })).toMatchObject({ ok: true, result: { commits: [{ id }] } })
    expect(await call("git_show", { revision: id })).toMatchObject({ ok: true })
    const blob = git("rev-parse", "HEAD:a.txt").trim()
    git("config", "remote.origin.url", workspace.root)
    git("config", "remote.origin.promisor", "true")
    git("config", "remote.origin.uploadpack", program)
    git("config", "protocol.file.allow", "always")
    git("config", "extensions.partialClone", "origin")
    git("config", "core.repositoryFormatVersion", "1")
    rmSync(join(workspace.root, ".git/objects", blob.slice(0, 2), blob.slice(2)), { force: true })
    expect(await call("git_show", { path: "a.txt" })).toMatchObject({ ok: false, error: { code: "command_failed" } })
    expect(readdirSync(workspace.outside)).toEqual([])
  })

  it("says so where there is no repository", async () => {
    git("rev-parse", "--git-dir")
    workspace.put("../outside/empty", "")
    execFileSync("rm", ["-rf", `${workspace.root}/.git`])
    expect(await call("git_status")).toMatchObject({
      error: { code: "command_failed", message: "this is not a git repository" }
    })
  })
})

describe("changing a repository", () => {
  it("stages, commits and branches, each with consent", async () => {
    workspace.put("b.txt", "new\n")
    expect(await call("git_branch", { name: "topic", from: "HEAD" })).toMatchObject({ result: { branch: "topic" } })
    expect(await call("git_add", { paths: ["b.txt"] })).toEqual({ ok: true, result: { staged: ["b.txt"] } })
    expect(await call("git_commit", { message: "second: it's 'quoted'" })).toEqual({
      ok: true,
      result: { commit: git("rev-parse", "HEAD").trim(), branch: "topic" }
    })
    expect(git("log", "-1", "--format=%s").trim()).toBe("second: it's 'quoted'")
    expect(approver.questions.map(({ facts }) => facts.runs)).toEqual([
      "git switch --quiet --create topic HEAD",
      "git add --all -- b.txt",
      String.raw`git commit --message 'second: it'\''s '\''quoted'\'''`
    ])
    expect(await call("git_branch", { name: "main" })).toMatchObject({ result: { branch: "main" } })
    expect(workspace.exists("b.txt")).toBe(false)
  })

  it("commits nothing when nothing is staged, and says so in git's words", async () => {
    expect(await call("git_commit", { message: "empty" })).toMatchObject({
      error: { code: "command_failed", message: expect.stringContaining("nothing to commit") }
    })
  })
})
