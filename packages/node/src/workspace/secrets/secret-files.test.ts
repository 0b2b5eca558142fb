import { execFileSync } from "node:child_process"
import { linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

import { afterAll, describe, expect, it } from "@effect/vitest"
import { isToolError, Workspace, type WorkspaceService } from "@haft/core"
import * as Effect from "effect/Effect"

import { nodeWorkspace } from "../workspace.ts"

const base = mkdtempSync(join(tmpdir(), "haft-secrets-"))
afterAll(() => rmSync(base, { recursive: true, force: true }))

let count = 0
const makeRoot = (files: Readonly<Record<string, string>>): string => {
  const root = join(base, `w${++count}`)
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  return root
}

const inWorkspace = <A, E>(
  root: string,
  use: (workspace: WorkspaceService) => Effect.Effect<A, E>,
  secretPaths: ReadonlyArray<string> = []
): Promise<A> =>
  Effect.runPromise(
    Workspace.use(use).pipe(Effect.provide(nodeWorkspace({ root, state: `${root}.state`, secretPaths })))
  )

/** The code of the failure, or "done". */
const outcome = (effect: Effect.Effect<unknown, unknown>): Effect.Effect<string> =>
  effect.pipe(
    Effect.as("done"),
    Effect.catch((error) => Effect.succeed(isToolError(error) ? error.code : String(error)))
  )

/** How each way to read a path ends. */
const readings = (workspace: WorkspaceService, path: string): Effect.Effect<ReadonlyArray<string>> =>
  Effect.gen(function* () {
    const ways = [
      workspace.read(path),
      workspace.snapshot(path),
      workspace.scan(path, () => true),
      Effect.flatMap(workspace.plan, (plan) => plan.file(path))
    ]
    const ends = yield* Effect.forEach(ways, outcome)
    let each = ""
    yield* workspace.readEach([path], (_, content) => {
      each = isToolError(content) ? content.code : "done"
      return true
    })
    return [...new Set([...ends, each])]
  })

const git = (root: string, ...args: ReadonlyArray<string>) =>
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...args], { cwd: root, stdio: "pipe" })

describe("secret files", () => {
  const root = makeRoot({
    ".env": "TOKEN=hunter2\n",
    ".env.example": "TOKEN=\n",
    "app/.ENV.local": "TOKEN=hunter2\n",
    ".ssh/config": "Host x\n",
    ".ssh/id_rsa": "key\n",
    "plain.txt": "plain\n"
  })
  symlinkSync(".env", join(root, "link"))
  symlinkSync("link", join(root, "link-to-link"))
  symlinkSync(".ssh", join(root, "linked-directory"))
  linkSync(join(root, ".env"), join(root, "hard-link.txt"))

  it.each([
    ".env",
    "./app/../.env",
    "app/.ENV.local",
    "link",
    "link-to-link",
    "linked-directory/config",
    "hard-link.txt",
    join(root, ".env")
  ])("can't be read as %s", async (path) => {
    expect(await inWorkspace(root, (workspace) => readings(workspace, path))).toEqual(["secret_path"])
  })

  it.each([".env.example", "plain.txt"])("are not %s", async (path) => {
    expect(await inWorkspace(root, (workspace) => readings(workspace, path))).toEqual(["done"])
  })

  it("are listed, described and found by name", async () => {
    const seen = await inWorkspace(root, (workspace) =>
      Effect.all([workspace.list(".ssh"), workspace.info(".env"), workspace.glob(".", "**/.env*")])
    )
    expect(seen[0].map(({ name }) => name)).toEqual(["config", "id_rsa"])
    expect(seen[1]).toMatchObject({ path: ".env", kind: "file", size: 14 })
    expect(seen[2].paths).toContain(".env")
  })

  it("have a fingerprint that tells nothing about their content", async () => {
    const fingerprints = await inWorkspace(root, (workspace) =>
      Effect.forEach([".env", "link", "hard-link.txt"], workspace.fingerprint)
    )
    for (const fingerprint of fingerprints) expect(fingerprint).toMatch(/^stat:/)
  })

  it("can't be overwritten, edited, given another mode, moved, or replaced by a move", async () => {
    const ends = await inWorkspace(root, (workspace) =>
      Effect.forEach(
        [
          workspace.commit([{ kind: "write", path: ".env", content: Buffer.from("x") }]),
          workspace.commit([{ kind: "write", path: "link", content: Buffer.from("x") }]),
          workspace.commit([{ kind: "move", from: ".env", to: "env.txt" }]),
          Effect.flatMap(workspace.plan, (plan) => plan.move("plain.txt", ".env", { overwrite: true })),
          Effect.flatMap(workspace.plan, (plan) => plan.setMode(".env", 0o600)),
          Effect.flatMap(workspace.plan, (plan) => plan.move("hard-link.txt", "h.txt"))
        ],
        outcome
      )
    )
    expect(new Set(ends)).toEqual(new Set(["secret_path"]))
    expect(readFileSync(join(root, ".env"), "utf8")).toBe("TOKEN=hunter2\n")
  })

  it("keep a directory from being moved to where they would no longer be secret", async () => {
    const ends = await inWorkspace(root, (workspace) =>
      Effect.gen(function* () {
        const plan = yield* workspace.plan
        return [yield* outcome(plan.move(".ssh", "keys")), yield* outcome(plan.move("app", "application"))]
      })
    )
    expect(ends).toEqual(["secret_path", "done"])
  })

  it("are created and deleted with their names alone in the diff, also in that of an undo", async () => {
    const other = makeRoot({ "old/.env": "TOKEN=hunter2\n", ".env.local": "TOKEN=hunter2\n" })
    const diffs = await inWorkspace(other, (workspace) =>
      Effect.gen(function* () {
        const plan = yield* workspace.plan
        yield* plan.write("new/.env", Buffer.from("TOKEN=hunter3\n"), { createDirectories: true })
        yield* plan.remove(".env.local")
        yield* plan.remove("old", { recursive: true })
        const diff = yield* plan.diff
        yield* plan.commit()
        const preview = yield* workspace.previewUndo()
        const undoDiff = yield* preview.diff
        yield* workspace.undo()
        return [diff, undoDiff]
      })
    )
    for (const diff of diffs) {
      expect(diff).toContain("new/.env")
      expect(diff).toContain(".env.local")
      expect(diff).not.toContain("hunter")
    }
    expect(readFileSync(join(other, "old/.env"), "utf8")).toBe("TOKEN=hunter2\n")
  })

  it("can be added to and excepted by globs", async () => {
    const other = makeRoot({ ".env": "a\n", "config/prod.yml": "b\n" })
    const ends = await inWorkspace(
      other,
      (workspace) => Effect.all([readings(workspace, ".env"), readings(workspace, "config/prod.yml")]),
      ["!.env", "/config/*.yml"]
    )
    expect(ends).toEqual([["done"], ["secret_path"]])
  })
})

describe("keys and settings of package managers", () => {
  const secret = ["secret_path"]
  const open = ["done"]
  const read = (root: string, path: string) => inWorkspace(root, (workspace) => readings(workspace, path))

  it.each(["2", "3", "4"])("are secret unless they are in a git index of version %s", async (version) => {
    const root = makeRoot({ "a/server.pem": "key\n", ".npmrc": "token\n", "new.pem": "key\n", "b.txt": "b\n" })
    git(root, "init", "--quiet")
    git(root, "add", "a/server.pem", ".npmrc", "b.txt")
    git(root, "update-index", "--index-version", version)
    expect(await read(root, "a/server.pem")).toEqual(open)
    expect(await read(root, ".npmrc")).toEqual(open)
    expect(await read(root, "new.pem")).toEqual(secret)
    git(root, "rm", "--quiet", "--cached", ".npmrc")
    expect(await read(root, ".npmrc")).toEqual(secret)
  })

  it("are found in the index of SHA-256 repositories, linked working trees and repositories around the root", async () => {
    const root = makeRoot({ "sub/a.pem": "key\n", "sub/b.pem": "key\n" })
    git(root, "init", "--quiet", "--object-format=sha256")
    git(root, "add", "sub/a.pem")
    git(root, "commit", "--quiet", "--message", "a")
    const tree = `${root}-tree`
    git(root, "worktree", "add", "--quiet", tree)
    writeFileSync(join(tree, "c.pem"), "key\n")
    expect(await read(join(root, "sub"), "a.pem")).toEqual(open)
    expect(await read(join(root, "sub"), "b.pem")).toEqual(secret)
    expect(await read(tree, "sub/a.pem")).toEqual(open)
    expect(await read(tree, "c.pem")).toEqual(secret)
  })

  it("are secret where the index can't be read", async () => {
    const root = makeRoot({ "a.pem": "key\n" })
    git(root, "init", "--quiet")
    git(root, "add", "a.pem")
    const index = join(root, ".git/index")
    const whole = readFileSync(index)
    for (const broken of [whole.subarray(0, 40), Buffer.from("DIRC"), Buffer.alloc(0), Buffer.alloc(200, 1)]) {
      writeFileSync(index, broken)
      expect(await read(root, "a.pem")).toEqual(secret)
    }
    rmSync(join(root, ".git"), { recursive: true })
    writeFileSync(join(root, ".git"), "not a pointer")
    expect(await read(root, "a.pem")).toEqual(secret)
  })
})
