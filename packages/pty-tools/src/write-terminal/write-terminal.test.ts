import { describe, expect, it } from "@effect/vitest"
import { toolrouter } from "@haft/dialects"
import { scriptedApprover } from "@haft/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

import { execToEnd, withTerminals } from "../../test/host.ts"

describe.concurrent("write_terminal", () => {
  it.live("types and returns what was printed since the last reply", () =>
    withTerminals(({ call, open, until }) =>
      Effect.gen(function* () {
        const { terminal_id, cursor } = yield* open({ command: "echo ready; cat" })
        const reply = yield* call("write_terminal", { terminal_id, text: "hello\n" })
        const { wire } = reply as { wire: { result: { output: string } } }
        expect(yield* until(terminal_id, /hello\r\nhello/, wire.result.output)).toBe("hello\r\nhello\r\n")
        expect(reply).toMatchObject({ ok: true, wire: { result: { terminal_id, state: "running", exit_code: null } } })
        expect(cursor).toBe(7)
      })
    )
  )

  it.live("refuses to make a line longer than it takes, and lets it be ended or dropped", () =>
    withTerminals(({ call, open, write }) =>
      Effect.gen(function* () {
        for (const key of ["enter", "interrupt"]) {
          const { terminal_id } = yield* open({ command: "stty raw -echo; echo ready; cat > /dev/null" })
          yield* write(terminal_id, { text: "x".repeat(100_000) })
          const refusal = { error: { code: "invalid_params", details: { pending: 100_000 } } }
          expect(yield* call("write_terminal", { terminal_id, text: "x" })).toMatchObject({ ok: false, wire: refusal })
          expect(yield* call("write_terminal", { terminal_id, keys: [key] })).toMatchObject({ ok: true })
          expect(yield* call("write_terminal", { terminal_id, text: "x" })).toMatchObject({ ok: true })
        }
      })
    )
  )

  it.live("reads again from a cursor, and the answer is the same", () =>
    withTerminals(({ open, write }) =>
      Effect.gen(function* () {
        const { terminal_id: id } = yield* open({ command: "echo one; echo two; cat" })
        const first = yield* write(id, { cursor: 0 })
        const second = yield* write(id, { cursor: 0 })
        expect(first).toEqual(second)
        expect(first).toMatchObject({ output: "one\r\ntwo\r\n", cursor: 10 })
        expect(yield* write(id, { cursor: 5 })).toMatchObject({ output: "two\r\n", cursor: 10 })
        expect(yield* write(id)).toMatchObject({ output: "", cursor: 10 })
      })
    )
  )

  it.live("waits for a program that takes its time when it types nothing", () =>
    withTerminals(({ open, write }) =>
      Effect.gen(function* () {
        const { terminal_id: id } = yield* open({ command: "echo on your marks; sleep 0.5; echo go; cat" })
        expect(yield* write(id, { yield_time_ms: 30_000 })).toMatchObject({ output: "go\r\n", state: "running" })
      })
    )
  )

  it.live("returns as soon as the program ends, with all it said", () =>
    withTerminals(({ open, write }) =>
      Effect.gen(function* () {
        const { terminal_id: id } = yield* open({ command: "read x; sleep 0.2; echo bye; exit 5", yield_time_ms: 250 })
        const shown = yield* write(id, { keys: ["enter"], yield_time_ms: 30_000, quiet_ms: 30_000 })
        expect(shown).toMatchObject({ output: "\r\nbye\r\n", state: "ended", exit_code: 5 })
      })
    )
  )

  it.live("reads what an ended program left, again and again, and types nothing into it", () =>
    withTerminals(({ call, run, write, questions }) =>
      Effect.gen(function* () {
        const { terminal_id } = yield* run({ command: "echo done; exit 2" })
        expect(yield* write(terminal_id, { cursor: 0 })).toMatchObject({ output: "done\r\n", state: "ended" })
        expect(yield* write(terminal_id, { cursor: 0, view: "screen" })).toMatchObject({ output: "done" })
        for (const args of [{ text: "x" }, { keys: ["interrupt"] }, { cols: 10 }]) {
          const { error } = yield* call("write_terminal", { terminal_id, ...args })
          expect(error).toMatchObject({
            code: "session_ended",
            message: `the program in ${terminal_id} has ended (exit code 2)`,
            details: { session: terminal_id, exit_code: 2, signal: null }
          })
        }
        expect(questions).toHaveLength(1)
      })
    )
  )

  it.live("sends control characters and NUL as they are", () =>
    withTerminals(({ open, write, until }) =>
      Effect.gen(function* () {
        const { terminal_id: id } = yield* open({
          command: "stty raw -echo; echo ready; od -An -tx1 -N6",
          quiet_ms: 400
        })
        const { output } = yield* write(id, { text: "\0\u0001\u0003é\u007F" })
        expect(yield* until(id, /c3 a9/, output)).toContain("00 01 03 c3 a9 7f")
      })
    )
  )

  it.live("presses the keys a full-screen program expects", () =>
    withTerminals(({ open, write, until }) =>
      Effect.gen(function* () {
        const read = "stty raw -echo; echo ready; od -An -tx1 -N6"
        const plain = yield* open({ command: read, quiet_ms: 400 })
        const typed = yield* write(plain.terminal_id, { keys: ["up", "home"] })
        expect(yield* until(plain.terminal_id, /1b.*/, typed.output)).toContain("1b 5b 41 1b 5b 48")
        const application = yield* open({ command: `printf '\\033[?1h'; ${read}`, quiet_ms: 400 })
        const pressed = yield* write(application.terminal_id, { keys: ["up", "home"] })
        expect(yield* until(application.terminal_id, /1b.*/, pressed.output)).toContain("1b 4f 41 1b 4f 48")
      })
    )
  )

  it.live("accepts long input without hanging, also when the program does not read it", () =>
    withTerminals(({ open, write }) =>
      Effect.gen(function* () {
        const { terminal_id: id } = yield* open({ command: "sleep 100", yield_time_ms: 250 })
        const { state } = yield* write(id, { text: `${"x".repeat(99_000)}\n` })
        expect(state).toBe("running")
      })
    )
  )

  it.live(
    "does not hold up the host with text that a program in raw mode does not read, and types it once it does",
    () =>
      withTerminals(({ open, write, until, call }) =>
        Effect.gen(function* () {
          const command = "stty raw -echo; echo ready; until [ -e go ]; do sleep 0.05; done; head -c 180000 | wc -c"
          const { terminal_id: id, output } = yield* open({ command })
          yield* until(id, /ready/, output)
          const text = `${"x".repeat(89_999)}\n`
          yield* write(id, { text })
          yield* write(id, { text })
          const other = yield* open({ command: "touch go" })
          yield* until(id, /180000/)
          expect((yield* call("close_terminal", { terminal_id: other.terminal_id })).ok).toBe(true)
        })
      )
  )

  it.live("refuses input beyond the buffer of a program that never reads, which can still be closed", () =>
    withTerminals(({ open, until, call }) =>
      Effect.gen(function* () {
        const { terminal_id, output } = yield* open({ command: "stty raw -echo; echo ready; sleep 1000" })
        yield* until(terminal_id, /ready/, output)
        const type = call("write_terminal", { terminal_id, text: `${"x".repeat(99_998)}\n` })
        let reply = yield* type
        for (let count = 0; reply.ok && count < 10; count++) reply = yield* type
        expect(reply.error).toMatchObject({ code: "session_limit", retryable: true })
        expect((yield* call("close_terminal", { terminal_id })).ok).toBe(true)
      })
    )
  )

  it.live("shows the whole line to the approver when it comes in pieces", () =>
    withTerminals(({ open, write, questions }) =>
      Effect.gen(function* () {
        const { terminal_id: id } = yield* open({ command: "cat", yield_time_ms: 250 })
        yield* write(id, { text: "rm -rf " })
        yield* write(id, { text: "/ # " })
        yield* write(id, { text: "oh no", keys: ["enter"] })
        yield* write(id, { text: "next\nrest" })
        yield* write(id, { keys: ["interrupt"] })
        expect(questions.slice(1).map(({ facts }) => facts.types)).toEqual([
          { terminal: id, text: "rm -rf " },
          { terminal: id, text: "rm -rf / # " },
          { terminal: id, text: "rm -rf / # oh no\r" },
          { terminal: id, text: "next\nrest" },
          { terminal: id, text: "rest\u0003" }
        ])
      })
    )
  )

  it.live("shows a line that goes on after its end as one", () =>
    withTerminals(({ open, write, questions }) =>
      Effect.gen(function* () {
        const { terminal_id: id } = yield* open({ command: "cat", yield_time_ms: 250 })
        yield* write(id, { text: "rm -rf \\\n" })
        yield* write(id, { text: "\u0016\u0003", keys: ["tab"] })
        yield* write(id, { text: "/x\n" })
        yield* write(id, { text: "next" })
        expect(questions.slice(1).map(({ facts }) => facts.types?.text)).toEqual([
          "rm -rf \\\n",
          "rm -rf \\\n\u0016\u0003\t",
          "rm -rf \\\n\u0016\u0003\t/x\n",
          "next"
        ])
      })
    )
  )

  it.live("asks for every write and for no reading", () =>
    withTerminals(({ open, write, questions }) =>
      Effect.gen(function* () {
        const { terminal_id: id } = yield* open({ command: "cat", yield_time_ms: 250 })
        yield* write(id, { text: "x" })
        yield* write(id, { text: "x" })
        yield* write(id)
        yield* write(id, { cols: 100 })
        expect(questions.map(({ call }) => call.tool)).toEqual(["open_terminal", "write_terminal", "write_terminal"])
      })
    )
  )

  it.live("types nothing after a no", () => {
    const approver = scriptedApprover(({ call }) => ({ approved: call.tool === "open_terminal" }))
    return withTerminals(
      ({ call, open, write }) =>
        Effect.gen(function* () {
          const { terminal_id } = yield* open({ command: "cat", yield_time_ms: 250 })
          expect((yield* call("write_terminal", { terminal_id, text: "x\n" })).error?.code).toBe("approval_denied")
          expect((yield* write(terminal_id, { cursor: 0 })).output).toBe("")
        }),
      { approver }
    )
  })

  it.live("does not type onto a line that changed while the person was thinking", () => {
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
    const approver = scriptedApprover(async ({ input }) => {
      if (input["text"] === "/tmp/x") {
        ask()
        await answered
      }
      return { approved: true }
    })
    return withTerminals(
      ({ call, open, write }) =>
        Effect.gen(function* () {
          const { terminal_id } = yield* open({ command: "cat", yield_time_ms: 250 })
          const slow = yield* Effect.forkChild(call("write_terminal", { terminal_id, text: "/tmp/x" }))
          yield* Effect.promise(() => asked)
          yield* write(terminal_id, { text: "rm -rf " })
          answer()
          const { error } = yield* Fiber.join(slow)
          expect([error?.code, error?.retryable]).toEqual(["stale_file", true])
          expect((yield* write(terminal_id, { cursor: 0 })).output).toBe("rm -rf ")
        }),
      { approver }
    )
  })

  it.live("does not type unseen what went on record because it would have been shown", () => {
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
    const approver = scriptedApprover(async ({ input }) => {
      if (input["text"] === "early\n") {
        ask()
        await answered
      }
      return { approved: true }
    })
    return withTerminals(
      ({ call, open, until, write, events }) =>
        Effect.gen(function* () {
          const command = "until [ -e hide ]; do sleep 0.02; done; read -s -p 'Password: ' x; echo; echo got-${#x}"
          const { terminal_id } = yield* open({ command, yield_time_ms: 250 })
          const slow = yield* Effect.forkChild(call("write_terminal", { terminal_id, text: "early\n", cols: 40 }))
          yield* Effect.promise(() => asked)
          yield* open({ command: "touch hide" })
          yield* until(terminal_id, /Password: /)
          answer()
          const { error } = yield* Fiber.join(slow)
          expect(error).toMatchObject({
            code: "stale_file",
            message: `${terminal_id} has stopped echoing since the call was assessed; nothing was typed`,
            retryable: true
          })
          const { output } = yield* write(terminal_id, { text: "hunter2\n" })
          yield* until(terminal_id, /got-7/, output)
          expect(JSON.stringify(events)).not.toContain("hunter2")
        }),
      { approver }
    )
  })

  it.live("refuses a line that grows without end", () =>
    withTerminals(({ call, open }) =>
      Effect.gen(function* () {
        const { terminal_id } = yield* open({ command: "cat > /dev/null", yield_time_ms: 250 })
        const text = "x".repeat(60_000)
        expect((yield* call("write_terminal", { terminal_id, text })).ok).toBe(true)
        expect((yield* call("write_terminal", { terminal_id, text })).error).toMatchObject({
          code: "invalid_params",
          details: { pending: 60_000 }
        })
      })
    )
  )

  it.live.each([
    [{ cols: 0 }, "parameter 'cols': expected a number of at least 1"],
    [{ rows: -1 }, "parameter 'rows': expected a number of at least 1"],
    [{ keys: ["any"] }, "parameter 'keys.0': expected one of"],
    [{ cursor: -1 }, "parameter 'cursor': expected a number of at least 0"],
    [{ yield_time_ms: 1 }, "parameter 'yield_time_ms': expected a number of at least 250"],
    [{ text: 1 }, "parameter 'text': expected a string, got a number"],
    [{ text: "x".repeat(100_001) }, "parameter 'text': expected at most 100000 characters"],
    [{ max_bytes: 10 }, "parameter 'max_bytes': expected a number of at least 1000"],
    [{ path: "C:\\" }, "unknown parameter 'path'"]
  ] as ReadonlyArray<[object, string]>)("refuses %j", ([args, message]) =>
    withTerminals(({ call }) =>
      Effect.gen(function* () {
        const { error } = yield* call("write_terminal", { terminal_id: "t", ...args })
        expect(error?.code).toBe("invalid_params")
        expect(error?.message).toContain(message)
      })
    )
  )

  it.live("knows only the terminals of its own host", () =>
    withTerminals((other) =>
      Effect.gen(function* () {
        const { terminal_id } = yield* other.open({ command: "cat", yield_time_ms: 250 })
        yield* withTerminals(({ call, questions }) =>
          Effect.gen(function* () {
            for (const id of [terminal_id, "", "terminal-00000000", "../x", "C:\\t"]) {
              expect((yield* call("write_terminal", { terminal_id: id, text: "x" })).error).toMatchObject({
                code: "session_not_found",
                message: `there is no session '${id}'`
              })
            }
            expect(questions).toEqual([])
          })
        )
      })
    )
  )

  it.live("refuses a cursor that no reply gave out", () =>
    withTerminals(({ call, run }) =>
      Effect.gen(function* () {
        const { terminal_id } = yield* run({ command: "echo 123" })
        expect((yield* call("write_terminal", { terminal_id, cursor: 6 })).error).toMatchObject({
          code: "invalid_range",
          message: "cursor 6 is beyond the output, which ends at 5"
        })
      })
    )
  )

  it.live("does not record what is typed into a terminal nobody knows, nor arguments that are no object", () =>
    withTerminals(({ call, events }) =>
      Effect.gen(function* () {
        yield* call("write_terminal", { terminal_id: "gone", text: "hunter2" })
        yield* call("write_terminal", "hunter2")
        yield* call("write_terminal", ["hunter2"])
        yield* call("write_terminal", { terminal_id: "gone", text: "\n" })
        yield* call("write_terminal", {
          terminal_id: "gone",
          txt: "hunter2",
          keys: ["hunter2"],
          text: { a: "hunter2" }
        })
        const hidden = "[7 characters, which the terminal does not echo]"
        expect(events.filter(({ type }) => type === "tool_call_started").map(({ params }) => params)).toEqual([
          { terminal_id: "gone", text: hidden },
          hidden,
          "[withheld]",
          { terminal_id: "gone", text: "\n" },
          { terminal_id: "gone", txt: hidden, keys: "[withheld]", text: "[withheld]" }
        ])
        expect(JSON.stringify(events)).not.toContain("hunter2")
      })
    )
  )
})

describe.concurrent("write_stdin", () => {
  const host = { dialect: toolrouter }
  const session_id = "sess-1"

  it.live("drains: what one reply showed, the next does not", () =>
    withTerminals(
      ({ call }) =>
        Effect.gen(function* () {
          yield* call("exec_command", { session_id, cmd: "echo up; cat" })
          const outputs: Array<string> = []
          for (const chars of ["one\n", "", "two\n", "", ""]) {
            const { wire } = yield* call("write_stdin", { session_id, chars })
            outputs.push((wire as { output: string }).output)
          }
          expect(outputs.join("")).toBe("one\none\ntwo\ntwo\n")
          expect(outputs.at(-1)).toBe("")
        }),
      host
    )
  )

  it.live("shows a shell's answer without escape sequences", () =>
    withTerminals(
      ({ call }) =>
        Effect.gen(function* () {
          yield* call("exec_command", { session_id, cmd: "bash --norc --noprofile" })
          let seen = ""
          for (const chars of ["echo hi\n", "", "", "", "", "", "", ""]) {
            const { wire } = yield* call("write_stdin", { session_id, chars })
            seen += (wire as { output: string }).output
            if (/\nhi\n/.test(seen)) break
          }
          expect(seen).toMatch(/^echo hi\nhi\n/)
        }),
      host
    )
  )

  it.live("interrupts the program with Ctrl-C", () =>
    withTerminals(
      ({ call }) =>
        Effect.gen(function* () {
          yield* call("exec_command", { session_id, cmd: "echo up; sleep 100" })
          let code: number | null = null
          for (const chars of ["\u0003", "", "", "", ""]) {
            if (code !== null) break
            const { wire } = yield* call("write_stdin", { session_id, chars })
            code = (wire as { exit_code: number | null }).exit_code
          }
          expect(code).toBe(130)
        }),
      host
    )
  )

  it.live("says that a session has ended, and still hands over the rest", () =>
    withTerminals(
      ({ call }) =>
        Effect.gen(function* () {
          yield* execToEnd(call, { session_id, cmd: "exit 1" })
          expect((yield* call("write_stdin", { session_id, chars: "x" })).wire).toEqual({
            error: "session_ended",
            message:
              "the program in sess-1 has ended (exit code 1). " +
              "Read what is left of its output by writing nothing, or open a new terminal."
          })
          expect((yield* call("write_stdin", { session_id, chars: "" })).wire).toEqual({
            output: "",
            truncated: false,
            exit_code: 1,
            sandbox: "none"
          })
        }),
      host
    )
  )

  it.live.each([
    [{ session_id }, "missing parameter 'chars' (expected string)"],
    [{ chars: "" }, "missing parameter 'session_id' (expected string)"],
    [{ session_id, chars: null }, "parameter 'chars': expected a string, got null"],
    [{ session_id, chars: "x".repeat(100_001) }, "parameter 'chars': must have at most 100000 characters"],
    [{ session_id, chars: "", cursor: 0 }, "unknown parameter 'cursor'"]
  ] as ReadonlyArray<[object, string]>)("refuses %j", ([args, message]) =>
    withTerminals(
      ({ call }) =>
        Effect.gen(function* () {
          expect((yield* call("write_stdin", args)).wire).toEqual({
            error: "invalid_params",
            message: `${message}. Correct the parameters named in the message and call again.`
          })
        }),
      host
    )
  )

  it.live("does not know a session that was never started", () =>
    withTerminals(
      ({ call }) =>
        Effect.gen(function* () {
          expect((yield* call("write_stdin", { session_id: "other", chars: "x" })).wire).toEqual({
            error: "session_not_found",
            message:
              "there is no session 'other'. It was never opened here, was closed, or ended a while ago. Open a new one."
          })
        }),
      host
    )
  )

  it.live("does not type into another session that took the name while the person was thinking", () => {
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
    const approver = scriptedApprover(async ({ input }) => {
      if (input["chars"] === "yes\n") {
        ask()
        await answered
      }
      return { approved: true }
    })
    return withTerminals(
      ({ call }) =>
        Effect.gen(function* () {
          yield* call("exec_command", { session_id, cmd: "echo first; cat" })
          const slow = yield* Effect.forkChild(call("write_stdin", { session_id, chars: "yes\n" }))
          yield* Effect.promise(() => asked)
          let { wire } = yield* call("write_stdin", { session_id, chars: "\u0004" })
          while ((wire as { exit_code: number | null }).exit_code === null) {
            ;({ wire } = yield* call("write_stdin", { session_id, chars: "" }))
          }
          yield* call("exec_command", { session_id, cmd: "echo second; cat" })
          answer()
          expect((yield* Fiber.join(slow)).wire).toEqual({
            error: "stale_file",
            message:
              "sess-1 was opened anew since the call was assessed; nothing was typed. Read the terminal, then write again."
          })
          expect((yield* call("write_stdin", { session_id, chars: "" })).wire).toMatchObject({ output: "" })
        }),
      { ...host, approver }
    )
  })

  it.live("keeps a password off the record, and shows it to the approver with the rest of its line", () =>
    withTerminals(
      ({ call, events, questions }) =>
        Effect.gen(function* () {
          yield* call("exec_command", { session_id, cmd: "read -s -p 'Password: ' x; cat" })
          yield* call("write_stdin", { session_id, chars: "hun" })
          yield* call("write_stdin", { session_id, chars: "ter2\n" })
          expect(JSON.stringify(events)).not.toMatch(/hun|ter2/)
          expect(questions.map(({ facts }) => facts.types?.text)).toEqual([undefined, "hun", "hunter2\n"])
        }),
      host
    )
  )
})
