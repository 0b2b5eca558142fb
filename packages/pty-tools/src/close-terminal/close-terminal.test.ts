import { describe, expect, it } from "@effect/vitest"
import { scriptedApprover } from "@haft/testing"
import * as Effect from "effect/Effect"

import { withTerminals } from "../../test/host.ts"

describe.concurrent("close_terminal", () => {
  it.live("ends the program, returns what was not read, and forgets the terminal", () =>
    withTerminals(({ open, call }) =>
      Effect.gen(function* () {
        const { terminal_id, output } = yield* open({ command: "trap 'echo bye; exit 7' HUP; echo up; cat" })
        const reply = yield* call("close_terminal", { terminal_id })
        const { result } = reply.wire as { result: { output: string } }
        expect(output + result.output).toMatch(/^up\r\n/)
        expect(reply.wire).toMatchObject({ ok: true, result: { terminal_id, state: "ended", was_running: true } })
        expect((yield* call("close_terminal", { terminal_id })).error?.code).toBe("session_not_found")
        expect((yield* call("list_terminals", {})).text).toBe("no terminals")
      })
    )
  )

  it.live("takes an ended terminal too", () =>
    withTerminals(({ run, call }) =>
      Effect.gen(function* () {
        const { terminal_id, cursor } = yield* run({ command: "echo done; exit 4" })
        const { wire, text } = yield* call("close_terminal", { terminal_id })
        expect(wire).toEqual({
          ok: true,
          result: {
            terminal_id,
            state: "ended",
            exit_code: 4,
            signal: null,
            output: "",
            cursor,
            truncated: false,
            omitted_bytes: 0,
            was_running: false
          }
        })
        expect(text).toBe(`[${terminal_id} has ended: exit code 4]`)
      })
    )
  )

  it.live("says which signal ended the program", () =>
    withTerminals(({ open, call }) =>
      Effect.gen(function* () {
        const { terminal_id } = yield* open({ command: "exec cat", yield_time_ms: 250 })
        const { wire, text } = yield* call("close_terminal", { terminal_id })
        expect(wire).toMatchObject({ result: { exit_code: null, signal: "SIGHUP" } })
        expect(text).toBe(`[${terminal_id} has ended: SIGHUP]`)
      })
    )
  )

  it.live("needs no approval", () => {
    const approver = scriptedApprover(({ call }) => ({ approved: call.tool === "open_terminal" }))
    return withTerminals(
      ({ open, call, questions }) =>
        Effect.gen(function* () {
          const { terminal_id } = yield* open({ command: "cat", yield_time_ms: 250 })
          expect((yield* call("close_terminal", { terminal_id })).ok).toBe(true)
          expect(questions).toHaveLength(1)
        }),
      { approver }
    )
  })

  it.live("can be asked for twice at once", () =>
    withTerminals(({ open, call }) =>
      Effect.gen(function* () {
        const { terminal_id } = yield* open({ command: "cat", yield_time_ms: 250 })
        const replies = yield* Effect.all(
          [call("close_terminal", { terminal_id }), call("close_terminal", { terminal_id })],
          { concurrency: 2 }
        )
        expect(replies.some(({ ok }) => ok)).toBe(true)
        expect(replies.every(({ ok, error }) => ok || error?.code === "session_not_found")).toBe(true)
      })
    )
  )

  it.live("ends a reading that is waiting", () =>
    withTerminals(({ open, call, write }) =>
      Effect.gen(function* () {
        const { terminal_id } = yield* open({ command: "cat", yield_time_ms: 250 })
        const [{ state }] = yield* Effect.all(
          [
            write(terminal_id, { yield_time_ms: 30_000 }),
            Effect.delay(call("close_terminal", { terminal_id }), "100 millis")
          ],
          { concurrency: 2 }
        )
        expect(state).toBe("ended")
      })
    )
  )

  it.live("closes while a flood is running, and cuts what it returns", () =>
    withTerminals(
      ({ open, call }) =>
        Effect.gen(function* () {
          const { terminal_id } = yield* open({ command: "yes", yield_time_ms: 250 })
          const { wire } = yield* call("close_terminal", { terminal_id, max_bytes: 1000 })
          const { result } = wire as { result: { output: string; state: string } }
          expect(result.state).toBe("ended")
          expect(result.output.length).toBeLessThan(1200)
        }),
      { config: { recording: false } }
    )
  )

  it.live.each([
    [{}, "missing parameter 'terminal_id' (expected string)"],
    [{ terminal_id: 1 }, "parameter 'terminal_id': expected a string, got a number"],
    [{ terminal_id: "x", force: true }, "unknown parameter 'force'"],
    [{ terminal_id: "x", max_bytes: 0 }, "parameter 'max_bytes': expected a number of at least 1000"]
  ])("refuses %j", ([args, message]) =>
    withTerminals(({ call }) =>
      Effect.gen(function* () {
        const { error } = yield* call("close_terminal", args)
        expect([error?.code, error?.message]).toEqual(["invalid_params", message])
      })
    )
  )

  it.live.each(["terminal-00000000", "", "../x", "C:\\x", "\0"])("does not know %j", (terminal_id) =>
    withTerminals(({ call }) =>
      Effect.gen(function* () {
        expect((yield* call("close_terminal", { terminal_id })).error).toMatchObject({
          code: "session_not_found",
          message: `there is no session '${terminal_id}'`,
          details: { session: terminal_id }
        })
      })
    )
  )
})

describe.concurrent("list_terminals", () => {
  it.live("shows running and ended terminals, oldest first, with what is unread", () =>
    withTerminals(
      ({ open, run, call, workspace }) =>
        Effect.gen(function* () {
          const first = yield* run({ command: "echo done; exit 4" })
          const second = yield* open({ command: "cat", directory: "sub", cols: 90, rows: 30, yield_time_ms: 250 })
          const reply = yield* call("list_terminals", {})
          const facts = { opened_at: expect.any(String), idle_ms: expect.any(Number) }
          expect(reply.wire).toEqual({
            ok: true,
            result: {
              terminals: [
                {
                  terminal_id: first.terminal_id,
                  command: "echo done; exit 4",
                  directory: ".",
                  state: "ended",
                  exit_code: 4,
                  signal: null,
                  cols: 80,
                  rows: 24,
                  cursor: 6,
                  unread_bytes: 0,
                  recording: `terminals/${first.terminal_id}.cast`,
                  ...facts
                },
                {
                  terminal_id: second.terminal_id,
                  command: "cat",
                  directory: "sub",
                  state: "running",
                  exit_code: null,
                  signal: null,
                  cols: 90,
                  rows: 30,
                  cursor: 0,
                  unread_bytes: 0,
                  recording: `terminals/${second.terminal_id}.cast`,
                  ...facts
                }
              ]
            }
          })
          expect(reply.text).toBe(`${first.terminal_id}  ended  echo done; exit 4\n${second.terminal_id}  running  cat`)
          expect(workspace.exists("sub")).toBe(true)
        }),
      { files: { "sub/a": "" } }
    )
  )

  it.live("counts unread bytes", () =>
    withTerminals(({ open, call }) =>
      Effect.gen(function* () {
        yield* open({ command: "sleep 1; echo 12345678; cat", yield_time_ms: 250 })
        let unread = 0
        while (unread === 0) {
          const { wire } = yield* call("list_terminals", {})
          unread = (wire as { result: { terminals: [{ unread_bytes: number }] } }).result.terminals[0].unread_bytes
          yield* Effect.sleep("20 millis")
        }
        expect(unread).toBe(10)
      })
    )
  )

  it.live("needs no approval, and takes no parameters", () =>
    withTerminals(({ call, questions }) =>
      Effect.gen(function* () {
        expect((yield* call("list_terminals", {})).ok).toBe(true)
        expect((yield* call("list_terminals", { all: true })).error?.message).toBe("unknown parameter 'all'")
        expect(questions).toEqual([])
      })
    )
  )
})
