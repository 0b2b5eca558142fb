import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { afterAll, beforeEach, describe, expect, it } from "@effect/vitest"
import { CurrentCall, isToolError, type SymlinkPolicy, Workspace, type WorkspaceService } from "@haft/core"
import * as Effect from "effect/Effect"

import { openIn } from "../../../test/workspaces.ts"
import { nodeWorkspace } from "../workspace.ts"
import { techniques } from "./handles.ts"

const base = mkdtempSync(join(tmpdir(), "haft-kept-"))
afterAll(() => rmSync(base, { recursive: true, force: true }))

const turn = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))

const containments =
  process.platform === "linux" ? (Object.keys(techniques) as Array<keyof typeof techniques>) : (["paths"] as const)

describe.each(containments)("a path that a call has contained, with %s,", (containment) => {
  let root: string
  beforeEach(() => {
    root = mkdtempSync(join(base, "root-"))
    mkdirSync(join(root, "in"))
    writeFileSync(join(root, "in", "a.txt"), "before")
    writeFileSync(join(root, "b.txt"), "other")
    symlinkSync("in/a.txt", join(root, "link"))
  })

  const inCalls = <A, E>(
    use: (
      workspace: WorkspaceService,
      as: (symlinks?: SymlinkPolicy) => <B, F>(effect: Effect.Effect<B, F>) => Effect.Effect<B, F>
    ) => Effect.Effect<A, E>
  ): Promise<A> =>
    Effect.runPromise(
      Effect.gen(function* () {
        const workspace = yield* Workspace
        const outer = yield* CurrentCall
        return yield* use(workspace, (symlinks = "inside") =>
          Effect.provideService(CurrentCall, { ...outer, run: "run", symlinks })
        )
      }).pipe(Effect.provide(nodeWorkspace({ root, state: `${root}.state`, containment })))
    )
  const textOf = (workspace: WorkspaceService, path: string) =>
    workspace.read(path).pipe(
      Effect.map((content) => Buffer.from(content).toString()),
      Effect.catch((error) => Effect.succeed<string>(isToolError(error) ? error.code : String(error)))
    )
  const readAfter = (path: string, change: () => void) =>
    inCalls((workspace, as) =>
      Effect.gen(function* () {
        yield* workspace.contain(path)
        change()
        return [yield* textOf(workspace, path), (yield* workspace.snapshot("b.txt")).info.size]
      }).pipe(as())
    )

  it("is read as it is now: grown, cut, replaced, removed or made since then", async () => {
    const file = join(root, "in", "a.txt")
    expect(await readAfter("in/a.txt", () => appendFileSync(file, " and after"))).toEqual(["before and after", 5])
    expect(await readAfter("in/a.txt", () => writeFileSync(file, ""))).toEqual(["", 5])
    const replace = () => {
      writeFileSync(`${file}.new`, "replaced")
      renameSync(`${file}.new`, file)
    }
    expect(await readAfter("link", replace)).toEqual(["replaced", 5])
    expect(await readAfter("in/a.txt", () => rmSync(file))).toEqual(["file_not_found", 5])
    expect(await readAfter("in/a.txt", () => writeFileSync(file, "made"))).toEqual(["made", 5])
  })

  it("leads nowhere else when it becomes a link, if it was held", async () => {
    const becomeLink = () => {
      rmSync(join(root, "in", "a.txt"))
      symlinkSync("../b.txt", join(root, "in", "a.txt"))
    }
    const text = containment === "descriptors" ? "not_a_regular_file" : "other"
    expect(await readAfter("in/a.txt", becomeLink)).toEqual([text, 5])
  })

  it("is nothing to other calls, other link policies and other ways to say it", async () => {
    const texts = await inCalls((workspace, as) =>
      Effect.gen(function* () {
        yield* as()(workspace.contain("link"))
        return [
          yield* as("deny")(textOf(workspace, "link")),
          yield* as()(textOf(workspace, "./link")),
          (yield* as()(workspace.info("link", { follow: false }))).kind
        ]
      })
    )
    expect(texts).toEqual(["symlink_blocked", "before", "symlink"])
  })

  it("is released at the end of the event loop turn, when other paths are contained and when the workspace is closed", async () => {
    await inCalls((workspace, as) =>
      Effect.gen(function* () {
        const calls = Array.from({ length: 64 }, () => as())
        for (const inCall of calls) {
          yield* inCall(workspace.contain("b.txt"))
          yield* inCall(Effect.ignore(workspace.contain("../outside")))
          yield* inCall(workspace.contain("b.txt"))
        }
        expect(openIn(root)).toBeLessThanOrEqual(2)
        for (const inCall of calls) expect(yield* inCall(textOf(workspace, "b.txt"))).toBe("other")
        yield* turn
        expect(openIn(root)).toBe(0)
        yield* as()(workspace.contain("b.txt"))
      })
    )
    await Effect.runPromise(turn)
    expect(openIn(root)).toBe(0)
  })
})
