import { spawn } from "node:child_process"
import { once } from "node:events"
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync } from "node:fs"
import { join } from "node:path"

import { type Command, type ProcessEnd, Processes, type RunningProcess, type RunOptions } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { afterAll, describe, expect, it, vi } from "vitest"

import { groupParents } from "./launcher/cgroup.ts"
import { type LaunchOptions, withLaunch } from "./prepared-launch.ts"
import { countCarriers } from "./process-table.ts"
import { directProcesses, nodeProcesses } from "./processes.ts"
import { chooseBase } from "./runtime-directory.ts"

const isLinux = process.platform === "linux"

const unused: Command = { program: "", args: [], directory: "/", env: {} }

const ways: ReadonlyArray<readonly [string, Layer.Layer<Processes>]> = [
  ["through the launcher", nodeProcesses],
  ["directly", directProcesses]
]

describe.runIf(isLinux).each(ways)("programs started %s", (_, layer) => {
  const runtime = ManagedRuntime.make(layer)
  afterAll(() => runtime.dispose())

  const start = (code: string, options: RunOptions = {}, more: Partial<Command> = {}) => {
    const output = { stdout: "", stderr: "" }
    const command: Command = {
      program: "bash",
      args: ["-c", code],
      directory: "/",
      env: { PATH: "/usr/bin:/bin" },
      ...more
    }
    return Processes.use((processes) =>
      processes.run(command, {
        onStdout: (chunk) => (output.stdout += Buffer.from(chunk).toString()),
        onStderr: (chunk) => (output.stderr += Buffer.from(chunk).toString()),
        ...options
      })
    ).pipe(Effect.map((end) => ({ ...end, ...output })))
  }
  const run = (...args: Parameters<typeof start>) => runtime.runPromise(start(...args))

  it("have a control channel to standard input and from a descriptor of its own", async () => {
    let reported = ""
    const { promise: started, resolve } = Promise.withResolvers<RunningProcess>()
    const running = run('while read -r line; do echo "out $line"; echo "report $line" >&7; done', {
      onReport: (chunk) => (reported += Buffer.from(chunk).toString()),
      onStarted: resolve
    })
    const { send, stop } = await started
    send("one\n")
    send(`${"x".repeat(100_000)}\n`)
    await expect.poll(() => reported, { timeout: 10_000 }).toBe(`report one\nreport ${"x".repeat(100_000)}\n`)
    await Effect.runPromise(stop)
    expect(await running).toMatchObject({
      stdout: `out one\nout ${"x".repeat(100_000)}\n`,
      timedOut: false,
      exitCode: null
    })
  })

  const ended = (exitCode: number, more: Partial<ProcessEnd & { stdout: string; stderr: string }> = {}) => ({
    exitCode,
    signal: null,
    timedOut: false,
    durationMs: expect.any(Number),
    leftRunning: 0,
    stdout: "",
    stderr: "",
    ...more
  })

  const livingWith = (word: string): Promise<number> => countCarriers(`WORD=${word}`)

  it("report output and exit code", async () => {
    expect(await run("echo out; echo err >&2; exit 3")).toEqual(ended(3, { stdout: "out\n", stderr: "err\n" }))
  })

  it("get their arguments byte for byte", async () => {
    const odd = ["", "a b", "it's", '"quoted"', "$HOME `id` \\", "line\nbreak", "Á é 日本 🙂", "-n", "*"]
    const { stdout } = await run("", {}, { program: "printf", args: ["%s\\0", ...odd] })
    expect(stdout.split("\0").slice(0, -1)).toEqual(odd)
  })

  it("see the environment they were given and nothing of the host's", async () => {
    const { stdout } = await run(
      "env",
      {},
      { program: "env", args: [], env: { PATH: "/usr/bin:/bin", "odd.name": "x y" } }
    )
    const names = stdout.split("\n").map((line) => line.split("=")[0])
    expect(new Set(names)).toEqual(new Set(["", "HAFT_CALL", "PATH", "odd.name"]))
  })

  it("have a closed standard input unless they are given one", async () => {
    expect(await run("cat; echo done")).toEqual(ended(0, { stdout: "done\n" }))
    expect(await run("", {}, { program: "cat", args: [], stdin: "fed" })).toEqual(ended(0, { stdout: "fed" }))
  })

  it("that do not exist are not found, and those that may not run are refused", async () => {
    await expect(run("", {}, { program: "no-such-program" })).rejects.toMatchObject({ code: "command_not_found" })
    await expect(run("", {}, { program: "/etc/passwd" })).rejects.toMatchObject({ code: "permission_denied" })
    await expect(run("", {}, { directory: "/no/such/place" })).rejects.toMatchObject({ code: "sandbox_error" })
  })

  it("that end by a signal say which, and not those that choose a signal's number", async () => {
    expect(await run("kill -9 $$")).toEqual(ended(0, { exitCode: null, signal: "SIGKILL" }))
    expect(await run("kill -TERM $$")).toEqual(ended(0, { exitCode: null, signal: "SIGTERM" }))
    for (const code of [130, 137, 143, 200, 255]) expect(await run(`exit ${code}`)).toEqual(ended(code))
  })

  it("ignore no signal", async () => {
    const { stdout } = await run("grep SigIgn /proc/self/status")
    // Those above 31 are the C library's own.
    const standard = Number.parseInt(stdout.replace("SigIgn:", "").trim(), 16) % 2 ** 31
    expect(standard).toBe(0)
  })

  it("do not hold the call while a background child holds the pipe", async () => {
    const word = `background-${process.pid}-${Math.random()}`
    const reply = await run("sleep 600 & echo started", {}, { env: { PATH: "/usr/bin:/bin", WORD: word } })
    expect(reply).toEqual(ended(0, { stdout: "started\n", leftRunning: 1 }))
  })

  it("leave nothing running once the host is closed", async () => {
    const word = `left-${process.pid}-${Math.random()}`
    const other = ManagedRuntime.make(layer)
    const more = { env: { PATH: "/usr/bin:/bin", WORD: word } }
    const left = "trap '' TERM; sleep 600 & sleep 600 & echo started"
    expect(await other.runPromise(start(left, {}, more))).toMatchObject({ exitCode: 0, leftRunning: 2 })
    expect(await livingWith(word)).toBe(2)
    await other.dispose()
    await expect.poll(() => livingWith(word)).toBe(0)
  })

  it("die at the time-out with everything they started, in sessions of their own too", async () => {
    const word = `timeout-${process.pid}-${Math.random()}`
    const env = { PATH: "/usr/bin:/bin", WORD: word }
    const code = "setsid sleep 61 & (setsid sh -c 'sleep 62 & sleep 63' &) ; trap '' TERM; sleep 64; sleep 65"
    const reply = await run(code, { timeoutMs: 200 }, { env })
    expect(reply).toMatchObject({ timedOut: true, leftRunning: 0 })
    expect(await livingWith(word)).toBe(0)
  })

  it("are given a moment to clean up", async () => {
    const code = "trap 'echo cleaned; exit 0' TERM; echo ready; while :; do sleep 0.02; done"
    const reply = await run(code, { timeoutMs: 500 })
    expect(reply).toMatchObject({ timedOut: true, stdout: "ready\ncleaned\n" })
  })

  it("die when the call is interrupted, early or late", async () => {
    for (const delay of [0, 1, 3, 10, 50]) {
      const word = `interrupt-${process.pid}-${Math.random()}`
      const env = { PATH: "/usr/bin:/bin", WORD: word }
      await runtime.runPromise(
        Effect.gen(function* () {
          const fiber = yield* Effect.forkChild(start("setsid sleep 66 & sleep 67", {}, { env }), {
            startImmediately: true
          })
          yield* Effect.sleep(delay)
          yield* Fiber.interrupt(fiber)
        })
      )
      expect(await livingWith(word)).toBe(0)
    }
  })

  it("may close their output early", async () => {
    expect(await run("exec >&- 2>&-; sleep 0.05; exit 4")).toEqual(ended(4))
  })

  it("run many at a time without mixing anything up", async () => {
    const numbers = Array.from({ length: 40 }, (_, index) => index)
    const replies = await Promise.all(numbers.map((number) => run(`echo ${number}; exit ${number}`)))
    expect(replies).toEqual(numbers.map((number) => ended(number, { stdout: `${number}\n` })))
  })

  it("do what is left to do once they are gone", async () => {
    const done: Array<string> = []
    const note = (word: string) => Effect.sync(() => void done.push(word))
    const launch = (options: LaunchOptions) => ({ handle: withLaunch(unused, options).handle ?? {} })
    await run("true", {}, launch({ afterEnd: note("after") }))
    await run("sleep 60", { timeoutMs: 50 }, launch({ afterEnd: note("after"), alsoKill: note("kill") }))
    expect(done).toEqual(["after", "kill", "after"])
  })
})

describe.runIf(isLinux)("the launcher", () => {
  it("holds a program to the address space it was given, and only that one", async () => {
    const runtime = ManagedRuntime.make(nodeProcesses)
    const env = { PATH: "/usr/bin:/bin" }
    const limitsOf = async (more: RunOptions) => {
      let said = ""
      const command: Command = { program: "bash", args: ["-c", "ulimit -v; ulimit -c"], directory: "/", env }
      await runtime.runPromise(
        Processes.use(({ run }) =>
          run(command, { ...more, onStdout: (chunk) => (said += Buffer.from(chunk).toString()) })
        )
      )
      return said.split("\n", 2)
    }
    const before = await limitsOf({})
    expect(await limitsOf({ addressSpaceBytes: 2 ** 30 })).toEqual([String(2 ** 20), "0"])
    expect(await limitsOf({})).toEqual(before)
    await runtime.dispose()
  })

  it("hands over real pipes, which can be opened again by name", async () => {
    const runtime = ManagedRuntime.make(nodeProcesses)
    let stderr = ""
    const command = {
      program: "sh",
      args: ["-c", "echo hi > /dev/stderr"],
      directory: "/",
      env: { PATH: "/usr/bin:/bin" }
    }
    const end = await runtime.runPromise(
      Processes.use((processes) => processes.run(command, { onStderr: (chunk) => (stderr += Buffer.from(chunk)) }))
    )
    expect([end.exitCode, stderr]).toEqual([0, "hi\n"])
    await runtime.dispose()
  })

  it("starts nothing for a host that is closed", async () => {
    const runtime = ManagedRuntime.make(nodeProcesses)
    const processes = await runtime.runPromise(Processes)
    await runtime.dispose()
    const command = { program: "true", args: [], directory: "/", env: { PATH: "/usr/bin:/bin" } }
    await expect(Effect.runPromise(processes.run(command))).rejects.toThrow("the host is closed")
  })

  describe("of a host", () => {
    const runtime = ManagedRuntime.make(nodeProcesses)
    afterAll(() => runtime.dispose())
    const run = (code: string, options: RunOptions = {}) => {
      const command = { program: "sh", args: ["-c", code], directory: "/", env: { PATH: "/usr/bin:/bin" } }
      return runtime.runPromise(Processes.use((processes) => processes.run(command, options)))
    }

    it("finds daemons that left their session, their parent and their environment", async () => {
      const seconds = `${700_000 + (process.pid % 90_000)}.1`
      const daemon = `(env -i setsid sleep ${seconds} &)`
      expect(await run(`${daemon}; sleep 60`, { timeoutMs: 300 })).toMatchObject({ timedOut: true })
      expect(sleepersFor(seconds)).toBe(0)
      expect(await run(daemon)).toMatchObject({ exitCode: 0, leftRunning: 1 })
      // Processes that one command left behind are not the next one's.
      expect(await run("sleep 60", { timeoutMs: 100 })).toMatchObject({ timedOut: true })
      expect(sleepersFor(seconds)).toBe(1)
      expect(await run("true")).toMatchObject({ exitCode: 0, leftRunning: 0 })
    })

    it("ends a command that kills what watches over it, and does not claim to know how it ended", async () => {
      const seconds = `${700_000 + (process.pid % 90_000)}.2`
      await expect(run(`kill -9 $PPID; sleep ${seconds}`)).rejects.toMatchObject({ code: "sandbox_error" })
      expect(sleepersFor(seconds)).toBe(0)
      expect(await run("true")).toMatchObject({ exitCode: 0 })
    })
  })

  it("hands nothing on that the host itself was started with", async () => {
    const code = `
      import { Processes } from "@haft/core"
      import * as ManagedRuntime from "effect/ManagedRuntime"
      import { nodeProcesses } from ${JSON.stringify(new URL("processes.ts", import.meta.url).href)}
      const command = { program: "sh", args: ["-c", "readlink /proc/self/fd/*"], directory: "/", env: { PATH: "/usr/bin:/bin" } }
      const runtime = ManagedRuntime.make(nodeProcesses)
      await runtime.runPromise(Processes.use((processes) => processes.run(command, { onStdout: (chunk) => process.stdout.write(chunk.slice()) })))
      await runtime.dispose()`
    const words = ["--conditions=@haft/source", "--input-type=module", "-e", code]
    const directory = openSync("/usr/share", "r")
    // Node itself closes the first few that it was given.
    const nothing = Array.from({ length: 40 }, () => "ignore" as const)
    const host = spawn(process.execPath, words, {
      cwd: new URL(".", import.meta.url),
      stdio: ["ignore", "pipe", "inherit", ...nothing, directory]
    })
    let said = ""
    host.stdout?.on("data", (chunk: Buffer) => (said += chunk.toString()))
    await once(host, "close")
    closeSync(directory)
    expect(said).toContain("/dev/null")
    expect(said).not.toContain("/usr/share")
  })

  it("ends what was left running when the host closes", async () => {
    const runtime = ManagedRuntime.make(nodeProcesses)
    const word = `closing-${process.pid}-${Math.random()}`
    const env = { PATH: "/usr/bin:/bin", WORD: word }
    const command = { program: "sh", args: ["-c", "setsid sleep 68 >/dev/null 2>&1 & sleep 0.2"], directory: "/", env }
    const end = await runtime.runPromise(Processes.use((processes) => processes.run(command)))
    expect(end.leftRunning).toBe(1)
    await runtime.dispose()
    expect(await countCarriers(`WORD=${word}`)).toBe(0)
  })

  it("leaves no pipes and no groups when the host closes", async () => {
    const runtime = ManagedRuntime.make(nodeProcesses)
    const command = { program: "true", args: [], directory: "/", env: { PATH: "/usr/bin:/bin" } }
    const limits = { memoryBytes: 2 ** 28, processes: 20 }
    const before = ownThings()
    await runtime.runPromise(Processes.use((processes) => processes.run(withLaunch(command, { limits }))))
    expect(ownThings().length).toBeGreaterThan(before.length)
    await runtime.dispose()
    expect(ownThings()).toEqual(before)
  })

  it("holds little for commands that are over", async () => {
    const runtime = ManagedRuntime.make(nodeProcesses)
    const command = { program: "sleep", args: ["0.2"], directory: "/", env: { PATH: "/usr/bin:/bin" } }
    const before = openPipes()
    const run = Processes.use((processes) => processes.run(command))
    await runtime.runPromise(
      Effect.all(
        Array.from({ length: 12 }, () => run),
        { concurrency: "unbounded" }
      )
    )
    await vi.waitFor(() => expect(openPipes() - before).toBeLessThan(6), { timeout: 60_000, interval: 100 })
    expect(await runtime.runPromise(run)).toMatchObject({ exitCode: 0 })
    await runtime.dispose()
  })

  it("ends everything when the host is killed with SIGKILL", async () => {
    const seconds = `${800_000 + (process.pid % 90_000)}.${Date.now() % 100_000}`
    const host = spawn(
      process.execPath,
      ["--conditions=@haft/source", "--input-type=module", "-e", hostCode(seconds)],
      { cwd: new URL(".", import.meta.url), stdio: ["ignore", "pipe", "inherit"] }
    )
    await new Promise((resolve) => host.stdout.once("data", resolve))
    expect(sleepersFor(seconds)).toBe(3)
    host.kill("SIGKILL")
    await vi.waitFor(() => expect(sleepersFor(seconds)).toBe(0), { timeout: 60_000, interval: 20 })
  })
})

/** Temporary files and cgroups of this process. */
const ownThings = (): ReadonlyArray<string> =>
  [chooseBase([]), ...groupParents()]
    .flatMap((directory) => readdirSync(directory).map((name) => join(directory, name)))
    .filter((path) => /\/haft-(?:pipes|group)-/.test(path) && path.includes(`-${process.pid}-`))

/** Named pipes that this process holds open. */
const openPipes = (): number =>
  readdirSync("/proc/self/fd").filter((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`).includes("/haft-pipes-")
    } catch {
      return false
    }
  }).length

const hostCode = (seconds: string): string => `
  import { Processes } from "@haft/core"
  import * as ManagedRuntime from "effect/ManagedRuntime"
  import { nodeProcesses } from ${JSON.stringify(new URL("processes.ts", import.meta.url).href)}
  const code = "sleep ${seconds} & (setsid sleep ${seconds} &) ; echo on; sleep ${seconds}; true"
  const command = { program: "sh", args: ["-c", code], directory: "/", env: { PATH: "/usr/bin:/bin" } }
  const onStdout = () => setTimeout(() => console.log("running"), 200)
  await ManagedRuntime.make(nodeProcesses).runPromise(Processes.use((processes) => processes.run(command, { onStdout })))
`

const sleepersFor = (seconds: string): number =>
  readdirSync("/proc").filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8") === `sleep\0${seconds}\0`
    } catch {
      return false
    }
  }).length
