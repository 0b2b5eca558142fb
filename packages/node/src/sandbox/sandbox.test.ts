import { spawnSync } from "node:child_process"
import { once } from "node:events"
import { chmodSync, chownSync, statSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { dirname, join } from "node:path"

import { Processes, Sandbox, Workspace } from "@haft/core"
import { temporaryWorkspace, type TemporaryWorkspace, testSandbox } from "@haft/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { afterAll, describe, expect, it, vi } from "vitest"

import { nodeProcesses } from "../processes.ts"
import { bubblewrapSandbox } from "./bubblewrap.ts"
import { containerSandbox } from "./docker.ts"
import type { SandboxOptions } from "./limits.ts"
import { findProgram } from "./probe.ts"
import { unshareSandbox } from "./unshare.ts"

type Make = (options: SandboxOptions) => Layer.Layer<Sandbox, never, Workspace | Processes>

const put = (make: Make, more: { countsLeftovers?: boolean } = {}): void => {
  testSandbox({
    ...more,
    it,
    afterAll,
    sandbox: (workspace, limits) =>
      make(limits === undefined ? {} : { limits }).pipe(
        Layer.provideMerge(nodeProcesses),
        Layer.provide(workspaceAt(workspace))
      )
  })
}

// A sandbox asks the workspace for its root and nothing else.
const workspaceAt = ({ root }: TemporaryWorkspace) => Layer.mock(Workspace)({ root })

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

const putNetwork = (make: Make): void => {
  it("has the host's network for a call that is allowed it, and for no other", async () => {
    using workspace = temporaryWorkspace()
    const server = createServer((socket) => socket.end("reached")).listen(0, "127.0.0.1")
    await once(server, "listening")
    const { port } = server.address() as AddressInfo
    const sandbox = make({}).pipe(Layer.provideMerge(nodeProcesses), Layer.provide(workspaceAt(workspace)))
    const code = `socket($s, 2, 1, 6); connect($s, pack("S n C4 x8", 2, ${port}, 127, 0, 0, 1)) && print <$s>`
    const command = { program: "perl", args: ["-e", code], directory: workspace.root, env: {} }
    const heard = { allowed: "", other: "" }
    const running = Effect.gen(function* () {
      const { wrap } = yield* Sandbox
      const { run } = yield* Processes
      const hear = (who: keyof typeof heard) => ({
        onStdout: (chunk: Uint8Array) => void (heard[who] += Buffer.from(chunk).toString())
      })
      yield* run(yield* wrap(command, { network: true }), hear("allowed"))
      yield* run(yield* wrap(command), hear("other"))
    })
    await Effect.runPromise(running.pipe(Effect.provide(sandbox)))
    server.close()
    expect(heard).toEqual({ allowed: "reached", other: "" })
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

describe.runIf(isLinux && findProgram("bwrap") !== undefined)("bubblewrap (needs bwrap)", () => {
  put(bubblewrapSandbox)
  putOwned(bubblewrapSandbox)
  putArchive(bubblewrapSandbox)
  putNetwork(bubblewrapSandbox)
})

describe.runIf(isLinux && findProgram("perl") !== undefined)("unshare (needs perl)", () => {
  put(unshareSandbox)
  putOwned(unshareSandbox)
  putArchive(unshareSandbox)
  putNetwork(unshareSandbox)
})

const image = "haft-test"
const runsImage = (engine: string): boolean =>
  isLinux && spawnSync(engine, ["run", "--rm", "--pull=never", "--network=none", image, "true"]).status === 0

const putContainer = (engine: "docker" | "podman"): void => {
  const make: Make = (options) => containerSandbox({ ...options, engine, image })
  put(make, { countsLeftovers: false })
  putOwned(make)

  // One whose command was given up early may still be on its way.
  it("leaves no container behind", async () => {
    const list = ["ps", "--all", "--quiet", "--filter", "label=haft.host"]
    await vi.waitFor(() => expect(spawnSync(engine, list, { encoding: "utf8" }).stdout).toBe(""), { timeout: 60_000 })
  })
}

describe.runIf(runsImage("docker"))("docker (needs an engine and the image haft-test, see .ci/test-image)", () => {
  putContainer("docker")
})

// Which runtimes podman works with depends on the machine's cgroups, and .ci/run may find none.
describe.runIf(runsImage("podman"))("podman; without it and the image haft-test (not on this platform)", () => {
  putContainer("podman")
})
