import { spawnSync } from "node:child_process"
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { dirname, join } from "node:path"

import { Processes, Sandbox, Workspace } from "@haft/core"
import { temporaryWorkspace, type TemporaryWorkspace, testSandbox } from "@haft/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { afterAll, describe, expect, it, vi } from "vitest"

import { runsTestImage, testImage } from "../../test/container-image.ts"
import { nodeProcesses } from "../process/processes.ts"
import { systemProgram } from "../process/system-programs.ts"
import { containerSandbox } from "./container/container.ts"
import type { SandboxOptions } from "./limits.ts"
import { bubblewrapSandbox } from "./linux/bubblewrap.ts"
import { unshareSandbox } from "./linux/unshare.ts"

type Make = (options: SandboxOptions) => Layer.Layer<Sandbox, never, Workspace | Processes>

const put = (make: Make, more: { countsLeftovers?: boolean } = {}): void => {
  testSandbox({
    ...more,
    it,
    afterAll,
    sandbox: (workspace, limits) =>
      make({ state: workspace.state, ...(limits !== undefined && { limits }) }).pipe(
        Layer.provideMerge(nodeProcesses),
        Layer.provide(workspaceAt(workspace))
      )
  })
}

// A sandbox asks the workspace for its root and nothing else.
const workspaceAt = ({ root }: TemporaryWorkspace) =>
  Layer.mock(Workspace)({ root, roots: [], isSecret: () => false, secretFiles: () => [] })

const isLinux = process.platform === "linux"

const putArchive = (make: Make): void => {
  it("unpacks archives of other people's files", async () => {
    using workspace = temporaryWorkspace({ "a.txt": "a" })
    const sandbox = make({}).pipe(Layer.provideMerge(nodeProcesses), Layer.provide(workspaceAt(workspace)))
    const code = "tar --owner=4711 --group=4711 -cf a.tar a.txt && rm a.txt && tar -xf a.tar"
    const command = { program: "sh", args: ["-c", code], directory: workspace.root, env: {} }
    const running = Effect.gen(function* () {
      const { wrap } = yield* Sandbox
      const { run } = yield* Processes
      return yield* run(yield* wrap(command))
    })
    expect(await Effect.runPromise(running.pipe(Effect.provide(sandbox)))).toMatchObject({ exitCode: 0 })
    expect(workspace.read("a.txt")).toBe("a")
  })
}

// In a sandbox root has no power over what others own: it has to be them.
const isRoot = process.getuid?.() === 0
const putOwned = (make: Make): void => {
  it.runIf(isRoot)("does root's commands as who owns the workspace; for root only (not on this platform)", async () => {
    using workspace = temporaryWorkspace()
    chmodSync(dirname(workspace.root), 0o755)
    chownSync(workspace.root, 4711, 4712)
    const sandbox = make({}).pipe(Layer.provideMerge(nodeProcesses), Layer.provide(workspaceAt(workspace)))
    const runtime = ManagedRuntime.make(sandbox)
    const code = "id -u; id -G; echo mine > made.txt; echo heard > /dev/stderr; cat /dev/stdin"
    const command = { program: "sh", args: ["-c", code], directory: workspace.root, env: {}, stdin: "fed\n" }
    let printed = ""
    const hear = (chunk: Uint8Array): void => void (printed += Buffer.from(chunk).toString())
    await runtime.runPromise(
      Effect.gen(function* () {
        const { wrap } = yield* Sandbox
        const { run } = yield* Processes
        yield* run(yield* wrap(command), { onStdout: hear, onStderr: hear })
        yield* run(yield* wrap({ ...command, args: ["-c", "mkdir there"] }, { terminal: true }))
      })
    )
    await runtime.dispose()
    expect(printed.trim().split("\n").toSorted()).toEqual(["4711", "4712", "fed", "heard"])
    for (const name of ["made.txt", "there"]) {
      expect(statSync(join(workspace.root, name))).toMatchObject({ uid: 4711, gid: 4712 })
    }
  })
}

// A command that runs already can do that, and needs little luck: it has all the time that the next one's sandbox takes.
const putReplaced = (make: Make): void => {
  it.each([false, true])("brings in nothing that takes the repository's place, terminal: %s", async (terminal) => {
    using workspace = temporaryWorkspace({ ".git/config": "", ".git/hooks/a": "" })
    const { root, outside } = workspace
    const secret = join(outside, "secret")
    writeFileSync(secret, "do-not-tell")
    mkdirSync(join(root, "../hooks"))
    writeFileSync(join(root, "../config"), "")
    const sandbox = make({}).pipe(Layer.provideMerge(nodeProcesses), Layer.provide(workspaceAt(workspace)))
    const code = `cat '${secret}'; echo changed > '${secret}'`
    const command = { program: "sh", args: ["-c", code], directory: root, env: {} }
    let printed = ""
    const hear = (chunk: Uint8Array): void => void (printed += Buffer.from(chunk).toString())
    const running = Effect.gen(function* () {
      const { wrap } = yield* Sandbox
      const { run } = yield* Processes
      const wrapped = yield* wrap(command, { terminal })
      renameSync(join(root, ".git"), join(root, "was"))
      symlinkSync("..", join(root, ".git"))
      return yield* run(wrapped, { onStdout: hear, onStderr: hear })
    })
    const exit = await Effect.runPromise(Effect.exit(running).pipe(Effect.provide(sandbox)))
    expect(`${printed}${JSON.stringify(exit)}`).toContain("part of the workspace was replaced meanwhile")
    expect(printed).not.toContain("do-not-tell")
    expect(readFileSync(secret, "utf8")).toBe("do-not-tell")
  })
}

const putHeld = (make: Make): void => {
  it("mounts nothing that a running command could replace meanwhile", async () => {
    using workspace = temporaryWorkspace()
    const { root } = workspace
    const sandbox = make({}).pipe(Layer.provideMerge(nodeProcesses), Layer.provide(workspaceAt(workspace)))
    const shell = (code: string) => ({ program: "sh", args: ["-c", code], directory: root, env: {} })
    const running = Effect.gen(function* () {
      const { wrap } = yield* Sandbox
      const { run } = yield* Processes
      const mounts = Effect.gen(function* () {
        let printed = ""
        const onStdout = (chunk: Uint8Array): void => void (printed += Buffer.from(chunk).toString())
        yield* run(yield* wrap(shell("cat /proc/self/mountinfo")), { onStdout })
        return printed.split("\n").filter((line) => line.includes(`${root}/.git`)).length
      })
      const first = yield* wrap(
        shell("mkdir -p .git/hooks && touch .git/config; until [ -e seen ]; do sleep 0.1; done")
      )
      const other = yield* Effect.forkChild(run(first))
      while (!workspace.exists(".git/config")) yield* Effect.sleep(10)
      const meanwhile = yield* mounts
      workspace.put("seen", "")
      yield* Fiber.join(other)
      return [meanwhile, yield* mounts]
    })
    expect(await Effect.runPromise(running.pipe(Effect.provide(sandbox)))).toEqual([0, 3])
  })
}

// Whatever the host has mounted in a workspace, and whatever that is called.
const putMounted = (make: Make): void => {
  it.runIf(isRoot)("takes a workspace with mounts in it; for root only (not on this platform)", async () => {
    using workspace = temporaryWorkspace({ "a \\ b/.git/config": "", "a \\ b/.vscode/tasks.json": "", "other/x": "" })
    const root = join(workspace.root, "a \\ b")
    const mounted = [".git", ".vscode"].map((name) => join(root, name))
    spawnSync("mount", ["-t", "tmpfs", "none", mounted[0] ?? ""])
    spawnSync("mount", ["--bind", join(workspace.root, "other"), mounted[1] ?? ""])
    mkdirSync(join(root, ".git/hooks"))
    writeFileSync(join(root, ".git/config"), "kept")
    writeFileSync(join(root, "haft.config.json"), "{}")
    const sandbox = make({}).pipe(
      Layer.provideMerge(nodeProcesses),
      Layer.provide(Layer.mock(Workspace)({ root, roots: [], isSecret: () => false, secretFiles: () => [] }))
    )
    const code = "cat .git/config; ls .vscode; echo changed > .git/config; echo changed > haft.config.json"
    const command = { program: "sh", args: ["-c", code], directory: root, env: {} }
    let printed = ""
    const hear = (chunk: Uint8Array): void => void (printed += Buffer.from(chunk).toString())
    const running = Effect.gen(function* () {
      const { wrap } = yield* Sandbox
      const { run } = yield* Processes
      return yield* run(yield* wrap(command), { onStdout: hear })
    })
    const exit = await Effect.runPromise(Effect.exit(running).pipe(Effect.provide(sandbox)))
    const after = readFileSync(join(root, ".git/config"), "utf8")
    for (const path of mounted) spawnSync("umount", [path])
    expect([printed, after, JSON.stringify(exit)]).toEqual(["keptx\n", "kept", expect.stringContaining("Success")])
  })
}

describe.runIf(isLinux && systemProgram("bwrap") !== undefined)("bubblewrap (needs bwrap)", () => {
  put(bubblewrapSandbox)
  putOwned(bubblewrapSandbox)
  putArchive(bubblewrapSandbox)
  putReplaced(bubblewrapSandbox)
  putHeld(bubblewrapSandbox)
  putMounted(bubblewrapSandbox)
})

describe.runIf(isLinux && systemProgram("perl") !== undefined)("unshare (needs perl)", () => {
  put(unshareSandbox)
  putOwned(unshareSandbox)
  putArchive(unshareSandbox)
  putReplaced(unshareSandbox)
  putHeld(unshareSandbox)
  putMounted(unshareSandbox)
})

const putContainer = (engine: "docker" | "podman"): void => {
  const make: Make = (options) => containerSandbox({ ...options, engine, image: testImage })
  put(make, { countsLeftovers: false })
  putOwned(make)
  putHeld(make)

  // One whose command was given up early may still be on its way.
  it("leaves no container behind", async () => {
    const list = ["ps", "--all", "--quiet", "--filter", "label=haft.host"]
    await vi.waitFor(() => expect(spawnSync(engine, list, { encoding: "utf8" }).stdout).toBe(""), { timeout: 60_000 })
  })
}

describe.runIf(runsTestImage("docker"))("docker (needs an engine and the image haft-test, see .ci/test-image)", () => {
  putContainer("docker")
})

// Which runtimes podman works with depends on the machine's cgroups, and .ci/run may find none.
describe.runIf(runsTestImage("podman"))("podman; without it and the image haft-test (not on this platform)", () => {
  putContainer("podman")
})
