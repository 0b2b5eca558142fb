import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"

import { afterAll, describe, expect, it } from "@effect/vitest"
import { CurrentCall, Workspace, type WorkspaceService } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"

import { contentsOf, makeWorkspaces, outcome } from "../../../test/workspaces.ts"
import { nodeWorkspace, type NodeWorkspaceOptions } from "../workspace.ts"

const workspaces = makeWorkspaces("roots")
afterAll(workspaces.remove)

interface Roots {
  readonly app: string
  readonly lib: string
  readonly docs: string
  readonly options: NodeWorkspaceOptions
}

/** Two roots that can be written, and one that can't. */
const makeRoots = (): Roots => {
  const app = workspaces.make({ "a.txt": "a\n", "src/b.txt": "b\n" })
  const lib = workspaces.make({ "l.txt": "l\n", "in/m.txt": "m\n" })
  const docs = workspaces.make({ "d.txt": "d\n", ".git/config": "" })
  const roots = [
    { name: "app", path: app, access: "write" },
    { name: "lib", path: lib, access: "write" },
    { name: "docs", path: docs, access: "read" }
  ] as const
  return { app, lib, docs, options: { root: app, roots, state: `${app}.state` } }
}

const inRoots = <A, E>(
  { options }: Roots,
  use: (workspace: WorkspaceService) => Effect.Effect<A, E>,
  more: Partial<NodeWorkspaceOptions> = {}
): Promise<A> =>
  Workspace.use(use).pipe(
    Effect.provide(nodeWorkspace({ ...options, ...more }).pipe(Layer.provide(Logger.layer([])))),
    Effect.runPromise
  )

const asText = (bytes: Uint8Array): string => Buffer.from(bytes).toString()

describe.each(["descriptors", "paths"] as const)("named roots, contained by %s", (containment) => {
  const open = <A, E>(roots: Roots, use: (workspace: WorkspaceService) => Effect.Effect<A, E>) =>
    inRoots(roots, use, { containment })

  it("resolves paths by the name of a root, and absolute paths inside one", async () => {
    const roots = makeRoots()
    const landings = [
      [".", "."],
      ["app", "app"],
      ["app/a.txt", "app/a.txt"],
      ["./lib//in/../l.txt", "lib/l.txt"],
      ["app/../lib/l.txt", "lib/l.txt"],
      ["app/new/file", "app/new/file"],
      [join(roots.lib, "in/m.txt"), "lib/in/m.txt"],
      [roots.docs, "docs"],
      ["a.txt", "path_outside_workspace"],
      ["App/a.txt", "path_outside_workspace"],
      ["../app/a.txt", "path_outside_workspace"],
      [`${roots.app}.state/x`, "path_outside_workspace"],
      [`app/../../${basename(roots.app)}/a.txt`, "path_outside_workspace"]
    ] as const
    const found = await open(roots, ({ contain }) => Effect.forEach(landings, ([given]) => outcome(contain(given))))
    expect(found).toEqual(landings.map(([, landing]) => landing))
  })

  it("follows links from one root into another, and refuses those that lead out of all", async () => {
    const roots = makeRoots()
    symlinkSync(join(roots.lib, "l.txt"), join(roots.app, "absolute"))
    symlinkSync(`../${basename(roots.lib)}/in`, join(roots.app, "relative"))
    symlinkSync("../outside.txt", join(roots.app, "outside"))
    // By name it would be a root; on disk it is beside one.
    symlinkSync("../lib/l.txt", join(roots.app, "by-name"))
    const paths = ["app/absolute", "app/relative/m.txt", "app/outside", "app/by-name"]
    const found = await open(roots, ({ contain, read }) =>
      Effect.forEach(paths, (path) =>
        outcome(Effect.map(Effect.zip(contain(path), read(path)), ([to, bytes]) => [to, asText(bytes)]))
      )
    )
    const outside = "path_outside_workspace"
    expect(found).toEqual([["lib/l.txt", "l\n"], ["lib/in/m.txt", "m\n"], outside, outside])
  })

  it("lists, walks, finds and reads across the roots", async () => {
    const roots = makeRoots()
    const found = await open(roots, (workspace) =>
      Effect.gen(function* () {
        const walked: Array<string> = []
        yield* workspace.walk(".", ({ path }) => {
          walked.push(path)
          return path === "docs/.git" ? "skip" : "continue"
        })
        const contents: Array<string> = []
        yield* workspace.readEach(["app/a.txt", "lib/in/m.txt", "docs/d.txt"], (_, content) =>
          Boolean(contents.push(content instanceof Uint8Array ? asText(content) : content.code))
        )
        return {
          top: yield* workspace.list("."),
          app: (yield* workspace.list("app")).map(({ name }) => name),
          walked,
          globbed: (yield* workspace.glob(".", "**/*.txt")).paths,
          below: (yield* workspace.glob("lib", "**/m.txt")).paths,
          contents,
          info: (yield* workspace.info("lib")).kind
        }
      })
    )
    expect(found).toEqual({
      top: ["app", "docs", "lib"].map((name) => ({ name, kind: "directory" })),
      app: ["a.txt", "src"],
      walked: "app app/a.txt app/src app/src/b.txt docs docs/.git docs/d.txt lib lib/in lib/in/m.txt lib/l.txt".split(
        " "
      ),
      globbed: ["app/a.txt", "app/src/b.txt", "docs/d.txt", "lib/in/m.txt", "lib/l.txt"],
      below: ["in/m.txt"],
      contents: ["a\n", "m\n", "d\n"],
      info: "directory"
    })
  })

  it("commits changes of several roots as one, and undo takes them back", async () => {
    const roots = makeRoots()
    const before = [contentsOf(roots.app), contentsOf(roots.lib)]
    await open(roots, (workspace) =>
      Effect.gen(function* () {
        const plan = yield* workspace.plan
        yield* plan.write("app/a.txt", Buffer.from("A\n"))
        yield* plan.write("lib/new/n.txt", Buffer.from("n\n"), { createDirectories: true })
        yield* plan.move("app/src/b.txt", "lib/b.txt")
        yield* plan.remove("lib/in", { recursive: true })
        yield* plan.commit()
      })
    )
    expect([contentsOf(roots.app), contentsOf(roots.lib)]).toEqual([
      { "a.txt": "A\n", src: null },
      { "l.txt": "l\n", new: null, "new/n.txt": "n\n", "b.txt": "b\n" }
    ])
    const undone = await open(roots, (workspace) => Effect.map(workspace.undo(), ({ paths }) => paths.toSorted()))
    expect(undone).toEqual(
      ["app/a.txt", "app/src/b.txt", "lib/b.txt", "lib/in", "lib/in/m.txt", "lib/new", "lib/new/n.txt"].toSorted()
    )
    expect([contentsOf(roots.app), contentsOf(roots.lib)]).toEqual(before)
  })

  it("refuses every change in a root that can only be read, and changes nothing else", async () => {
    const roots = makeRoots()
    const changes = [
      { kind: "write", path: "docs/d.txt", content: Buffer.from("x") },
      { kind: "write", path: "docs/new/n.txt", content: Buffer.from("x"), createDirectories: true },
      { kind: "delete", path: "docs/d.txt" },
      { kind: "move", from: "docs/d.txt", to: "app/d.txt" },
      { kind: "move", from: "app/a.txt", to: "docs/a.txt" },
      { kind: "create_directory", path: "docs/n" },
      { kind: "set_mode", path: "docs/d.txt", mode: 0o755 },
      { kind: "symlink", path: "docs/link", target: "d.txt" }
    ] as const
    const codes = await open(roots, ({ commit }) =>
      Effect.forEach(changes, (change) =>
        outcome(commit([{ kind: "write", path: "app/a.txt", content: Buffer.from("changed") }, change]))
      )
    )
    expect(codes).toEqual(changes.map(() => "read_only_root"))
    expect(contentsOf(roots.docs)).toEqual({ "d.txt": "d\n", ".git": null, ".git/config": "" })
    expect(readFileSync(join(roots.app, "a.txt"), "utf8")).toBe("a\n")
  })

  it("refuses to delete or move a root, and to put anything beside them", async () => {
    const roots = makeRoots()
    const changes = [
      { kind: "delete", path: "lib", recursive: true },
      { kind: "delete", path: ".", recursive: true },
      { kind: "move", from: "lib", to: "app/lib" },
      { kind: "write", path: "other/x", content: Buffer.from("x"), createDirectories: true },
      { kind: "create_directory", path: "other" }
    ] as const
    const codes = await open(roots, ({ commit }) => Effect.forEach(changes, (change) => outcome(commit([change]))))
    expect(codes).toEqual(changes.map(() => "path_outside_workspace"))
    expect(existsSync(join(roots.lib, "l.txt"))).toBe(true)
  })
})

describe("named roots", () => {
  it("makes a commit over two roots whole or not at all, after the host died at any step", async () => {
    const program = join(import.meta.dirname, "../../../test/roots-child.ts")
    const endings: Array<string> = []
    for (let step = 1; endings.at(-1) !== "done" && step < 40; step++) {
      const roots = makeRoots()
      const args = ["--conditions=@haft/source", program, JSON.stringify(roots.options), String(step)]
      const ended = execFileSync(process.execPath, args, { encoding: "utf8" })
      await inRoots(roots, () => Effect.void)
      const now = [join(roots.app, "a.txt"), join(roots.lib, "l.txt")].map((path) => readFileSync(path, "utf8"))
      endings.push(ended || now.join(""))
    }
    const [before, after] = ["a\nl\n", "A\nL\n"]
    const decided = endings.indexOf(after)
    expect(decided).toBeGreaterThan(0)
    expect(endings).toEqual(
      endings.map((_, step) => (step < decided ? before : step === endings.length - 1 ? "done" : after))
    )
  }, 120_000)

  it("refuses a commit whose call was assessed for another root", async () => {
    const roots = makeRoots()
    const call = { ...Effect.runSync(CurrentCall), assessedWrites: ["app/a.txt"] }
    const codes = await inRoots(roots, ({ commit }) =>
      Effect.forEach(["app/a.txt", "lib/l.txt"], (path) =>
        outcome(Effect.asVoid(commit([{ kind: "write", path, content: Buffer.from("x") }])))
      ).pipe(Effect.provideService(CurrentCall, call))
    )
    expect(codes).toEqual([undefined, "stale_file"])
  })

  it("refuses roots with the same name, a wrong name, or one inside another", async () => {
    const roots = makeRoots()
    mkdirSync(join(roots.app, "below"))
    writeFileSync(join(roots.app, "below/x"), "")
    const wrong = [
      [
        { name: "app", path: roots.app },
        { name: "APP", path: roots.lib }
      ],
      [{ name: "a/b", path: roots.app }],
      [{ name: "..", path: roots.app }],
      [
        { name: "app", path: roots.app },
        { name: "below", path: join(roots.app, "below") }
      ]
    ].map((all) => all.map((one) => Object.assign({ access: "write" as const }, one)))
    for (const given of wrong) {
      const opening = inRoots(roots, () => Effect.void, { roots: given })
      await expect(opening).rejects.toMatchObject({ code: "invalid_params" })
    }
  })
})
