import { autoSandbox } from "@haft/node"
import { afterAll, describe, expect, it } from "vitest"

import { openExecHost } from "../../test/host.ts"

interface Shown {
  readonly process_id: string
  readonly state: "running" | "ended"
  readonly exit_code: number | null
  readonly signal: string | null
  readonly output: string
  readonly cursor: number
  readonly reason: string
  readonly matched?: string
}

const hosts = [
  { name: "without a sandbox", options: {} },
  ...(process.platform === "linux"
    ? [{ name: "in the strongest sandbox that works", options: { sandbox: autoSandbox() } }]
    : [])
]

const listener = (port: number) =>
  `exec node -e 'require("node:net").createServer().listen(${port}, "127.0.0.1", () => console.log("up"))'`

describe.each(hosts)("background processes $name", ({ options }) => {
  const opened = openExecHost(options)
  afterAll(async () => (await opened).close())
  const call = async (tool: string, params: object): Promise<Shown> => {
    const { wire } = await (await opened).host.call(tool, params)
    const { result, error } = wire as { result?: Shown; error?: object }
    if (result === undefined) throw new Error(JSON.stringify(error))
    return result
  }
  const start = (command: string, more: object = {}) => call("start_process", { command, ...more })

  it("go on after the call that started them, and are read since a cursor", async () => {
    const { process_id, state } = await start("echo one; until [ -e go ]; do sleep 0.02; done; echo two >&2; exit 5")
    expect(state).toBe("running")
    const first = await call("wait_for", { process_id, pattern: "^one$" })
    expect(first).toMatchObject({ reason: "pattern", matched: "one" })
    await (await opened).host.call("run_command", { command: "touch go" })
    const last = await call("wait_for", { process_id })
    expect(last).toMatchObject({ reason: "exit", state: "ended", exit_code: 5 })
    expect(await call("read_output", { process_id, cursor: 0 })).toMatchObject({ output: "one\ntwo\n", cursor: 8 })
    expect(await call("read_output", { process_id, cursor: 4 })).toMatchObject({ output: "two\n" })
    expect(await call("read_output", { process_id })).toMatchObject({ output: "" })
    expect(await call("read_output", { process_id, tail_lines: 1 })).toMatchObject({ output: "two\n" })
    expect(await call("read_output", { process_id, search: "^o.e$" })).toMatchObject({ output: "one\n" })
  })

  it("that die at once say so in the first reply", async () => {
    expect(await start("echo no; exit 3", { wait_ms: 10_000 })).toMatchObject({
      state: "ended",
      exit_code: 3,
      output: "no\n"
    })
  })

  it("are waited for until they listen on a port, and a port that never opens ends in a time-out", async () => {
    const port = 20_000 + (process.pid % 20_000)
    const { process_id } = await start(listener(port))
    expect(await call("wait_for", { process_id, port: port + 1, timeout_ms: 150 })).toMatchObject({ reason: "timeout" })
    expect(await call("wait_for", { process_id, port })).toMatchObject({ reason: "port", state: "running" })
    expect(await call("stop_process", { process_id })).toMatchObject({ state: "ended", was_running: true })
  })

  it("that fall quiet, and those that never do", async () => {
    const quiet = await start("echo a; sleep 60")
    expect(await call("wait_for", { process_id: quiet.process_id, quiet_ms: 150 })).toMatchObject({ reason: "quiet" })
    await call("stop_process", { process_id: quiet.process_id })
    const loud = await start("while :; do echo x; sleep 0.05; done")
    expect(await call("wait_for", { process_id: loud.process_id, quiet_ms: 5000, timeout_ms: 400 })).toMatchObject({
      reason: "timeout"
    })
    await call("stop_process", { process_id: loud.process_id })
  })

  it("that flood stay bounded, and can be stopped", async () => {
    const { process_id } = await start("yes")
    const { output } = await call("read_output", { process_id, max_bytes: 1000 })
    expect(output.length).toBeLessThan(1200)
    const stopped = await call("stop_process", { process_id, max_bytes: 1000 })
    expect(stopped).toMatchObject({ state: "ended", truncated: true })
    const kept = await call("read_output", { process_id, cursor: 0, max_bytes: 1_000_000 })
    expect(kept.output.length).toBeLessThanOrEqual(1_000_200)
  })

  it("that ignore SIGTERM or fork away are ended for good", async () => {
    const { workspace } = await opened
    const beat = "while :; do date +%N > forked; sleep 0.02; done"
    const { process_id } = await start(`trap '' TERM; (setsid sh -c '${beat}' &); ${beat}`)
    await expect.poll(() => workspace.exists("forked")).toBe(true)
    expect(await call("stop_process", { process_id })).toMatchObject({ state: "ended", was_running: true })
    const before = workspace.read("forked")
    await new Promise((resolve) => setTimeout(resolve, 150))
    expect(workspace.read("forked")).toBe(before)
    expect(await call("stop_process", { process_id })).toMatchObject({ state: "ended", was_running: false })
  })

  it("are listed with what is unread", async () => {
    const { process_id } = await start("echo a; sleep 60", { wait_ms: 0 })
    await call("wait_for", { process_id, pattern: "a" })
    const { wire, text } = await (await opened).host.call("list_processes", {})
    const { processes } = (wire as { result: { processes: ReadonlyArray<Shown> } }).result
    expect(processes.find((listed) => listed.process_id === process_id)).toMatchObject({
      state: "running",
      command: "echo a; sleep 60",
      cwd: ".",
      unread_bytes: 0
    })
    expect(text).toContain(`${process_id} is running: echo a; sleep 60`)
    await call("stop_process", { process_id })
  })
})

describe("background processes", () => {
  it("are limited, and an ended one makes room", async () => {
    const { host, close } = await openExecHost({ config: { maxProcesses: 1 } })
    const first = await host.call("start_process", { command: "sleep 60" })
    const { process_id } = first.output as Shown
    expect((await host.call("start_process", { command: "echo b" })).error?.code).toBe("session_limit")
    await host.call("stop_process", { process_id })
    expect((await host.call("start_process", { command: "echo b" })).ok).toBe(true)
    expect((await host.call("read_output", { process_id })).error?.code).toBe("session_not_found")
    await close()
  })

  it("end after their longest lifetime, and ended ones are forgotten after a while", async () => {
    const { host, close } = await openExecHost({ config: { maxLifetimeMs: 200, keepEndedMs: 300 } })
    const { output } = await host.call("start_process", { command: "sleep 60", wait_ms: 5000 })
    const { process_id } = output as Shown
    expect(output).toMatchObject({ state: "ended" })
    await expect
      .poll(async () => (await host.call("read_output", { process_id })).error?.code)
      .toBe("session_not_found")
    await close()
  })

  it("belong to the caller who started them", async () => {
    const { host, close } = await openExecHost()
    const mine = { caller: { name: "one", role: "caller" } }
    const { output } = await host.call("start_process", { command: "sleep 60" }, mine)
    const { process_id } = output as Shown
    const others = { caller: { name: "two", role: "caller" } }
    expect((await host.call("read_output", { process_id }, others)).error?.code).toBe("session_not_found")
    expect((await host.call("list_processes", {}, others)).output).toEqual({ processes: [] })
    await host.call("shell", { command: "x=1" }, mine)
    expect((await host.call("shell", { command: "echo [$x]" }, others)).output).toMatchObject({ stdout: "[]\n" })
    await close()
  })

  it("end with the host", async () => {
    const { host, workspace, close } = await openExecHost()
    await host.call("start_process", { command: "while :; do date +%N > beat; sleep 0.02; done" })
    await expect.poll(() => workspace.exists("beat")).toBe(true)
    await host.dispose()
    const before = workspace.read("beat")
    await new Promise((resolve) => setTimeout(resolve, 150))
    expect(workspace.read("beat")).toBe(before)
    await close()
  })

  it("are found by patterns that take bounded time", async () => {
    const { host, close } = await openExecHost()
    const { output } = await host.call("start_process", { command: "printf 'a%.0s' {1..40}; echo b", wait_ms: 5000 })
    const { process_id } = output as Shown
    const slow = await host.call("read_output", { process_id, search: "^(a+)+$" })
    expect(slow.error).toMatchObject({ code: "invalid_pattern" })
    expect((await host.call("wait_for", { process_id, pattern: "(" })).error?.code).toBe("invalid_pattern")
    await close()
  })

  it("are searched in slices, so that other calls go on meanwhile", async () => {
    const { host, close } = await openExecHost()
    const command = "yes 'a line of some length that is repeated' | head -c 1000000"
    const { output } = await host.call("start_process", { command, wait_ms: 10_000, max_bytes: 1000 })
    const { process_id } = output as Shown
    let turns = 0
    const count = (): void => void (turns++, (counting = setImmediate(count)))
    let counting = setImmediate(count)
    const found = await host.call("read_output", { process_id, search: "^a line.*repeated$", max_bytes: 1000 })
    clearImmediate(counting)
    expect(found).toMatchObject({ ok: true, output: { truncated: true } })
    expect(turns).toBeGreaterThan(5)
    await close()
  })
})
