import { autoSandbox } from "@haft/node"
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest"

import { openExecHost } from "../../test/host.ts"

interface Result {
  readonly exit_code: number
  readonly stdout: string
  readonly stderr: string
  readonly cwd: string | null
  readonly shell: "running" | "ended"
  readonly new_shell: boolean
}

const isLinux = process.platform === "linux"

const hosts = [
  { name: "without a sandbox", options: {} },
  ...(isLinux ? [{ name: "in the strongest sandbox that works", options: { sandbox: autoSandbox() } }] : [])
]

describe.each(hosts)("shell $name", ({ options }) => {
  const opened = openExecHost(options)
  afterAll(async () => (await opened).close())
  const call = async (params: object) => (await opened).host.call("shell", params)
  const run = async (command: string, more: object = {}): Promise<Result> => {
    const { wire } = await call({ command, timeout_ms: 20_000, ...more })
    const { result, error } = wire as { result?: Result; error?: object }
    if (result === undefined) throw new Error(JSON.stringify(error))
    return result
  }

  it("keeps directory, variables and functions, and tells both streams apart", async () => {
    const first = await run(
      "mkdir -p sub; cd sub; export A=1; b=2; greet() { echo hi; }; echo out; echo err >&2; (exit 3)"
    )
    expect(first).toMatchObject({ exit_code: 3, stdout: "out\n", stderr: "err\n", cwd: "sub", shell: "running" })
    expect(await run('greet; echo "$A $b"; basename "$PWD"')).toMatchObject({ exit_code: 0, stdout: "hi\n1 2\nsub\n" })
  })

  it("holds sessions apart, and restart ends one of them only", async () => {
    await run("x=one", { session_id: "a" })
    await run("x=two", { session_id: "b" })
    expect(await run('echo "$x"', { session_id: "a" })).toMatchObject({ stdout: "one\n", new_shell: false })
    expect(await run('echo "[$x]"', { session_id: "a", restart: true })).toMatchObject({
      stdout: "[]\n",
      new_shell: true
    })
    expect(await run('echo "$x"', { session_id: "b" })).toMatchObject({ stdout: "two\n" })
  })

  it("takes commands of many lines with every quote, and a syntax error leaves the shell alone", async () => {
    expect(await run("cat <<'END'\n'a' \"b\" $c `d` \\e !f\n+g\nEND\necho 'x'\\''y'")).toMatchObject({
      stdout: "'a' \"b\" $c `d` \\e !f\n+g\nx'y\n"
    })
    expect((await run("kept=1; if")).exit_code).not.toBe(0)
    expect((await run("echo 'open")).exit_code).not.toBe(0)
    expect(await run("echo on")).toMatchObject({ stdout: "on\n", new_shell: false })
  })

  it("replies with everything a command printed, on both streams, however soon it ends", async () => {
    for (let number = 0; number < 50; number++) {
      expect(await run(`echo out${number}; printf %s abcdef0123456789 >&2`)).toMatchObject({
        stdout: `out${number}\n`,
        stderr: "abcdef0123456789"
      })
    }
  })

  it("replies with what a command printed when it was interrupted", async () => {
    const command = "trap 'echo interrupted; exit 3' INT; (trap - INT; echo begun); while :; do sleep 0.1; done"
    const reply = await call({ command: `bash -c ${JSON.stringify(command)}`, timeout_ms: 1500 })
    expect(JSON.stringify(reply)).toContain("begun\\ninterrupted\\n")
    expect(await run("echo on")).toMatchObject({ stdout: "on\n", stderr: "" })
  })

  it.each([
    ["closes its streams", "exec >&- 2>&- <&-"],
    ["closes the shell's descriptors", "exec 7>&- 8>&- 9>&-"],
    ["redirects its streams for good", "exec >/dev/null 2>&1"],
    ["traces itself", "set -x; set +x"],
    ["defines functions named like the shell's own words", "printf() { :; }; eval() { :; }"],
    ["prints what looks like a report", "printf 'gone 0\\000'; printf 'gone 0\\000' >&7"],
    ["reads standard input", "cat; read line"],
    ["leaves a job in the background", "sleep 30 &"],
    ["defines an alias of a word that is needed", "alias command=false printf=false"]
  ])("survives a command that %s", async (_, command) => {
    const session_id = `survives-${command.length}`
    await run(`cd /; ${command}`, { session_id })
    expect(await run("echo still; pwd", { session_id })).toMatchObject({
      exit_code: 0,
      stdout: "still\n/\n",
      new_shell: false
    })
    await call({ session_id, restart: true })
    await call({ session_id, command: "exit" })
  })

  it.each([
    ["exit 7", 7],
    ["exec sh -c 'echo replaced; exit 4'", 4],
    ["kill -KILL $$", 137],
    ["set -e; false; echo unreached", 1]
  ])("reports the end of the shell by %s, and opens another for the next command", async (command, code) => {
    const session_id = "ends"
    expect(await run(command, { session_id })).toMatchObject({ exit_code: code, shell: "ended", cwd: null })
    expect(await run("echo anew", { session_id })).toMatchObject({ stdout: "anew\n", new_shell: true })
    await run("exit", { session_id })
  })

  it.each([
    ["waits for a program", "v=1; echo before; sleep 60; echo after"],
    ["loops in a function", "v=1; echo before; f() { while :; do sleep 1; done; }; f; echo after"]
  ])("interrupts a command that %s, and keeps the shell", async (_, command) => {
    const session_id = "slow"
    const { error } = await call({ command, session_id, timeout_ms: 500 })
    expect(error).toMatchObject({
      code: "timeout",
      details: { shell: "running" },
      output: { stdout: "before\n", exit_code: 130, timed_out: true }
    })
    expect(await run('echo "$v"', { session_id })).toMatchObject({ stdout: "1\n", new_shell: false })
  })

  it("ends a shell whose command ignores the interrupt, with all that it started", async () => {
    const session_id = "stubborn"
    const { workspace } = await opened
    const beat = "trap '' INT TERM; while :; do date +%N > beat; sleep 0.05; done"
    const { error } = await call({ command: beat, session_id, timeout_ms: 500 })
    expect(error).toMatchObject({ code: "timeout", details: { shell: "ended" } })
    const before = workspace.read("beat")
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(workspace.read("beat")).toBe(before)
    expect(await run("echo anew", { session_id })).toMatchObject({ stdout: "anew\n", new_shell: true })
  })

  it("interrupts a command whose call is cancelled", async () => {
    const { host, workspace } = await opened
    const abort = new AbortController()
    const params = { command: "kept=yes; echo x > begun; sleep 60", session_id: "cancelled" }
    const running = host.call("shell", params, { signal: abort.signal })
    await expect.poll(() => workspace.exists("begun")).toBe(true)
    abort.abort(new Error("enough"))
    await expect(running).rejects.toThrow("enough")
    expect(await run('echo "$kept"', { session_id: "cancelled" })).toMatchObject({ stdout: "yes\n", new_shell: false })
  })

  it("returns a flood cut to what a reply holds", async () => {
    const result = await run("head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end")
    expect(result.stdout.length).toBeLessThan(101_000)
    expect(result.stdout).toMatch(/x\nend\n$/)
  })
})

describe("shell", () => {
  it("asks about the command as it is, and about nothing when it only restarts", async () => {
    const { host, questions, events, close } = await openExecHost()
    await host.call("shell", { command: "echo a" })
    await host.call("shell", { restart: true })
    expect(questions.map(({ facts }) => facts.runs)).toEqual(["echo a"])
    expect(events.map(({ type }) => type)).toContain("sandbox_chosen")
    await close()
  })

  it("limits open shells, and one that ended makes room", async () => {
    const { host, close } = await openExecHost({ config: { maxShells: 1 } })
    await host.call("shell", { command: "echo a", session_id: "a" })
    expect((await host.call("shell", { command: "echo b", session_id: "b" })).error?.code).toBe("session_limit")
    await host.call("shell", { command: "exit", session_id: "a" })
    await expect.poll(async () => (await host.call("shell", { command: "echo b", session_id: "b" })).ok).toBe(true)
    await close()
  })

  it("ends a shell that is not used", async () => {
    const { host, close } = await openExecHost({ config: { shellIdleMs: 100 } })
    await host.call("shell", { command: "x=1" })
    await new Promise((resolve) => setTimeout(resolve, 600))
    const { output } = await host.call("shell", { command: "echo [$x]" })
    expect(output).toMatchObject({ stdout: "[]\n", new_shell: true })
    await close()
  })

  it("leaves nothing running when the host closes", async () => {
    const { host, workspace, close } = await openExecHost()
    await host.call("shell", { command: "(while :; do date +%N > beat; sleep 0.02; done) & echo $!" })
    await expect.poll(() => workspace.exists("beat")).toBe(true)
    await host.dispose()
    const before = workspace.read("beat")
    await new Promise((resolve) => setTimeout(resolve, 150))
    expect(workspace.read("beat")).toBe(before)
    await close()
  })
})

describe("a command in a shell", () => {
  it("is judged by the directory that the shell is in", async () => {
    const { host, workspace, questions, close } = await openExecHost()
    onTestFinished(close)
    workspace.put("d/e", { directory: true })
    const call = (command: string, more: object = {}) => host.call("shell", { command, ...more })
    for (const command of ["cd d/e", "true", "cd /", "true", "cd"]) expect((await call(command)).ok).toBe(true)
    await call("true", { restart: true })
    await call("true", { session_id: "other" })
    const judged = questions.map(({ facts: { runs, reads } }) => [runs, reads[0]])
    expect(judged).toEqual([
      ["cd d/e", "."],
      ["true", "d/e"],
      ["cd /", "d/e"],
      ["cd '/' && true", "."],
      ["cd '/' && cd", "."],
      ["true", "."],
      ["true", "."]
    ])
  })

  it("does not run where another call has changed the directory since it was judged", async () => {
    const { host, workspace, questions, close } = await openExecHost()
    onTestFinished(close)
    workspace.put("d", { directory: true })
    await host.call("shell", { command: "true" })
    const first = host.call("shell", { command: "sleep 0.5; cd d" })
    const second = host.call("shell", { command: "touch made" })
    expect((await first).ok).toBe(true)
    expect((await second).error?.code).toBe("stale_file")
    expect(questions).toHaveLength(3)
    expect(workspace.exists("d/made") || workspace.exists("made")).toBe(false)
  })
})

describe.skipIf(!isLinux)("control files that a shell makes", () => {
  const isMoved = (event: { readonly type: string }): boolean => event.type === "control_files_changed"

  it("are moved aside after the command that made them, reported and recorded", async () => {
    const { host, workspace, events, close } = await openExecHost({ sandbox: autoSandbox() })
    onTestFinished(close)
    const call = (command: string) => host.call("shell", { command, timeout_ms: 20_000 })
    expect((await call("true")).ok).toBe(true)
    const made = await call("mkdir -p d/.git/hooks && echo evil > .envrc && echo evil > d/.git/hooks/pre-commit")
    expect(made.wire).toMatchObject({
      result: { shell: "running", control_files: [{ path: ".envrc" }, { path: "d/.git/hooks/pre-commit" }] }
    })
    expect(made.text).toContain("[control files were moved out of the workspace: .envrc, d/.git/hooks/pre-commit]")
    expect(workspace.exists(".envrc") || workspace.exists("d/.git/hooks/pre-commit")).toBe(false)
    expect(events.filter(isMoved)).toHaveLength(1)
    const next = await call("true")
    expect(next.wire).not.toHaveProperty("result.control_files")
  })

  it("are moved aside when the shell ends, where a background job made them later", async () => {
    const { host, workspace, events, close } = await openExecHost({ sandbox: autoSandbox() })
    onTestFinished(close)
    await host.call("shell", { command: "(sleep 0.3; echo evil > .envrc) &", timeout_ms: 20_000 })
    await vi.waitFor(() => expect(workspace.exists(".envrc")).toBe(true), { timeout: 20_000 })
    await host.call("shell", { restart: true, timeout_ms: 20_000 })
    expect(workspace.exists(".envrc")).toBe(false)
    expect(events.filter(isMoved)).toHaveLength(1)
  })
})
