import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { Workspace } from "@haft/core"
import { temporaryWorkspace } from "@haft/testing"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"

import { nodeWorkspace } from "../workspace/workspace.ts"
import { gitConfigProblem } from "./git-config.ts"
import { controlFileGuard } from "./guard.ts"

describe.runIf(process.platform === "linux")("the guard of control files", () => {
  it("accepts what a file tool wrote while a command runs, and puts back what the command changed", async () => {
    using workspace = temporaryWorkspace({ "deep/.npmrc": "before", ".envrc": "mine" })
    const { root, state } = workspace
    const conversation = Effect.gen(function* () {
      const guard = yield* controlFileGuard(root, state)
      const files = yield* Workspace
      yield* guard.refresh
      guard.begin()
      yield* guard.refresh
      yield* files.commit([{ kind: "write", path: ".envrc", content: Buffer.from("approved") }])
      writeFileSync(join(root, "deep/.npmrc"), "evil")
      const changes = yield* guard.end
      yield* guard.refresh
      guard.begin()
      return [changes, yield* guard.end]
    })
    const [changes, later] = await Effect.runPromise(
      Effect.scoped(conversation).pipe(Effect.provide(nodeWorkspace({ root, state })))
    )
    expect(changes).toEqual([
      { path: "deep/.npmrc", reason: "npm runs or trusts it", quarantine: expect.stringContaining(state) }
    ])
    expect(later).toEqual([])
    expect([workspace.read(".envrc"), workspace.read("deep/.npmrc")]).toEqual(["approved", "before"])
    expect(readFileSync(changes?.[0]?.quarantine ?? "", "utf8")).toBe("evil")
  })

  it("accepts what people change between commands", async () => {
    using workspace = temporaryWorkspace()
    const conversation = Effect.gen(function* () {
      const guard = yield* controlFileGuard(workspace.root, workspace.state)
      for (const content of ["one", "two"]) {
        workspace.put(".envrc", content)
        yield* guard.refresh
        guard.begin()
        expect(yield* guard.end).toEqual([])
      }
    })
    await Effect.runPromise(Effect.scoped(conversation))
    expect(workspace.read(".envrc")).toBe("two")
  })
})

describe("git's configuration", () => {
  it.each([
    "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n",
    '[remote "origin"]\n\turl = https://example.com/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n',
    '[remote "o"]\n\turl = git@example.com:a/b.git\n[branch "main"]\n\tremote = o\n\tmerge = refs/heads/main\n',
    "# nothing\n; at all\n[user] name = A B\n"
  ])("stays as git itself writes it: %j", (text) => {
    expect(gitConfigProblem(text, undefined)).toBe(undefined)
  })

  it.each([
    "[core]\n\thooksPath = evil\n",
    "[CORE] FSMONITOR = evil\n",
    "[core]\n\teditor = evil\n",
    "[include]\n\tpath = evil\n",
    '[includeIf "gitdir:/"]\n\tpath = evil\n',
    '[filter "x"]\n\tclean = evil\n',
    '[diff "x"]\n\ttextconv = evil\n',
    "[alias]\n\tst = !evil\n",
    '[url "ext::evil"]\n\tinsteadOf = https://\n',
    '[remote "o"]\n\turl = ext::evil\n',
    '[remote "o"]\n\turl = --upload-pack=evil\n',
    '[remote "o"]\n\tuploadpack = evil\n',
    "[credential]\n\thelper = !evil\n",
    "[core]\n\tbare = fal\\\nse\n",
    "fsmonitor = evil\n",
    "\uFEFF[core]\n\tfsmonitor = evil\n",
    "[core.x]\n\tfsmonitor = evil\n",
    "[core]\n\tworktree = /etc\n"
  ])("does not stay where it could run something: %j", (text) => {
    expect(gitConfigProblem(text, undefined)).toBeDefined()
  })

  it("keeps settings that were there before", () => {
    const before = "[alias]\n\tst = !mine\n"
    expect(gitConfigProblem(`${before}[user]\n\tname = a\n`, before)).toBe(undefined)
    expect(gitConfigProblem("[alias]\n\tst = !other\n", before)).toBeDefined()
  })
})
