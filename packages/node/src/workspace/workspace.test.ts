import { execFileSync } from "node:child_process"
import { chmodSync, linkSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { afterAll, describe, expect, it } from "@effect/vitest"
import { CurrentCall, isToolError, type SymlinkPolicy, Workspace, type WorkspaceService } from "@haft/core"
import * as Effect from "effect/Effect"

import { openIn } from "../../test/workspaces.ts"
import { nodeWorkspace } from "./workspace.ts"

const base = mkdtempSync(join(tmpdir(), "haft-workspace-"))
afterAll(() => rmSync(base, { recursive: true, force: true }))

let count = 0
/** A workspace with files, links (`"link -> target"`) and whatever `prepare` adds. */
const makeRoot = (files: Readonly<Record<string, string>>, prepare: (root: string) => void = () => {}): string => {
  const root = join(base, `w${++count}`)
  mkdirSync(root)
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(root, path, ".."), { recursive: true })
    if (content.startsWith("-> ")) symlinkSync(content.slice(3), join(root, path))
    else writeFileSync(join(root, path), content)
  }
  prepare(root)
  return root
}

const inWorkspace = <A, E>(
  root: string,
  use: (workspace: WorkspaceService) => Effect.Effect<A, E>,
  symlinks: SymlinkPolicy = "inside"
): Promise<A> =>
  Effect.runPromise(
    Effect.gen(function* () {
      const workspace = yield* Workspace
      const call = yield* CurrentCall
      return yield* use(workspace).pipe(Effect.provideService(CurrentCall, { ...call, symlinks }))
    }).pipe(Effect.provide(nodeWorkspace({ root, state: `${root}.state` })))
  )

/** The code of the failure, or what came out when there was none. */
const outcome = <A>(effect: Effect.Effect<A, unknown>): Effect.Effect<A | string> =>
  effect.pipe(Effect.catch((error) => Effect.succeed(isToolError(error) ? error.code : String(error))))

/** How many are open; where nobody can tell, none. */
const contained = (root: string, path: string, symlinks?: SymlinkPolicy) =>
  inWorkspace(root, (workspace) => outcome(workspace.contain(path)), symlinks)

describe("contain", () => {
  const root = makeRoot({
    "src/a.txt": "a",
    "in.txt": "-> src/a.txt",
    up: "-> src/../src",
    out: "-> ../",
    "out.txt": "-> /etc/passwd",
    loop: "-> loop",
    dangling: "-> src/later.txt",
    "src/back": "-> ../src/a.txt"
  })
  symlinkSync(join(root, "src", "a.txt"), join(root, "absolute"))

  it.each([
    [".", "."],
    ["", "."],
    ["src/a.txt", "src/a.txt"],
    ["./src//a.txt", "src/a.txt"],
    ["src/../src/a.txt", "src/a.txt"],
    ["missing/../src/a.txt", "src/a.txt"],
    ["new/deep/file.txt", "new/deep/file.txt"],
    ["src/a.txt/below", "src/a.txt/below"],
    [root, "."],
    [join(root, "src"), "src"],
    [`../${root.split("/").at(-1)}/src`, "src"],
    ["in.txt", "src/a.txt"],
    ["up/a.txt", "src/a.txt"],
    ["absolute", "src/a.txt"],
    ["dangling", "src/later.txt"],
    ["src/back", "src/a.txt"],
    ["a\\b.txt", "a\\b.txt"],
    ["..", "path_outside_workspace"],
    ["../other", "path_outside_workspace"],
    ["src/../../x", "path_outside_workspace"],
    ["/etc/passwd", "path_outside_workspace"],
    [`${root}-beside/x`, "path_outside_workspace"],
    ["out", "path_outside_workspace"],
    ["out/x", "path_outside_workspace"],
    ["out.txt", "path_outside_workspace"],
    ["loop", "symlink_blocked"],
    ["loop/x", "symlink_blocked"],
    ["C:\\Windows\\system.ini", "path_outside_workspace"],
    ["C:/Windows/system.ini", "path_outside_workspace"],
    ["\\\\server\\share\\x", "path_outside_workspace"],
    ["..\\..\\etc\\passwd", "path_outside_workspace"],
    ["src\\..\\..\\x", "path_outside_workspace"],
    ["src\\..", "path_outside_workspace"],
    ["a\0b", "invalid_params"],
    ["n".repeat(256), "invalid_params"],
    ["é".repeat(128), "invalid_params"],
    ["d/".repeat(3000), "invalid_params"]
  ])("%j lands at %s", async (path, expected) => {
    expect(await contained(root, path)).toBe(expected)
  })

  it.each([
    ["src/a.txt", "src/a.txt"],
    ["in.txt", "symlink_blocked"],
    ["up/a.txt", "symlink_blocked"],
    ["out/x", "symlink_blocked"],
    ["new.txt", "new.txt"]
  ])("under the policy deny %j lands at %s", async (path, expected) => {
    expect(await contained(root, path, "deny")).toBe(expected)
  })

  it("names the path as it was given", async () => {
    const error = await inWorkspace(root, (workspace) => Effect.flip(workspace.contain("src/../../x")))
    expect({ message: error.message, details: error.details }).toEqual({
      message: "src/../../x is outside the workspace",
      details: { path: "src/../../x" }
    })
  })

  it("accepts absolute paths through the link that the host named the workspace by", async () => {
    const alias = `${root}-alias`
    symlinkSync(root, alias)
    expect(await contained(alias, join(alias, "src/a.txt"))).toBe("src/a.txt")
    expect(await contained(alias, join(root, "src/a.txt"))).toBe("src/a.txt")
  })
})

describe("looking and reading", () => {
  const root = makeRoot(
    { "a.txt": "hello", "d/b.txt": "b", "d/c/e.txt": "e", link: "-> a.txt", "d.txt": "", "d-e": "" },
    (root) => {
      execFileSync("mkfifo", [join(root, "pipe")])
      chmodSync(join(root, "a.txt"), 0o755)
      linkSync(join(root, "a.txt"), join(root, "hard"))
    }
  )

  it("describes what is there, through a link and the link itself", async () => {
    const [file, through, link, directory] = await inWorkspace(root, (workspace) =>
      Effect.all([
        workspace.info("a.txt"),
        workspace.info("link"),
        workspace.info("link", { follow: false }),
        workspace.info(".")
      ])
    )
    expect(file).toMatchObject({ path: "a.txt", kind: "file", size: 5, mode: 0o755 })
    expect(through).toEqual(file)
    expect(link).toMatchObject({ path: "link", kind: "symlink" })
    expect(directory).toMatchObject({ path: ".", kind: "directory" })
  })

  it("reads regular files and refuses the rest without opening it", async () => {
    const read = (path: string, options?: { maxBytes: number }) =>
      inWorkspace(root, (workspace) =>
        outcome(Effect.map(workspace.read(path, options), (bytes) => Buffer.from(bytes).toString()))
      )
    expect(await read("a.txt")).toBe("hello")
    expect(await read("link")).toBe("hello")
    expect(await read("d.txt")).toBe("")
    expect(await read("d")).toBe("is_directory")
    expect(await read("pipe")).toBe("not_a_regular_file")
    expect(await read("none")).toBe("file_not_found")
    expect(await read("a.txt/below")).toBe("file_not_found")
    expect(await read("a.txt", { maxBytes: 4 })).toBe("file_too_large")
    expect(await read("a.txt", { maxBytes: 5 })).toBe("hello")
  })

  it("reads many files one after the other, however far apart and deep they are", async () => {
    const deep = `${"d/".repeat(300)}bottom`
    const wide = Array.from({ length: 200 }, (_, index) => `w/${index % 100}/${index}/f`)
    const inner = { inside: "-> w/0", out: "-> /etc", "0": "-> none" }
    const files = Object.fromEntries([...wide, deep].map((path) => [path, path.repeat(path === deep ? 300 : 1)]))
    const near = makeRoot({ ...files, ...inner }, (root) => execFileSync("mkfifo", [join(root, "w/0/pipe")]))
    const readAll = (paths: ReadonlyArray<string>, enough = Infinity, symlinks?: SymlinkPolicy) => {
      const seen: Array<string> = []
      return inWorkspace(
        near,
        ({ readEach }) =>
          readEach(paths, (_path, content) => {
            seen.push(isToolError(content) ? content.code : Buffer.from(content).toString())
            return seen.length < enough
          }),
        symlinks
      ).then(() => seen)
    }
    const mixed = [...wide, deep, ...wide.toReversed(), deep]
    expect(await readAll(mixed)).toEqual(mixed.map((path) => files[path]))
    expect(await readAll(mixed, 5)).toEqual(wide.slice(0, 5))
    const odd = [
      "inside/0/f",
      "out/passwd",
      "w/0/pipe",
      "w/0/none/f",
      "w/0/0/f/below",
      "0/f",
      "w/1/../0/0/f",
      "w/0/0/f"
    ]
    expect(await readAll(odd)).toEqual([
      "w/0/0/f",
      "path_outside_workspace",
      "not_a_regular_file",
      "file_not_found",
      "file_not_found",
      "file_not_found",
      "w/0/0/f",
      "w/0/0/f"
    ])
    expect(await readAll(odd.slice(0, 2), 2, "deny")).toEqual(["symlink_blocked", "symlink_blocked"])
    const failing = inWorkspace(near, ({ readEach }) =>
      readEach([deep], () => {
        throw new Error("of the visitor")
      })
    )
    await expect(failing).rejects.toThrow("of the visitor")
    expect(openIn(near)).toBe(0)
  })

  it("names the workspace where an empty path was given", async () => {
    const error = await inWorkspace(root, (workspace) => Effect.flip(workspace.read("")))
    expect(error).toMatchObject({ code: "is_directory", message: "the workspace itself is a directory" })
  })

  it("scans what is read in one go and what is read in chunks alike, and leaves nothing open", async () => {
    const sizes = [0, 1, 256 * 1024 - 1, 256 * 1024, 256 * 1024 + 1, 600_000]
    const root = makeRoot(Object.fromEntries(sizes.map((size) => [`f${size}`, "é\n".repeat(size).slice(0, size)])))
    const seen = await inWorkspace(root, (workspace) =>
      Effect.forEach(
        sizes,
        Effect.fnUntraced(function* (size) {
          const chunks: Array<Buffer> = []
          const keep = (chunk: Uint8Array): boolean => chunks.push(Buffer.from(chunk)) > 0
          const info = yield* workspace.scan(`f${size}`, keep, { fingerprintUpTo: 1_000_000 })
          const stopped = yield* workspace.scan(`f${size}`, () => false, { fingerprintUpTo: 1_000_000 })
          const { content, fingerprint } = yield* workspace.snapshot(`f${size}`)
          return [
            Buffer.concat(chunks).equals(content),
            info.fingerprint === fingerprint,
            size === 0 || stopped.fingerprint === undefined,
            openIn(root)
          ]
        })
      )
    )
    expect(seen).toEqual(sizes.map(() => [true, true, true, 0]))
  })

  it("hands a file over in chunks until the visitor has enough", async () => {
    const big = makeRoot({ big: "x".repeat(1_000_000) })
    let seen = 0
    const info = await inWorkspace(big, (workspace) =>
      workspace.scan("big", (chunk) => {
        seen += chunk.length
        return seen < 300_000
      })
    )
    expect(info).toMatchObject({ path: "big", size: 1_000_000 })
    expect(seen).toBeGreaterThanOrEqual(300_000)
    expect(seen).toBeLessThan(1_000_000)
  })

  it("lists names in order of code units, with their kinds", async () => {
    expect(await inWorkspace(root, (workspace) => workspace.list("."))).toEqual([
      { name: "a.txt", kind: "file" },
      { name: "d", kind: "directory" },
      { name: "d-e", kind: "file" },
      { name: "d.txt", kind: "file" },
      { name: "hard", kind: "file" },
      { name: "link", kind: "symlink" },
      { name: "pipe", kind: "other" }
    ])
    expect(await inWorkspace(root, (workspace) => outcome(workspace.list("a.txt")))).toBe("not_a_directory")
    expect(await inWorkspace(root, (workspace) => outcome(workspace.list("none")))).toBe("file_not_found")
  })

  it("walks in the order of the paths, passes over and stops when told to", async () => {
    const walk = (decide: (path: string) => "continue" | "skip" | "stop") => {
      const paths: Array<string> = []
      return inWorkspace(root, (workspace) =>
        workspace.walk(".", ({ path, depth }) => {
          paths.push(`${path} ${depth}`)
          return decide(path)
        })
      ).then(() => paths)
    }
    const all = [
      "a.txt 0",
      "d 0",
      "d-e 0",
      "d.txt 0",
      "d/b.txt 1",
      "d/c 1",
      "d/c/e.txt 2",
      "hard 0",
      "link 0",
      "pipe 0"
    ]
    expect(await walk(() => "continue")).toEqual(all)
    expect(await walk((path) => (path === "d" ? "skip" : "continue"))).toEqual(
      all.filter((one) => !one.startsWith("d/"))
    )
    expect(await walk((path) => (path === "d/b.txt" ? "stop" : "continue"))).toEqual(all.slice(0, 5))
  })

  it("walks trees that are deeper than the descriptors it keeps", async () => {
    const deep = makeRoot({})
    let path = deep
    for (let level = 0; level < 300; level++) mkdirSync((path = join(path, "d")))
    writeFileSync(join(path, "bottom"), "")
    let last = ""
    await inWorkspace(deep, (workspace) => workspace.walk(".", (entry) => ((last = entry.path), "continue")))
    expect(last).toBe(`${"d/".repeat(300)}bottom`)
  })

  it("tells states apart by content", async () => {
    const print = (path: string) => inWorkspace(root, (workspace) => workspace.fingerprint(path))
    expect(await print("a.txt")).toBe("sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")
    expect(await print("link")).toBe(await print("a.txt"))
    expect(await print("d")).toBe("directory")
    expect(await print("none")).toBe("absent")
    expect(await print("none/deeper")).toBe("absent")
  })

  it.runIf(process.platform === "linux")("leaves no descriptor open, whatever happens", async () => {
    await inWorkspace(
      root,
      Effect.fnUntraced(function* (workspace) {
        for (let round = 0; round < 300; round++) {
          for (const path of ["a.txt", "link", "d/c/e.txt", "d", "pipe", "none/x", "../x", "a.txt/b", "."]) {
            yield* outcome(workspace.contain(path))
            yield* outcome(workspace.info(path, { follow: false }))
            yield* outcome(workspace.read(path, { maxBytes: 3 }))
            yield* workspace.readEach([path, "d/c/e.txt"], (_path, content) => content instanceof Uint8Array)
            yield* outcome(workspace.scan(path, () => false))
            yield* outcome(workspace.list(path))
            yield* outcome(workspace.walk(path, () => "stop"))
            yield* outcome(workspace.fingerprint(path))
          }
        }
        // Directories are held for a second.
        yield* Effect.promise(async () => {
          await expect.poll(() => openIn(root)).toBe(0)
        })
      })
    )
  })
})

describe("opening", () => {
  const openAt = (root: string, state: string) =>
    Effect.runPromise(
      outcome(Workspace.use(({ root }) => Effect.succeed(root)).pipe(Effect.provide(nodeWorkspace({ root, state }))))
    )

  it("refuses a state directory inside the workspace, also through a link", async () => {
    const root = makeRoot({ "a.txt": "" })
    symlinkSync(root, `${root}-link`)
    expect(await openAt(root, join(root, ".haft"))).toBe("invalid_params")
    expect(await openAt(root, join(`${root}-link`, "state"))).toBe("invalid_params")
    expect(await openAt(root, root)).toBe("invalid_params")
    expect(readdirSync(root)).toEqual(["a.txt"])
  })

  it("says what is wrong with a root that can't be opened", async () => {
    const root = makeRoot({ "a.txt": "" })
    expect(await openAt(join(root, "none"), `${root}.state`)).toBe("file_not_found")
    expect(await openAt(join(root, "a.txt"), `${root}.state`)).toBe("not_a_directory")
  })
})
