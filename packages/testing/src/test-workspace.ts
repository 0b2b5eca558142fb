import assert from "node:assert/strict"

import {
  type Change,
  CurrentCall,
  isToolError,
  planChanges,
  type ToolError,
  Workspace,
  type WorkspaceService
} from "@haft/core"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"

/** A workspace to be tested. */
export interface WorkspaceUnderTest {
  /** A new workspace with these files. A content that begins with `-> ` stands for a link to the path that follows. */
  readonly workspace: (files: Readonly<Record<string, string>>) => Layer.Layer<Workspace, unknown>
  /** Capabilities beyond files: empty directories, symbolic links, undo. */
  readonly knows: ReadonlyArray<"directories" | "links" | "history">
  /** The test runner's own function. */
  readonly it: (title: string, test: () => Promise<void>) => void
}

/** Defines all tests for a Workspace, with the test runner's own function. */
export const testWorkspace = (subject: WorkspaceUnderTest): void => {
  const check: Check = (title, files, test) =>
    subject.it(title, () => Effect.runPromise(Workspace.use(test).pipe(Effect.provide(subject.workspace(files)))))
  paths(check)
  looking(check)
  writing(check)
  if (subject.knows.includes("directories")) directories(check)
  if (subject.knows.includes("links")) links(check)
  if (subject.knows.includes("history")) history(check)
}

type Check = (
  title: string,
  files: Readonly<Record<string, string>>,
  test: (workspace: WorkspaceService) => Effect.Effect<void, unknown>
) => void

const paths = (check: Check): void => {
  check("paths land inside, or are refused", { "src/a.txt": "a" }, ({ contain }) =>
    Effect.gen(function* () {
      const landings: ReadonlyArray<readonly [string, string]> = [
        [".", "."],
        ["", "."],
        ["src/a.txt", "src/a.txt"],
        ["./src//a.txt", "src/a.txt"],
        ["src/../src/a.txt", "src/a.txt"],
        ["not/there/yet", "not/there/yet"],
        ["..", "path_outside_workspace"],
        ["../x", "path_outside_workspace"],
        ["src/../../x", "path_outside_workspace"],
        ["/etc/passwd", "path_outside_workspace"],
        ["C:\\Windows\\x", "path_outside_workspace"],
        ["..\\x", "path_outside_workspace"],
        ["\\\\server\\share", "path_outside_workspace"],
        ["a\0b", "invalid_params"],
        ["a\udc69b", "invalid_params"]
      ]
      for (const [path, expected] of landings) assert.equal(yield* outcome(contain(path)), expected, path)
    })
  )
  check("a failure names the path as it was given", {}, ({ read }) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(read("./not/there.txt"))
      assert.equal(error.code, "file_not_found")
      assert.deepEqual(error.details, { path: "./not/there.txt" })
    })
  )
}

const looking = (check: Check): void => {
  const files = { "a.txt": "hello", "d/b.txt": "b", "d.txt": "", "d-e": "x" }
  check("files are described, read and scanned", files, ({ info, read, scan, fingerprint }) =>
    Effect.gen(function* () {
      const { path, kind, size } = yield* info("./a.txt")
      assert.deepEqual({ path, kind, size }, { path: "a.txt", kind: "file", size: 5 })
      assert.equal((yield* info("d")).kind, "directory")
      assert.equal(text(yield* read("a.txt")), "hello")
      assert.equal(text(yield* read("d.txt")), "")
      let scanned = ""
      const all = (chunk: Uint8Array): boolean => {
        scanned += text(chunk)
        return true
      }
      assert.equal((yield* scan("a.txt", all)).fingerprint, undefined)
      assert.equal(scanned, "hello")
      const wholeFile = { fingerprintUpTo: 5 }
      assert.equal((yield* scan("a.txt", all, wholeFile)).fingerprint, yield* fingerprint("a.txt"))
      assert.equal((yield* scan("a.txt", all, { fingerprintUpTo: 4 })).fingerprint, undefined)
      assert.equal((yield* scan("a.txt", () => false, wholeFile)).fingerprint, undefined)
      assert.equal(yield* outcome(read("a.txt", { maxBytes: 4 })), "file_too_large")
      assert.equal(yield* outcome(read("d")), "is_directory")
      assert.equal(yield* outcome(read("none")), "file_not_found")
      assert.equal(yield* outcome(read("a.txt/below")), "file_not_found")
    })
  )
  check("several files are handed over one after the other, or why one can't be", files, ({ readEach }) =>
    Effect.gen(function* () {
      const seen: Array<readonly [string, string]> = []
      const see =
        (enough: number) =>
        (path: string, content: Uint8Array | ToolError): boolean =>
          seen.push([path, isToolError(content) ? content.code : text(content)]) < enough
      const paths = ["d/b.txt", "none", "d", "../x", "a.txt", "./d-e"]
      yield* readEach(paths, see(Infinity), { maxBytes: 4 })
      assert.deepEqual(seen.splice(0), [
        ["d/b.txt", "b"],
        ["none", "file_not_found"],
        ["d", "is_directory"],
        ["../x", "path_outside_workspace"],
        ["a.txt", "file_too_large"],
        ["./d-e", "x"]
      ])
      yield* readEach(paths, see(2))
      assert.deepEqual(
        seen.map(([path]) => path),
        ["d/b.txt", "none"]
      )
    })
  )
  check("names come in the order of code units", files, ({ list }) =>
    Effect.gen(function* () {
      assert.deepEqual(yield* list("."), [
        { name: "a.txt", kind: "file" },
        { name: "d", kind: "directory" },
        { name: "d-e", kind: "file" },
        { name: "d.txt", kind: "file" }
      ])
      assert.equal(yield* outcome(list("a.txt")), "not_a_directory")
      assert.equal(yield* outcome(list("none")), "file_not_found")
    })
  )
  check("a walk follows the order of the paths and stops when told", files, ({ walk }) =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      yield* walk(".", ({ path }) => {
        seen.push(path)
        return path === "d/b.txt" ? "stop" : "continue"
      })
      assert.deepEqual(seen, ["a.txt", "d", "d-e", "d.txt", "d/b.txt"])
    })
  )
  check("states differ when contents do, and only then", files, ({ fingerprint, commit }) =>
    Effect.gen(function* () {
      const before = yield* fingerprint("a.txt")
      assert.equal(yield* fingerprint("none"), "absent")
      assert.equal(yield* fingerprint("d"), "directory")
      yield* commit([write("a.txt", "other")])
      assert.notEqual(yield* fingerprint("a.txt"), before)
      yield* commit([write("a.txt", "hello")])
      assert.equal(yield* fingerprint("a.txt"), before)
    })
  )
}

const writing = (check: Check): void => {
  const files = { "a.txt": "one", "b.txt": "two", "c.txt": "three" }
  check("the diff of a plan shows every change, also of files that nobody has read", files, (workspace) =>
    Effect.gen(function* () {
      const plan = yield* workspace.plan
      yield* planChanges(plan, [write("a.txt", "new\n"), write("n.txt", "n\n"), { kind: "delete", path: "b.txt" }])
      const none = "\\ No newline at end of file\n"
      assert.equal(
        yield* plan.diff,
        `--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n${none}+new\n` +
          `--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1 @@\n+n\n` +
          `--- a/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-two\n${none}`
      )
    })
  )

  check("a commit makes all its changes and says what they were", files, (workspace) =>
    Effect.gen(function* () {
      const [written, made, gone, moved] = yield* workspace.commit([
        write("a.txt", "changed"),
        write("new.txt", "new"),
        { kind: "delete", path: "b.txt" },
        { kind: "move", from: "c.txt", to: "d.txt" }
      ])
      assert.deepEqual(
        [written?.kind, written?.bytesWritten, made?.kind, made?.before, gone?.kind, gone?.after],
        ["modified", 7, "created", "absent", "deleted", "absent"]
      )
      assert.deepEqual([moved?.kind, moved?.path, moved?.movedTo], ["moved", "c.txt", "d.txt"])
      assert.equal(written?.after, yield* workspace.fingerprint("a.txt"))
      assert.deepEqual(yield* contents(workspace), { "a.txt": "changed", "new.txt": "new", "d.txt": "three" })
    })
  )
  check("a commit that can't make one change makes none", files, (workspace) =>
    Effect.gen(function* () {
      const impossible: ReadonlyArray<readonly [Change, string]> = [
        [{ kind: "delete", path: "none" }, "file_not_found"],
        [{ kind: "move", from: "none", to: "x" }, "file_not_found"],
        [{ kind: "move", from: "a.txt", to: "c.txt" }, "already_exists"],
        [write("../out", ""), "path_outside_workspace"],
        [write("c.txt", "", "absent"), "stale_file"],
        [{ kind: "delete", path: "c.txt", base: "absent" }, "stale_file"]
      ]
      for (const [change, code] of impossible) {
        const changes = [write("b.txt", "changed"), write("n", "n"), change]
        assert.equal(yield* outcome(previewOf(workspace, changes)), code)
        assert.equal(yield* outcome(workspace.commit(changes)), code)
        assert.deepEqual(yield* contents(workspace), files, code)
      }
    })
  )
  check("a preview says what a commit would do, and does nothing", files, (workspace) =>
    Effect.gen(function* () {
      const changes = [write("a.txt", "changed"), write("new.txt", "new"), { kind: "delete", path: "b.txt" } as const]
      const preview = yield* previewOf(workspace, changes)
      assert.deepEqual(yield* contents(workspace), files)
      assert.equal(yield* outcome(workspace.previewUndo()), "no_history")
      assert.deepEqual(preview, yield* workspace.commit(changes))
    })
  )
  check("a change is made on the result of the one before", files, (workspace) =>
    Effect.gen(function* () {
      yield* workspace.commit([
        { kind: "delete", path: "a.txt" },
        write("a.txt", "again", "absent"),
        { kind: "move", from: "b.txt", to: "c.txt", overwrite: true }
      ])
      assert.deepEqual(yield* contents(workspace), { "a.txt": "again", "c.txt": "two" })
    })
  )
}

const directories = (check: Check): void => {
  check("directories are made with those on the way", { f: "" }, ({ commit, list }) =>
    Effect.gen(function* () {
      const made = yield* commit([{ kind: "create_directory", path: "a/b" }])
      assert.deepEqual(
        made.map(({ path, kind }) => ({ path, kind })),
        [
          { path: "a", kind: "created" },
          { path: "a/b", kind: "created" }
        ]
      )
      assert.deepEqual(yield* commit([{ kind: "create_directory", path: "a/b" }]), [])
      assert.deepEqual(yield* list("a"), [{ name: "b", kind: "directory" }])
      assert.equal(yield* outcome(commit([{ kind: "create_directory", path: "f" }])), "already_exists")
      assert.equal(yield* outcome(commit([write("x/y", "")])), "file_not_found")
      assert.equal(yield* outcome(commit([write("f/y", "")])), "not_a_directory")
      assert.equal(yield* outcome(commit([write("a", "")])), "is_directory")
    })
  )
  check("a tree goes only when told, and is listed in full", { "d/a": "", "d/e/b": "", k: "" }, (workspace) =>
    Effect.gen(function* () {
      assert.equal(yield* outcome(workspace.commit([{ kind: "delete", path: "d" }])), "is_directory")
      const gone = yield* workspace.commit([{ kind: "delete", path: "d", recursive: true }])
      assert.deepEqual(
        gone.map(({ path }) => path),
        ["d/a", "d/e/b", "d/e", "d"]
      )
      assert.deepEqual(yield* contents(workspace), { k: "" })
    })
  )
  check("the workspace itself stays", { k: "" }, ({ commit }) =>
    Effect.gen(function* () {
      const remove = commit([{ kind: "delete", path: ".", recursive: true }])
      assert.equal(yield* outcome(remove), "path_outside_workspace")
      assert.equal(yield* outcome(commit([{ kind: "move", from: ".", to: "x" }])), "path_outside_workspace")
    })
  )
}

const links = (check: Check): void => {
  const files = { "d/real.txt": "real", link: "-> d/real.txt", dir: "-> d", out: "-> ..", loop: "-> loop" }
  check("links that stay inside are followed, others are not", files, ({ contain, read, info, list }) =>
    Effect.gen(function* () {
      assert.equal(yield* contain("link"), "d/real.txt")
      assert.equal(text(yield* read("dir/real.txt")), "real")
      assert.equal((yield* info("link", { follow: false })).kind, "symlink")
      assert.deepEqual(yield* list("dir"), [{ name: "real.txt", kind: "file" }])
      assert.equal(yield* outcome(contain("out")), "path_outside_workspace")
      assert.equal(yield* outcome(read("out/x")), "path_outside_workspace")
      assert.equal(yield* outcome(read("loop")), "symlink_blocked")
    })
  )
  check("no link is followed where the policy denies it", files, ({ contain, read, commit }) =>
    Effect.gen(function* () {
      assert.equal(yield* outcome(contain("link")), "symlink_blocked")
      assert.equal(yield* outcome(read("dir/real.txt")), "symlink_blocked")
      assert.equal(yield* outcome(commit([write("link", "x")])), "symlink_blocked")
    }).pipe(denyingLinks)
  )
  check("writing goes through a link, deleting and moving take the link itself", files, (workspace) =>
    Effect.gen(function* () {
      yield* workspace.commit([write("link", "through")])
      assert.equal(text(yield* workspace.read("d/real.txt")), "through")
      assert.equal((yield* workspace.info("link", { follow: false })).kind, "symlink")
      yield* workspace.commit([
        { kind: "move", from: "link", to: "other" },
        { kind: "delete", path: "dir" }
      ])
      assert.equal((yield* workspace.info("other", { follow: false })).kind, "symlink")
      assert.equal(text(yield* workspace.read("d/real.txt")), "through")
    })
  )
}

const history = (check: Check): void => {
  check("what a call did can be taken back", { "a.txt": "zero", "b.txt": "b" }, (workspace) =>
    Effect.gen(function* () {
      yield* inCall("one", workspace.commit([write("a.txt", "one")]))
      yield* inCall("two", workspace.commit([write("a.txt", "two"), { kind: "delete", path: "b.txt" }]))
      assert.deepEqual((yield* workspace.undo()).calls, ["two"])
      assert.deepEqual(yield* contents(workspace), { "a.txt": "one", "b.txt": "b" })
      assert.deepEqual((yield* workspace.undo({ call: "one" })).calls, ["one"])
      assert.deepEqual(yield* contents(workspace), { "a.txt": "zero", "b.txt": "b" })
      assert.equal(yield* outcome(workspace.undo()), "no_history")
    })
  )
  check("a later change is never lost by going back", { "a.txt": "zero" }, (workspace) =>
    Effect.gen(function* () {
      yield* inCall("one", workspace.commit([write("a.txt", "one")]))
      yield* inCall("two", workspace.commit([write("a.txt", "two")]))
      assert.equal(yield* outcome(workspace.undo({ call: "one" })), "stale_file")
      assert.deepEqual(yield* contents(workspace), { "a.txt": "two" })
    })
  )
}

const write = (path: string, content: string, base?: string): Change => ({
  kind: "write",
  path,
  content: new TextEncoder().encode(content),
  ...(base !== undefined && { base })
})

/** Result of planning these changes, without a commit. */
const previewOf = Effect.fnUntraced(function* (workspace: WorkspaceService, changes: ReadonlyArray<Change>) {
  const plan = yield* workspace.plan
  yield* planChanges(plan, changes)
  return plan.changes
})

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

/** Result, or the code of the failure. */
const outcome = <A>(effect: Effect.Effect<A, unknown>): Effect.Effect<A | string> =>
  effect.pipe(Effect.catch((error) => Effect.succeed(isToolError(error) ? error.code : String(error))))

const contents = Effect.fnUntraced(function* ({ walk, read }: WorkspaceService) {
  const paths: Array<string> = []
  yield* walk(".", ({ path, kind }) => {
    if (kind === "file") paths.push(path)
    return "continue"
  })
  const found: Record<string, string> = {}
  for (const path of paths) found[path] = text(yield* read(path))
  return found
})

const inCall = <A, E>(id: string, work: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  CurrentCall.use((call) => Effect.provideService(work, CurrentCall, { ...call, id }))

const denyingLinks = <A, E>(work: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  CurrentCall.use((call) => Effect.provideService(work, CurrentCall, { ...call, symlinks: "deny" }))
