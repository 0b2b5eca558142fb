import { type ChildProcess, execFile, spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { promisify } from "node:util"

import { describe, expect, it } from "@effect/vitest"
import { memoryArtifacts, memoryJournal, type ToolError } from "@haft/core"
import { nodeProcesses } from "@haft/node"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"

import { type TerminalHost, withTerminals } from "../../test/host.ts"
import { appeared, carrying, gone, uniqueSleep } from "../../test/processes.ts"
import { loadNative } from "./native.ts"
import { terminals, Terminals, terminalsConfig } from "./terminals.ts"

const listed = (host: TerminalHost) =>
  Effect.map(host.call("list_terminals", {}), ({ wire }) =>
    (wire as { result: { terminals: Array<{ terminal_id: string; state: string }> } }).result.terminals.map(
      ({ terminal_id, state }) => [terminal_id, state] as const
    )
  )

describe.concurrent("closing", () => {
  const escapes = [
    ["a job in the background", (s: string) => `${s} & ${s}`],
    ["a program in a session of its own", (s: string) => `setsid ${s} & sleep 0.2; cat`],
    ["a program that forked twice", (s: string) => `(setsid bash -c '${s} & ${s} & wait' &) ; sleep 0.2; cat`],
    ["a program deaf to hanging up, ending and interrupting", (s: string) => `trap '' HUP TERM INT; ${s}; ${s}`]
  ] as const

  it.live.each(escapes)("ends %s", ([, code]) =>
    withTerminals(({ open, call }) =>
      Effect.gen(function* () {
        const word = uniqueSleep()
        const { terminal_id } = yield* open({ command: code(word), yield_time_ms: 500 })
        yield* Effect.promise(() => appeared(word, 1))
        const { wire } = yield* call("close_terminal", { terminal_id })
        expect(wire).toMatchObject({ ok: true, result: { state: "ended", was_running: true } })
        expect(carrying(word)).toEqual([])
      })
    )
  )

  it.live("ends what a program left behind when it ended by itself", () =>
    withTerminals(({ run }) =>
      Effect.gen(function* () {
        const word = uniqueSleep()
        yield* run({ command: `setsid nohup ${word} >/dev/null 2>&1 & sleep 0.3` })
        expect(yield* Effect.promise(() => gone(word))).toBe(true)
      })
    )
  )

  it.live("comes with the end of the host", () => {
    const word = uniqueSleep()
    return withTerminals(({ open }) =>
      Effect.gen(function* () {
        yield* Effect.forEach(
          Array.from({ length: 4 }),
          () => open({ command: `setsid ${word} & ${word}`, yield_time_ms: 250 }),
          { concurrency: 4 }
        )
        yield* Effect.promise(() => appeared(word, 4))
      })
    ).pipe(Effect.tap(() => Effect.sync(() => expect(carrying(word)).toEqual([]))))
  })

  it.live.each(["SIGKILL", "SIGTERM"] as const)("comes with the death of the host by %s", (signal) =>
    Effect.promise(async () => {
      const word = uniqueSleep()
      const script = new URL("../../test/doomed-host.ts", import.meta.url).pathname
      const command = `setsid nohup ${word} & trap '' HUP; ${word}`
      const host = spawn(process.execPath, ["--conditions=@haft/source", script, command], {
        stdio: ["ignore", "pipe", "ignore"]
      })
      try {
        await said(host, "opened")
        expect(carrying(word).length).toBeGreaterThan(1)
      } finally {
        host.kill(signal)
      }
      expect(await gone(word)).toBe(true)
    })
  )
})

const said = async (child: ChildProcess, word: string): Promise<void> => {
  for await (const line of createInterface({ input: child.stdout ?? process.stdin })) if (line.includes(word)) return
}

describe.concurrent("limits", () => {
  it.live("let the ended terminal go first that was not used for longest, and then refuse", () =>
    withTerminals(
      (host) =>
        Effect.gen(function* () {
          const { open, run, write, call } = host
          const first = yield* run({ command: "echo first" })
          const second = yield* run({ command: "echo second" })
          const third = yield* open({ command: "cat", yield_time_ms: 250 })
          yield* write(first.terminal_id)
          const fourth = yield* open({ command: "cat", yield_time_ms: 250 })
          expect(yield* listed(host)).toEqual([
            [first.terminal_id, "ended"],
            [third.terminal_id, "running"],
            [fourth.terminal_id, "running"]
          ])
          expect((yield* call("write_terminal", { terminal_id: second.terminal_id })).error?.code).toBe(
            "session_not_found"
          )
          yield* open({ command: "cat", yield_time_ms: 250 })
          expect((yield* call("open_terminal", {})).error).toMatchObject({
            code: "session_limit",
            message: "3 terminals are open, and that is the limit",
            details: { limit: 3 }
          })
          yield* call("close_terminal", { terminal_id: third.terminal_id })
          expect((yield* call("open_terminal", { command: "cat", yield_time_ms: 250 })).ok).toBe(true)
        }),
      { config: { maxSessions: 3 } }
    )
  )

  it.live("are 64 terminals when nothing else is said, however many are asked for at once", () =>
    withTerminals(
      ({ call }) =>
        Effect.gen(function* () {
          const replies = yield* Effect.forEach(
            Array.from({ length: 66 }),
            () => call("open_terminal", { command: "cat", yield_time_ms: 250 }),
            { concurrency: 66 }
          )
          expect(replies.filter(({ ok }) => ok)).toHaveLength(64)
          expect(replies.filter(({ error }) => error?.code === "session_limit")).toHaveLength(2)
        }),
      { config: { recording: false } }
    )
  )

  it.live("close an idle terminal without output", () =>
    withTerminals(
      (host) =>
        Effect.gen(function* () {
          const { terminal_id } = yield* host.open({ command: "cat", yield_time_ms: 250 })
          const { state, signal } = yield* host.write(terminal_id, { yield_time_ms: 30_000 })
          expect({ state, signal }).toEqual({ state: "ended", signal: "SIGHUP" })
        }),
      { config: { idleTimeoutMs: 700 } }
    )
  )

  it.live("close a terminal after its lifetime, however busy it is", () =>
    withTerminals(
      (host) =>
        Effect.gen(function* () {
          const { terminal_id } = yield* host.open({ command: "while :; do echo x; sleep 0.05; done" })
          const { state } = yield* host.write(terminal_id, { yield_time_ms: 30_000, quiet_ms: 30_000 })
          expect(state).toBe("ended")
        }),
      { config: { maxLifetimeMs: 1500, idleTimeoutMs: 600 } }
    )
  )

  it.live("forget an ended terminal after a while", () =>
    withTerminals(
      (host) =>
        Effect.gen(function* () {
          const { terminal_id } = yield* host.run({ command: "echo bye" })
          let error: ToolError | undefined
          while (error === undefined) ({ error } = yield* host.call("write_terminal", { terminal_id }))
          expect(error.code).toBe("session_not_found")
          expect(yield* listed(host)).toEqual([])
        }),
      { config: { keepEndedMs: 100 } }
    )
  )
})

describe.concurrent("a terminal", () => {
  it.live("outlives the call that opened it, also when that call is cancelled", () =>
    withTerminals((host) =>
      Effect.gen(function* () {
        const opening = yield* Effect.forkChild(
          host.call("open_terminal", { command: "echo up; sleep 100", yield_time_ms: 30_000, quiet_ms: 30_000 })
        )
        let open = yield* listed(host)
        while (open.length === 0) {
          yield* Effect.sleep(10)
          open = yield* listed(host)
        }
        yield* Fiber.interrupt(opening)
        const [id] = open[0] ?? [""]
        expect(yield* host.until(id, /up/)).toBe("up\r\n")
      })
    )
  )

  it.live("says what to do where the native module does not load", () =>
    Effect.gen(function* () {
      const { open } = yield* Terminals
      const error = yield* Effect.flip(
        open({
          command: { program: "true", args: [], directory: "/", env: {} },
          commandLine: "true",
          directory: ".",
          size: { cols: 80, rows: 24 },
          term: "dumb",
          mark: { name: "A", value: "b" }
        })
      )
      expect(error.code).toBe("terminal_unavailable")
      expect(error.message).toContain(`does not load on ${process.platform}-${process.arch}`)
      expect(error.suggestion).toContain("Install it again")
    }).pipe(
      Effect.provide(
        terminals(
          terminalsConfig.parse(undefined),
          loadNative(() => Promise.reject(new Error("no binary")))
        ).pipe(Layer.provide(Layer.mergeAll(nodeProcesses, memoryArtifacts(), memoryJournal())))
      )
    )
  )

  it.live("is refused in words when the machine has none left", () =>
    Effect.gen(function* () {
      const { open } = yield* Terminals
      const error = yield* Effect.flip(
        open({
          command: { program: "true", args: [], directory: "/", env: {} },
          commandLine: "true",
          directory: ".",
          size: { cols: 80, rows: 24 },
          term: "dumb",
          mark: { name: "A", value: "b" }
        })
      )
      expect(error).toMatchObject({ code: "terminal_unavailable", retryable: true })
      expect(error.message).toContain("forkpty(3) failed")
    }).pipe(
      Effect.provide(
        terminals(
          terminalsConfig.parse({}),
          loadNative(() =>
            Promise.resolve({
              spawn: () => {
                throw new Error("forkpty(3) failed.")
              }
            })
          )
        ).pipe(Layer.provide(Layer.mergeAll(nodeProcesses, memoryArtifacts(), memoryJournal())))
      )
    )
  )
})

describe.concurrent("in a process of its own", () => {
  const rounds = process.env["HAFT_LONG"] === "1" ? 1000 : 50
  const measure = async (script: URL, argument: number): Promise<Readonly<Record<string, number>>> => {
    const options = ["--expose-gc", "--conditions=@haft/source", script.pathname, String(argument)]
    const { stdout } = await promisify(execFile)(process.execPath, options)
    return JSON.parse(stdout) as Record<string, number>
  }

  it(`${rounds} terminals, opened and closed, leave no descriptor, no process and no memory to speak of`, async () => {
    const left = await measure(new URL("../../test/rounds.ts", import.meta.url), rounds)
    const { descriptors, processes, children, memory, rss } = left
    expect(descriptors).toBeLessThan(4)
    expect({ processes, children }).toEqual({ processes: 0, children: 0 })
    expect(memory).toBeLessThan(8 * 1024 * 1024)
    expect(rss).toBeLessThan(64 * 1024 * 1024)
  }, 600_000)

  it("a flood of 50 MB takes little memory", async () => {
    const { cursor, omitted_bytes, growth } = await measure(new URL("../../test/flood.ts", import.meta.url), 50)
    expect([cursor, omitted_bytes]).toEqual([50_000_000, 49_900_000])
    expect(growth).toBeLessThan(128 * 1024 * 1024)
  }, 120_000)
})
