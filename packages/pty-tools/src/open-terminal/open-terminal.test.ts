import { describe, expect, it } from "@effect/vitest"
import { refuseCommands } from "@haft/core"
import { toolrouter } from "@haft/dialects"
import { scriptedApprover } from "@haft/testing"
import * as Effect from "effect/Effect"

import { execToEnd, withTerminals } from "../../test/host.ts"

const cast = expect.stringMatching(/^terminals\/terminal-[0-9a-f]{8}\.cast$/) as unknown
const minted = expect.stringMatching(/^terminal-[0-9a-f]{8}$/) as unknown

describe.concurrent("open_terminal", () => {
  it.live("runs a command line and says how it ended", () =>
    withTerminals(({ call }) =>
      Effect.gen(function* () {
        const reply = yield* call("open_terminal", {
          command: "echo $TERM; tty -s && echo tty; exit 3",
          yield_time_ms: 30_000,
          quiet_ms: 30_000
        })
        expect(reply).toMatchObject({
          ok: true,
          wire: {
            ok: true,
            result: {
              terminal_id: minted,
              state: "ended",
              exit_code: 3,
              signal: null,
              output: "xterm-256color\r\ntty\r\n",
              cursor: 21,
              truncated: false,
              omitted_bytes: 0,
              sandbox: "none",
              recording: cast
            }
          },
          text: expect.stringMatching(/^xterm-256color\r\ntty\r\n\[terminal-\w+ has ended: exit code 3\]$/)
        })
      })
    )
  )

  it.live("opens a shell when no command is given", () =>
    withTerminals(({ open, until }) =>
      Effect.gen(function* () {
        const { terminal_id, output } = yield* open({})
        yield* until(terminal_id, /[#$] $/, output)
      })
    )
  )

  it.live("starts in the directory asked for, with the variables and the size asked for", () =>
    withTerminals(
      ({ run, workspace }) =>
        Effect.gen(function* () {
          const command = "pwd; echo $GREETING; stty size"
          const { output } = yield* run({ command, directory: "sub", env: { GREETING: "hällo" }, cols: 100, rows: 50 })
          expect(output).toBe(`${workspace.root}/sub\r\nhällo\r\n50 100\r\n`)
        }),
      { files: { "sub/a.txt": "" } }
    )
  )

  it.live("tells a signal from an exit code", () =>
    withTerminals(({ run }) =>
      Effect.gen(function* () {
        const { exit_code, signal } = yield* run({ command: "kill -TERM $$" })
        expect({ exit_code, signal }).toEqual({ exit_code: null, signal: "SIGTERM" })
      })
    )
  )

  it.live("says what a shell says about a command that is not there", () =>
    withTerminals(({ run }) =>
      Effect.gen(function* () {
        const { exit_code, output } = yield* run({ command: "no-such-program" })
        expect(exit_code).toBe(127)
        expect(output).toContain("no-such-program: command not found")
      })
    )
  )

  it.live("returns at the yield time while the program goes on printing", () =>
    withTerminals(({ open }) =>
      Effect.gen(function* () {
        const { state, output } = yield* open({
          command: "while :; do echo tick; sleep 0.02; done",
          // Long enough for a shell to start on a busy machine.
          yield_time_ms: 2000
        })
        expect(state).toBe("running")
        expect(output).toMatch(/^tick\r\n/)
      })
    )
  )

  it.live("does not wait out the yield time for a program that says nothing", () =>
    withTerminals(({ open }) =>
      Effect.gen(function* () {
        const { state, output } = yield* open({ command: "cat", yield_time_ms: 30_000 })
        expect({ state, output }).toEqual({ state: "running", output: "" })
      })
    )
  )

  it.live("waits longer for quiet when told to", () =>
    withTerminals(({ open }) =>
      Effect.gen(function* () {
        const { output } = yield* open({ command: "echo one; sleep 0.4; echo two; sleep 100", quiet_ms: 1000 })
        expect(output).toBe("one\r\ntwo\r\n")
      })
    )
  )

  it.live("keeps the beginning and the end of a flood, and says what is left out", () =>
    withTerminals(
      ({ run }) =>
        Effect.gen(function* () {
          const command = "echo first; head -c 5000000 /dev/zero | tr '\\0' x; echo; echo last"
          const shown = yield* run({ command, max_bytes: 1000 })
          expect(shown.output).toMatch(/^first\r\nx+\n\[4999015 bytes left out\]\nx+\r\nlast\r\n$/)
          expect(shown).toMatchObject({ truncated: true, omitted_bytes: 4_999_015, cursor: 5_000_015, state: "ended" })
        }),
      { config: { recording: false } }
    )
  )

  it.live("returns NUL and control characters as they are, and invalid UTF-8 as U+FFFD", () =>
    withTerminals(({ run }) =>
      Effect.gen(function* () {
        const { output } = yield* run({ command: String.raw`printf 'a\000b\001\033\377z'` })
        expect(output).toBe("a\0b\u0001\u001B\uFFFDz")
      })
    )
  )

  it.live.each([
    [{ cols: 0 }, "parameter 'cols': expected a number of at least 1"],
    [{ rows: 0 }, "parameter 'rows': expected a number of at least 1"],
    [{ cols: 5000 }, "parameter 'cols': expected a number of at most 1000"],
    [{ command: "" }, "parameter 'command': expected at least 1 character"],
    [{ command: "echo \0 rm" }, "parameter 'command': must not contain NUL"],
    [{ command: `echo ${"ü".repeat(65_536)}` }, "parameter 'command': must have at most 131071 bytes"],
    [{ env: { A: "x".repeat(131_070) } }, "parameter 'env': must have at most 131071 bytes"],
    [{ env: { "A=B": "c" } }, "parameter 'env': must not contain NUL, nor '=' in a name"],
    [{ env: { A: "b\0" } }, "parameter 'env': must not contain NUL, nor '=' in a name"],
    [{ yield_time_ms: 100 }, "parameter 'yield_time_ms': expected a number of at least 250"],
    [{ yield_time_ms: 30_001 }, "parameter 'yield_time_ms': expected a number of at most 30000"],
    [{ view: "html" }, `parameter 'view': expected one of 'raw', 'screen'`],
    [{ shell: "zsh" }, "unknown parameter 'shell'"]
  ])("refuses %j", ([args, message]) =>
    withTerminals(({ call, questions }) =>
      Effect.gen(function* () {
        const { error } = yield* call("open_terminal", args)
        expect([error?.code, error?.message]).toEqual(["invalid_params", message])
        expect(questions).toEqual([])
      })
    )
  )

  it.live.each([
    ["..", "path_outside_workspace"],
    ["/etc", "path_outside_workspace"],
    ["..\\..", "path_outside_workspace"],
    ["C:\\Windows", "path_outside_workspace"],
    ["missing", "file_not_found"],
    ["a.txt", "not_a_directory"],
    ["a\0b", "invalid_params"]
  ])("does not start in %j: %s", ([directory, code]) =>
    withTerminals(
      ({ call }) =>
        Effect.gen(function* () {
          expect((yield* call("open_terminal", { directory })).error?.code).toBe(code)
          expect((yield* call("list_terminals", {})).wire).toEqual({ ok: true, result: { terminals: [] } })
        }),
      { files: { "a.txt": "" } }
    )
  )

  it.live("shows the command line to the approver, and does not run it after a no", () => {
    const approver = scriptedApprover(() => ({ approved: false, reason: "not today" }))
    return withTerminals(
      ({ call, questions, workspace }) =>
        Effect.gen(function* () {
          const { error } = yield* call("open_terminal", { command: "touch made" })
          expect(error?.code).toBe("approval_denied")
          expect(questions[0]?.facts).toEqual({
            reads: ["."],
            directories: ["."],
            writes: [],
            runs: "touch made",
            risk: "dangerous"
          })
          expect(workspace.exists("made")).toBe(false)
        }),
      { approver }
    )
  })

  it.live("does not open anything where there is no sandbox", () =>
    withTerminals(
      ({ call }) =>
        Effect.gen(function* () {
          expect((yield* call("open_terminal", {})).error?.code).toBe("sandbox_unavailable")
        }),
      { sandbox: refuseCommands }
    )
  )

  it.live("leaves a recording that can be played back", () =>
    withTerminals(({ run, artifacts }) =>
      Effect.gen(function* () {
        const { recording } = yield* run({ command: "echo hello", cols: 70, rows: 20 })
        const lines = Buffer.from(artifacts.get(String(recording)) ?? [])
          .toString()
          .trimEnd()
          .split("\n")
        const [header, ...events] = lines.map((line) => JSON.parse(line) as unknown)
        expect(header).toMatchObject({ version: 2, width: 70, height: 20, command: "echo hello" })
        expect(events).toEqual([[expect.any(Number), "o", "hello\r\n"]])
      })
    )
  )

  it.live("records nothing where recordings are off", () =>
    withTerminals(
      ({ run, artifacts }) =>
        Effect.gen(function* () {
          expect((yield* run({ command: "true" }))["recording"]).toBe(null)
          expect([...artifacts.keys()]).toEqual([])
        }),
      { config: { recording: false } }
    )
  )
})

describe.concurrent("exec_command", () => {
  const host = { dialect: toolrouter }
  const exec = { session_id: "sess-1", cmd: "true", workdir: null }

  it.live("answers with plain text and the exit code", () =>
    withTerminals(
      ({ call }) =>
        Effect.gen(function* () {
          const cmd = String.raw`printf '\033[31mred\033[0m\n'; echo $TERM $PAGER; exit 4`
          const ended = yield* execToEnd(call, { ...exec, cmd })
          expect(ended).toEqual({ output: "red\ndumb cat\n", truncated: false, exit_code: 4 })
        }),
      host
    )
  )

  it.live("has no exit code while the command runs, and 128 and the signal when one ended it", () =>
    withTerminals(
      ({ call }) =>
        Effect.gen(function* () {
          const running = yield* call("exec_command", { session_id: "a", cmd: "echo up; sleep 100" })
          expect(running.wire).toEqual({ output: "up\n", truncated: false, exit_code: null, sandbox: "none" })
          expect(running.text).toBe("up\n\n[runs without a sandbox]\n")
          const killed = yield* execToEnd(call, { session_id: "b", cmd: "kill -KILL $$" })
          expect(killed).toEqual({ output: "", truncated: false, exit_code: 137 })
        }),
      host
    )
  )

  it.live("starts in the workdir", () =>
    withTerminals(
      ({ call, workspace }) =>
        Effect.gen(function* () {
          const ended = yield* execToEnd(call, { ...exec, cmd: "pwd", workdir: "sub" })
          expect(ended).toEqual({ output: `${workspace.root}/sub\n`, truncated: false, exit_code: 0 })
        }),
      { ...host, files: { "sub/a": "" } }
    )
  )

  it.live("refuses a second running session of the same name, and takes the name of an ended one again", () =>
    withTerminals(
      ({ call }) =>
        Effect.gen(function* () {
          yield* execToEnd(call, exec)
          expect((yield* call("exec_command", { ...exec, cmd: "cat" })).ok).toBe(true)
          expect((yield* call("exec_command", exec)).wire).toEqual({
            error: "session_exists",
            message:
              "there is a session 'sess-1' already, and it is running. " +
              "Use another session id, or type into the session that is there."
          })
        }),
      host
    )
  )

  it.live("takes any name a caller likes", () =>
    withTerminals(
      ({ call, artifacts }) =>
        Effect.gen(function* () {
          const session_id = "../ünï \u0000 'x'"
          expect((yield* call("exec_command", { ...exec, session_id })).ok).toBe(true)
          expect((yield* call("write_stdin", { session_id, chars: "" })).ok).toBe(true)
          expect([...artifacts.keys()]).toEqual([cast])
        }),
      host
    )
  )

  it.live("keeps head and tail of 100,000 bytes", () =>
    withTerminals(
      ({ call }) =>
        Effect.gen(function* () {
          const { output, truncated } = yield* execToEnd(call, { ...exec, cmd: "seq 1 50000" })
          expect(truncated).toBe(true)
          expect(output.startsWith("1\n2\n3\n")).toBe(true)
          expect(output).toMatch(/\n\[\d+ bytes left out, \d+ lines\]\n/)
          expect(output.endsWith("49999\n50000\n")).toBe(true)
        }),
      host
    )
  )

  it.live.each([
    [{ session_id: "a" }, "missing parameter 'cmd' (expected string)"],
    [{ cmd: "a" }, "missing parameter 'session_id' (expected string)"],
    [{ ...exec, cmd: "" }, "parameter 'cmd': must not be empty or contain NUL"],
    [{ ...exec, cmd: "a\0b" }, "parameter 'cmd': must not be empty or contain NUL"],
    [{ ...exec, cmd: "x".repeat(131_072) }, "parameter 'cmd': must have at most 131071 bytes"],
    [{ ...exec, session_id: "" }, "parameter 'session_id': must have 1 to 200 characters"],
    [{ ...exec, session_id: "x".repeat(201) }, "parameter 'session_id': must have 1 to 200 characters"],
    [{ ...exec, timeout: 1 }, "unknown parameter 'timeout'"],
    [{ ...exec, workdir: 1 }, "parameter 'workdir': expected a string, got a number"]
  ] as ReadonlyArray<[object, string]>)("refuses %j", ([args, message]) =>
    withTerminals(
      ({ call }) =>
        Effect.gen(function* () {
          expect((yield* call("exec_command", args)).wire).toEqual({
            error: "invalid_params",
            message: `${message}. Correct the parameters named in the message and call again.`
          })
        }),
      host
    )
  )

  it.live.each([
    ["../..", "path_outside_workspace"],
    ["missing", "file_not_found"],
    ["D:\\work", "path_outside_workspace"]
  ])("does not start in %j: %s", ([workdir, code]) =>
    withTerminals(
      ({ call }) =>
        Effect.gen(function* () {
          expect((yield* call("exec_command", { ...exec, workdir })).error?.code).toBe(code)
        }),
      host
    )
  )

  it.live("asks before it runs", () =>
    withTerminals(
      ({ call, questions }) =>
        Effect.gen(function* () {
          expect((yield* call("exec_command", exec)).error?.code).toBe("approval_denied")
          expect(questions[0]?.facts.runs).toBe("true")
        }),
      { ...host, approver: scriptedApprover(() => ({ approved: false })) }
    )
  )
})
