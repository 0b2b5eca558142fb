import { execFile } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { homedir, tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"

import {
  type Dialect,
  Host,
  type JournalEvent,
  memoryArtifacts,
  parseArtifactAddress,
  memoryJournal,
  type NetworkConfig,
  networkPolicy,
  type Progress,
  refuseCommands,
  type Reply,
  type Sandbox,
  type Workspace,
  type Processes,
  use
} from "@haft/core"
import { openHost } from "@haft/core/promise"
import { agentbench, approvalgate, cliagent, haft, toolrouter } from "@haft/dialects"
import { autoSandbox, nodeProcesses, nodeWorkspace, noSandbox } from "@haft/node"
import { scriptedApprover, temporaryWorkspace } from "@haft/testing"
import * as Layer from "effect/Layer"
import { afterAll, describe, expect, it } from "vitest"

import { execTools } from "./index.ts"

const isLinux = process.platform === "linux"

const opened = (
  sandbox: Layer.Layer<Sandbox, never, Workspace | Processes>,
  { dialect = haft, config = {}, network }: { dialect?: Dialect; config?: object; network?: NetworkConfig } = {}
) => {
  const workspace = temporaryWorkspace()
  const events: Array<JournalEvent> = []
  const artifacts = new Map<string, Uint8Array>()
  const services = Layer.mergeAll(
    memoryJournal(events),
    memoryArtifacts(artifacts),
    scriptedApprover().layer,
    sandbox.pipe(
      Layer.provideMerge(Layer.mergeAll(nodeProcesses, nodeWorkspace({ root: workspace.root, state: workspace.state })))
    )
  )
  const policy = network === undefined ? Layer.empty : networkPolicy(network)
  const lent = Layer.provideMerge(policy, services)
  const host = openHost(Host.layer({ dialect, plugins: [use(execTools, config)] }).pipe(Layer.provide(lent)))
  return { workspace, events, artifacts, host }
}

interface Result {
  readonly exit_code: number
  readonly stdout: string
  readonly stderr: string
  readonly stdout_bytes: number
  readonly stdout_path?: string
  readonly left_running: number
  readonly timed_out: boolean
}

describe.runIf(isLinux)("commands in the strongest sandbox that works", () => {
  const { workspace, artifacts, events, host } = opened(autoSandbox(), { config: { artifactBytes: 300_000 } })
  afterAll(async () => {
    const open = await host
    await open.dispose()
    workspace.remove()
  })
  const call = async (params: object, options: object = {}): Promise<Reply> => {
    const open = await host
    return open.call("run_command", params, options)
  }
  const run = async (command: string, more: object = {}): Promise<Result> => {
    const { wire } = await call({ command, timeout_ms: 20_000, ...more })
    return (wire as { result: Result }).result
  }

  it("a job in the background is counted, and not waited for", async () => {
    expect(await run("sleep 3000 & echo on")).toMatchObject({ exit_code: 0, stdout: "on\n", left_running: 1 })
  })

  it("a job in a session of its own dies with the time-out", async () => {
    const result = await run("setsid sh -c 'while :; do date +%N > beat; sleep 0.02; done' & sleep 60", {
      timeout_ms: 400
    })
    expect(result.timed_out).toBe(true)
    const before = workspace.read("beat")
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(workspace.read("beat")).toBe(before)
  })

  it("`yes` for a second stays bounded, and what is beyond the file's limit is counted", async () => {
    const result = await run("timeout 1 yes")
    expect(result.stdout.length).toBeLessThan(100_200)
    expect(artifacts.get(parseArtifactAddress(result.stdout_path ?? "")?.path ?? "")?.length).toBe(300_000)
    expect(result).toMatchObject({ exit_code: 124, dropped_bytes: result.stdout_bytes - 300_000 })
  })

  it("a program that ignores SIGTERM is killed", async () => {
    expect(await run("trap '' TERM; echo stubborn; sleep 60; sleep 60", { timeout_ms: 1500 })).toMatchObject({
      timed_out: true,
      signal: "SIGKILL",
      stdout: "stubborn\n"
    })
  })

  it("a prompt for a password gets no answer and does not wait", async () => {
    const result = await run(
      "read -rsp 'Password: ' secret; echo \"got $?\"; (exec < /dev/tty) 2>/dev/null || echo no terminal"
    )
    expect(result.stdout).toBe("got 1\nno terminal\n")
  })

  it("`git log` with a pager prints and returns", async () => {
    const result = await run('printf "%s %s %s\\n" "$PAGER" "$GIT_PAGER" "$TERM"; seq 500 | $PAGER | tail -1')
    expect(result.stdout).toBe("cat cat dumb\n500\n")
  })

  it("100 MB on one line are cut to what a reply holds", async () => {
    const result = await run("head -c 100000000 /dev/zero | tr '\\0' x")
    expect(result).toMatchObject({ exit_code: 0, stdout_bytes: 100_000_000, omitted_bytes: 99_900_000 })
  })

  it("a flood takes little memory, however long it is", async () => {
    const bytes = process.env["HAFT_LONG"] === "1" ? 1_000_000_000 : 100_000_000
    const script = new URL("../test/flood.ts", import.meta.url).pathname
    const options = ["--expose-gc", "--conditions=@haft/source", script, String(bytes)]
    const { stdout } = await promisify(execFile)(process.execPath, options)
    const { printed, growth } = JSON.parse(stdout) as Readonly<Record<string, number>>
    expect(printed).toBe(bytes)
    expect(growth).toBeLessThan(64 * 1024 * 1024)
  }, 300_000)

  it("invalid UTF-8 is replaced in the reply and survives in the artifact", async () => {
    const result = await run("printf 'a\\377\\300b'")
    expect(result.stdout).toBe("a\ufffd\ufffdb")
    expect([...artifacts].findLast(([path]) => path.endsWith("_stdout.txt"))?.[1]).toEqual(
      new Uint8Array([97, 255, 192, 98])
    )
  })

  it("an exit by signal is told as a shell tells it", async () => {
    expect(await run("kill -SEGV $$")).toMatchObject({ exit_code: 139, signal: "SIGSEGV" })
  })

  it("a command that closes its output early is waited for", async () => {
    expect(await run("exec >&- 2>&-; sleep 0.05; exit 5")).toMatchObject({ exit_code: 5, stdout: "" })
  })

  it("a fork bomb leaves the next command unharmed", async () => {
    await run("bomb() { bomb | bomb & }; bomb; sleep 0.3", { timeout_ms: 2000 })
    expect(await run("echo well")).toMatchObject({ exit_code: 0, stdout: "well\n" })
  })

  it("a write outside the workspace fails", async () => {
    const target = join(workspace.outside, "x")
    expect((await run(`echo x > '${target}'`)).exit_code).not.toBe(0)
  })

  it("a read of ~/.ssh and of what lies beside the workspace finds nothing", async () => {
    writeFileSync(join(workspace.outside, "secret"), "do-not-tell")
    const { stdout } = await run(
      `cat '${homedir()}'/.ssh/* ~/.ssh/* '${workspace.outside}/secret' '${workspace.state}'/*`
    )
    expect(stdout).toBe("")
  })

  it("a network connection can't be made", async () => {
    const { stdout } = await run(
      "(exec 3<>/dev/tcp/127.0.0.1/22) 2>/dev/null && echo in; (exec 3<>/dev/tcp/192.0.2.1/80) 2>/dev/null && echo out"
    )
    expect(stdout).toBe("")
  })

  it("a cancelled build ends with all that it started", async () => {
    const open = await host
    const abort = new AbortController()
    const building = open.call(
      "run_command",
      { command: "make() { while :; do date +%N > built; sleep 0.02; done; }; make & make & echo begun; make" },
      {
        signal: abort.signal,
        onProgress: ({ message }: Progress) => message === "begun" && abort.abort(new Error("enough"))
      }
    )
    await expect(building).rejects.toThrow("enough")
    const before = workspace.read("built")
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(workspace.read("built")).toBe(before)
    expect(events.at(-1)).toMatchObject({ type: "tool_call_finished", status: "error", error: "cancelled" })
  })

  it("a workspace that was asked for read-only can't be changed", async () => {
    expect((await run("echo x > new", { read_only: true })).exit_code).not.toBe(0)
    expect(workspace.exists("new")).toBe(false)
  })

  it("long commands give signs of life", async () => {
    const heard: Array<Progress> = []
    const command = "printf 'one\\n\\033[31mcompiling\\033[0m \\007\\u202e'; sleep 1.3"
    await call({ command }, { onProgress: (progress: Progress) => heard.push(progress) })
    expect(heard[0]).toEqual({ message: String.raw`compiling \u{7}\u{202e}`, done: 1 })
  })

  it("secrets do not leak in, and are redacted in the record", async () => {
    process.env["SOME_API_TOKEN"] = "sk-0123456789abcdef0123"
    const result = await run('echo "[$SOME_API_TOKEN]"', { env: { MY_TOKEN: "sk-fedcba9876543210fedc" } })
    delete process.env["SOME_API_TOKEN"]
    expect(result.stdout).toBe("[]\n")
    expect(JSON.stringify(events)).not.toContain("sk-fedcba")
  })

  it("code sees variables as the call gave them, whatever their names", async () => {
    const open = await host
    const env = { name: "a", file: "b", directory: "c", number: "d", names: "e", root: "f", code: "g" }
    const code = "import os; print(*(os.environ[n] for n in 'name file directory number names root code'.split()))"
    const reply = await open.call("run_code", { language: "python", code, env })
    expect(reply.wire).toMatchObject({ ok: true, result: { stdout: "a b c d e f g\n" } })
  })

  it("a missing interpreter is a command that was not found", async () => {
    const open = await host
    const reply = await open.call("run_code", {
      language: "python",
      code: "print(1)",
      env: { PATH: "/nowhere:/usr/sbin" }
    })
    expect(reply.wire).toMatchObject({ ok: false, error: { code: "command_not_found" } })
  })

  it("the record names the sandbox", async () => {
    await run("true")
    const chosen = events.findLast(({ type }) => type === "sandbox_chosen")
    expect(chosen).toMatchObject({ tool: "run_command", isolated: true })
  })
})

const reports: ReadonlyArray<readonly [Dialect, tool: string, params: (code: string) => object, told: object]> = [
  [haft, "run_command", (command) => ({ command }), { result: { control_files: [{ path: ".envrc" }] } }],
  [agentbench, "run", (command) => ({ command }), { data: { quarantined: [".envrc"] } }],
  [
    toolrouter,
    "shell",
    (command) => ({ command }),
    { message: "control files were moved out of the workspace: .envrc" }
  ],
  [approvalgate, "run_code", (code) => ({ language: "bash", code }), { value: { quarantined: [".envrc"] } }],
  [cliagent, "run_in_terminal", (command) => ({ command }), { metadata: { quarantined: [".envrc"] } }]
]

const directly = { overlay: "never" } as const

describe.runIf(isLinux)("control files that a command makes without an overlay", () => {
  it.each(reports)("are told in %o by %s", async (dialect, tool, params, told) => {
    const state = mkdtempSync(join(tmpdir(), "haft-test-state-"))
    const { host, events, workspace } = opened(autoSandbox({ state }), { dialect, config: directly })
    const open = await host
    const reply = await open.call(tool, params("echo evil > .envrc"))
    await open.dispose()
    expect(reply.wire).toMatchObject(told)
    expect(reply.text).toContain(".envrc")
    expect(workspace.exists(".envrc")).toBe(false)
    expect(events.find(({ type }) => type === "control_files_changed")).toMatchObject({
      tool,
      files: [{ path: ".envrc", quarantine: expect.stringContaining(state) }]
    })
    workspace.remove()
    rmSync(state, { recursive: true })
  })

  it("are on record when the command was cancelled", async () => {
    const state = mkdtempSync(join(tmpdir(), "haft-test-state-"))
    const { host, events, workspace } = opened(autoSandbox({ state }), { config: directly })
    const open = await host
    const cancel = new AbortController()
    const onProgress = () => workspace.exists(".envrc") && cancel.abort()
    const call = open.call(
      "run_command",
      { command: "echo evil > .envrc; sleep 60" },
      { signal: cancel.signal, onProgress }
    )
    await expect(call).rejects.toBeDefined()
    await open.dispose()
    expect(workspace.exists(".envrc")).toBe(false)
    expect(events.find(({ type }) => type === "control_files_changed")).toMatchObject({
      tool: "run_command",
      files: [{ path: ".envrc", quarantine: expect.stringContaining(state) }]
    })
    workspace.remove()
    rmSync(state, { recursive: true })
  })
})

describe.runIf(isLinux)("commands without a sandbox", () => {
  it("run only by choice, and reply and record say so", async () => {
    const { host, events, workspace } = opened(noSandbox())
    const open = await host
    const reply = await open.call("run_command", { command: "true" })
    expect(reply.wire).toMatchObject({ ok: true, result: { sandbox: { kind: "none", isolated: false } } })
    expect(reply.text).toBe("[ran without a sandbox]\n")
    expect(events.find(({ type }) => type === "sandbox_chosen")).toMatchObject({ kind: "none", isolated: false })
    await open.dispose()
    workspace.remove()
  })

  const marks: ReadonlyArray<readonly [Dialect, tool: string, params: object, told: object]> = [
    [haft, "run_command", { command: "sleep 60", timeout_ms: 50 }, { result: { sandbox: { kind: "none" } } }],
    [agentbench, "run", { command: "exit 3" }, { data: { sandbox: "none" } }],
    [agentbench, "run", { command: "sleep 60", timeout_sec: 1 }, { data: { sandbox: "none" } }],
    [toolrouter, "shell", { command: "exit 3" }, { message: "it ran without a sandbox" }],
    [approvalgate, "run_code", { language: "bash", code: "exit 3" }, { value: { sandbox: "none" } }],
    [
      approvalgate,
      "run_code",
      { language: "bash", code: "sleep 60", timeout: 0.2 },
      { error: { details: { sandbox: "none" } } }
    ],
    [cliagent, "run_in_terminal", { command: "exit 3" }, { metadata: { sandbox: "none" } }],
    [cliagent, "run_in_terminal", { command: "no-such-program" }, { metadata: { sandbox: "none" } }],
    [cliagent, "run_in_terminal", { command: "sleep 60", timeout_seconds: 1 }, { metadata: { sandbox: "none" } }]
  ]

  it.each(marks)("say so in every reply, failures too (%#)", async (dialect, tool, params, told) => {
    const { host, workspace } = opened(noSandbox(), { dialect })
    const open = await host
    const reply = await open.call(tool, params)
    expect(reply.wire).toMatchObject(told)
    expect(reply.text).toContain("ran without a sandbox")
    await open.dispose()
    workspace.remove()
  })

  it("say so when they are asked for later", async () => {
    const { host, workspace } = opened(noSandbox(), { dialect: cliagent })
    const open = await host
    await open.call("run_in_terminal", { command: "true" })
    const reply = await open.call("terminal_last_command", {})
    expect(reply.wire).toMatchObject({ metadata: { sandbox: "none" } })
    await open.dispose()
    workspace.remove()
  })

  it("leave no code behind, however it ends", async () => {
    const { host, workspace } = opened(noSandbox(), { config: {} })
    const open = await host
    const left = () => readdirSync(tmpdir()).filter((name) => name.startsWith("haft-code."))
    const before = left()
    await open.call("run_code", { language: "bash", code: "sleep 60", timeout_ms: 100 })
    // One that is killed leaves its directory to the next.
    const stubborn = "trap '' TERM; kill -STOP $PPID; while :; do sleep 1; done"
    await open.call("run_code", { language: "bash", code: stubborn, timeout_ms: 100 })
    await open.call("run_code", { language: "bash", code: "true" })
    // Other tests run code of theirs meanwhile: what is left behind stays, theirs goes.
    await expect.poll(() => left().filter((name) => !before.includes(name))).toEqual([])
    await open.dispose()
    workspace.remove()
  })

  it("do not run where the host has none", async () => {
    const { host, workspace } = opened(refuseCommands)
    const open = await host
    const reply = await open.call("run_command", { command: "touch made" })
    expect(reply.wire).toMatchObject({ ok: false, error: { code: "sandbox_unavailable" } })
    expect(workspace.exists("made")).toBe(false)
    await open.dispose()
    workspace.remove()
  })

  it("get the network only where the host has a network policy", async () => {
    const { host, workspace } = opened(noSandbox(), { network: { allow: ["example.com"] } })
    const open = await host
    const reply = await open.call("run_command", { command: "true", network: true })
    expect(reply.ok).toBe(true)
    await open.dispose()
    workspace.remove()
  })

  it("refuse commands longer than the system takes", async () => {
    const { host, workspace } = opened(noSandbox())
    const open = await host
    const tooLong = [
      ["run_command", { command: `echo ${"x".repeat(140_000)}` }],
      ["run_command", { command: "true", env: { LONG: "x".repeat(140_000) } }],
      ["run_code", { language: "bash", code: "true", args: Array<string>(200_000).fill("x") }],
      ["run_code", { language: "bash", code: "true", args: Array<string>(40).fill("x".repeat(100_000)) }]
    ] as const
    for (const [tool, params] of tooLong) {
      const reply = await open.call(tool, params)
      expect(reply.wire).toMatchObject({ ok: false, error: { code: "invalid_params" } })
    }
    await open.dispose()
    workspace.remove()
  })
})
