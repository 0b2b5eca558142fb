import { spawn } from "node:child_process"
import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { Processes, Sandbox, Workspace } from "@haft/core"
import { temporaryWorkspace } from "@haft/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { describe, expect, it } from "vitest"

import { nodeProcesses } from "../process/processes.ts"
import { chooseBase } from "../process/runtime-directory.ts"
import { systemProgram } from "../process/system-programs.ts"
import { nodeWorkspace } from "../workspace/workspace.ts"
import { bubblewrapSandbox } from "./linux/bubblewrap.ts"
import { unshareSandbox } from "./linux/unshare.ts"
import { noSandbox } from "./none.ts"

const isLinux = process.platform === "linux"

const sandboxes = [
  ["bubblewrap", bubblewrapSandbox, systemProgram("bwrap") !== undefined],
  ["unshare", unshareSandbox, systemProgram("perl") !== undefined],
  ["none", noSandbox, true]
] as const

describe.runIf(isLinux).each(sandboxes)("the workspace root behind %s", (kind, make, isThere) => {
  it.runIf(isThere).each([false, true])("is the one that was opened, terminal: %s", async (terminal) => {
    using workspace = temporaryWorkspace({ "mine.txt": "mine" })
    const { root, outside } = workspace
    writeFileSync(join(outside, "secret"), "do-not-tell")
    const machine = Layer.merge(nodeWorkspace({ root, state: workspace.state }), nodeProcesses)
    const layer = make({}).pipe(Layer.provideMerge(machine))
    const command = { program: "sh", args: ["-c", "cat mine.txt secret; echo x > made"], directory: root, env: {} }
    let printed = ""
    const running = Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const { run } = yield* Processes
      yield* sandbox.describe
      renameSync(root, `${root}-was`)
      renameSync(outside, root)
      const hear = (chunk: Uint8Array): void => void (printed += Buffer.from(chunk).toString())
      const exit = yield* Effect.exit(
        run(yield* sandbox.wrap(command, { terminal }), { onStdout: hear, onStderr: hear })
      )
      return JSON.stringify(exit)
    })
    const exit = await Effect.runPromise(running.pipe(Effect.provide(layer)))
    expect(printed).not.toContain("do-not-tell")
    expect(() => readFileSync(join(root, "made"))).toThrow("ENOENT")
    // Without a sandbox the command goes on in the directory that was opened; a sandbox, which binds by path, is refused.
    const wentOn = printed.startsWith("mine") && workspace.exists("../workspace-was/made")
    expect([wentOn, `${printed}${exit}`.includes("replaced meanwhile")]).toEqual([kind === "none", kind !== "none"])
  })
})

describe.runIf(isLinux)("the workspace root", () => {
  it("is shared by hosts of one process, also when its path leads elsewhere by then", async () => {
    using workspace = temporaryWorkspace({ "mine.txt": "mine" })
    const { root, outside, state } = workspace
    const open = nodeWorkspace({ root, state })
    const read = Workspace.use((service) => service.read("mine.txt"))
    const both = Effect.gen(function* () {
      yield* Effect.sync(() => (renameSync(root, `${root}-was`), symlinkSync(outside, root)))
      return yield* read.pipe(Effect.provide(Layer.fresh(open)))
    })
    const content = await Effect.runPromise(both.pipe(Effect.provide(open)))
    expect(Buffer.from(content).toString()).toBe("mine")
  })
})

const on = (root: string) => {
  const layer = bubblewrapSandbox().pipe(
    Layer.provide(
      Layer.merge(
        nodeProcesses,
        Layer.mock(Workspace)({ root, roots: [], isSecret: () => false, secretFiles: () => [] })
      )
    )
  )
  const command = { program: "true", args: [], directory: root, env: {} }
  return Effect.runPromise(
    Effect.exit(Sandbox.use(({ wrap }) => wrap(command))).pipe(Effect.provide(layer), Effect.map(JSON.stringify))
  )
}

describe.runIf(isLinux)("runtime files", () => {
  it("never lie in a workspace", () => {
    const own = mkdtempSync(join(tmpdir(), "haft-test-runtime-"))
    const before = { runtime: process.env["XDG_RUNTIME_DIR"], state: process.env["XDG_STATE_HOME"] }
    process.env["XDG_RUNTIME_DIR"] = join(own, "runtime")
    process.env["XDG_STATE_HOME"] = join(own, "state")
    try {
      for (const workspaces of [["/tmp", tmpdir()], [own], ["/run", own], ["/run", join(own, "runtime")]]) {
        const base = chooseBase(workspaces)
        expect(workspaces.filter((root) => base.startsWith(`${root}/`))).toEqual([])
      }
      expect(() => chooseBase(["/"])).toThrow("no directory for runtime files outside the workspace")
    } finally {
      for (const [name, value] of [
        ["XDG_RUNTIME_DIR", before.runtime],
        ["XDG_STATE_HOME", before.state]
      ] as const) {
        if (value === undefined) delete process.env[name]
        else process.env[name] = value
      }
      rmSync(own, { recursive: true, force: true })
    }
  })

  it("make a workspace that contains them unusable for commands", async () => {
    expect(await on(chooseBase([]))).toContain("contains the runtime directory")
  })

  it("are not taken from a directory that others can write to", () => {
    const own = mkdtempSync(join(tmpdir(), "haft-test-runtime-"))
    const before = process.env["XDG_STATE_HOME"]
    process.env["XDG_STATE_HOME"] = own
    mkdirSync(join(own, "haft/run"), { recursive: true })
    chmodSync(join(own, "haft/run"), 0o777)
    try {
      expect(chooseBase(["/run", "/nonexistent"])).not.toBe(join(own, "haft/run"))
    } finally {
      if (before === undefined) delete process.env["XDG_STATE_HOME"]
      else process.env["XDG_STATE_HOME"] = before
      rmSync(own, { recursive: true, force: true })
    }
  })
})

it.runIf(isLinux).each(["/", "/usr", "/usr/bin"])(
  "the workspace %s is refused: programs of the host lie there",
  async (root) => {
    expect(await on(root)).toContain("contains the system's programs")
  }
)

// Descriptors that a terminal's program is forked with, on a machine with and without perl and bash.
describe.runIf(isLinux)("terminal.sh", () => {
  const bash = systemProgram("bash") ?? ""
  const perl = systemProgram("perl") ?? ""
  const start = async (words: ReadonlyArray<string>, high: boolean): Promise<string> => {
    const { terminal } = await import("../embedded-scripts.ts")
    const directory = mkdtempSync(join(tmpdir(), "haft-test-terminal-"))
    for (const name of ["told", "filter"]) writeFileSync(join(directory, name), "")
    const leaked = openSync("/", "r")
    const stdio = Array.from({ length: high ? 25 : 8 }, (_, index) => (index < 3 ? "pipe" : leaked))
    const list = `for path in /proc/self/fd/*; do readlink "$path"; done`
    // Descriptors that this process was started with are closed first.
    const cleared = `for path in /proc/self/fd/*; do [ "\${path##*/}" -lt ${stdio.length} ] || eval "exec \${path##*/}>&-"; done; exec "$@"`
    const program = ["/bin/sh", "-c", terminal, "haft", directory, "", ...words, "--", "/bin/sh", "-c", list]
    const child = spawn(bash, ["-c", cleared, "haft", ...program], { stdio })
    closeSync(leaked)
    let printed = ""
    child.stdout?.on("data", (chunk: Buffer) => (printed += chunk.toString()))
    child.stderr?.on("data", (chunk: Buffer) => (printed += chunk.toString()))
    await new Promise((resolve) => child.once("close", resolve))
    return printed
  }

  it.each([
    ["bash and perl", [bash, perl], true],
    ["bash alone", [bash, ""], true],
    ["perl alone", ["", perl], true],
    ["neither", ["", ""], false]
  ])("closes the host's descriptors with %s", async (_, words, high) => {
    const printed = await start(words, high)
    expect(printed).toContain("told (deleted)")
    expect(printed.split("\n").filter((line) => line === "/")).toEqual([])
  })

  it("refuses to go on where descriptors can't be closed", async () => {
    expect(await start(["", ""], true)).toContain("can not be closed")
  })
})
