import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"

import { type TerminalHost, withTerminals } from "./host.ts"

const shell = { command: "bash --norc --noprofile", env: { GIT_PAGER: "cat" } }

/** Types a line and reads until the answer is there, whether it came with the first reply or later. */
const say = Effect.fnUntraced(function* (host: TerminalHost, id: string, text: string, answer: RegExp) {
  const { output } = yield* host.write(id, { text, keys: ["enter"] })
  yield* host.until(id, answer, output)
})

const ended = Effect.fnUntraced(function* (host: TerminalHost, id: string) {
  for (;;) {
    const shown = yield* host.write(id, { yield_time_ms: 5000 })
    if (shown.state === "ended") return { exit_code: shown.exit_code, signal: shown.signal }
  }
})

describe.concurrent("programs that talk", () => {
  it.live("a Python session remembers what was typed before", () =>
    withTerminals((host) =>
      Effect.gen(function* () {
        const { terminal_id: id } = yield* host.open({ command: "python3 -q" })
        yield* say(host, id, "x = 6 * 7", />>> /)
        yield* say(host, id, "print('answer', x)", /answer 42/)
        yield* host.write(id, { keys: ["eof"] })
        expect(yield* ended(host, id)).toEqual({ exit_code: 0, signal: null })
      })
    )
  )

  it.live("git add -p stages the hunk that was said yes to", () =>
    withTerminals((host) =>
      Effect.gen(function* () {
        const { terminal_id: id } = yield* host.open(shell)
        const identity = "-c user.name=Ada -c user.email=ada@example.org"
        yield* say(
          host,
          id,
          `git init -q . && echo one > a && git add a && git ${identity} commit -qm a; echo two >> a; echo ready-$?`,
          /ready-0/
        )
        yield* say(host, id, "git add -p", /Stage this hunk/)
        yield* say(host, id, "y", /[#$] $/)
        yield* say(host, id, "git status --porcelain; echo status-$?", /M {2}a[\s\S]*status-0/)
      })
    )
  )

  it.live("less shows a page at a time and is left with q", () =>
    withTerminals(
      (host) =>
        Effect.gen(function* () {
          const { terminal_id: id } = yield* host.open({ command: "less lines.txt", rows: 10, view: "screen" })
          expect(yield* host.untilScreen(id, /lines\.txt/)).toMatch(/^line 1\nline 2\n/)
          yield* host.write(id, { keys: ["page_down"] })
          expect(yield* host.untilScreen(id, /^line 10\n/)).toContain("line 18")
          yield* host.write(id, { keys: ["down", "down"] })
          yield* host.untilScreen(id, /^line 12\n/)
          yield* host.write(id, { text: "q" })
          expect(yield* ended(host, id)).toEqual({ exit_code: 0, signal: null })
        }),
      { files: { "lines.txt": { repeat: "line {n}\n", times: 500 } } }
    )
  )

  it.live("vim is opened, written with and left", () =>
    withTerminals((host) =>
      Effect.gen(function* () {
        const { terminal_id: id } = yield* host.open({ command: "vim -u NONE -N note.txt", view: "screen" })
        yield* host.untilScreen(id, /note\.txt/)
        yield* host.write(id, { text: "ihello from vim", keys: ["escape"] })
        yield* host.untilScreen(id, /hello from vim/)
        yield* host.write(id, { text: ":wq", keys: ["enter"] })
        expect(yield* ended(host, id)).toEqual({ exit_code: 0, signal: null })
        expect(host.workspace.read("note.txt")).toBe("hello from vim\n")
      })
    )
  )

  it.live("cat repeats its input until the end of it", () =>
    withTerminals((host) =>
      Effect.gen(function* () {
        const { terminal_id: id } = yield* host.open({ command: "cat", yield_time_ms: 250 })
        yield* say(host, id, "once", /once\r\nonce\r\n/)
        yield* host.write(id, { keys: ["eof"] })
        expect(yield* ended(host, id)).toEqual({ exit_code: 0, signal: null })
      })
    )
  )

  it.live("a program that lets go of its terminal before it ends keeps its exit code", () =>
    withTerminals(({ run }) =>
      Effect.gen(function* () {
        const { exit_code, signal } = yield* run({ command: "exec <&- >&- 2>&-; sleep 0.1; exit 7" })
        expect({ exit_code, signal }).toEqual({ exit_code: 7, signal: null })
      })
    )
  )

  it.live("a progress bar is one line on the screen and all its steps in the raw output", () =>
    withTerminals(({ run }) =>
      Effect.gen(function* () {
        const bar = "for i in 1 2 3; do printf '\\r%s0 %%' $i; done; echo"
        const raw = yield* run({ command: bar })
        expect(raw.output).toBe("\r10 %\r20 %\r30 %\r\n")
        const screen = yield* run({ command: bar, view: "screen" })
        expect(screen).toMatchObject({
          output: "30 %",
          screen: { cols: 80, rows: 24, cursor_row: 2, cursor_column: 1 }
        })
      })
    )
  )

  it.live("a program that wants billions of lines inserted, and then an answer, gets the answer", () =>
    withTerminals((host) =>
      Effect.gen(function* () {
        const orders = String.raw`up\033[2147483647L\033[2147483647b\033[6n`
        const command = `stty -echo; printf '${orders}'; read -r -d R x; echo got-\${x#*[}`
        const { terminal_id: id, output } = yield* host.open({ command })
        yield* host.until(id, /got-1;3/, output)
      })
    )
  )

  it.live("a program sees the window change its size", () =>
    withTerminals((host) =>
      Effect.gen(function* () {
        const { terminal_id: id } = yield* host.open({ ...shell, cols: 90, rows: 30 })
        yield* say(host, id, "stty size", /30 90/)
        yield* host.write(id, { cols: 120 })
        yield* say(host, id, "stty size", /30 120/)
        yield* host.write(id, { cols: 40, rows: 10 })
        yield* say(host, id, "stty size", /10 40/)
      })
    )
  )
})

describe.concurrent("job control", () => {
  it.live("Ctrl-C interrupts the program and leaves the shell", () =>
    withTerminals((host) =>
      Effect.gen(function* () {
        const { terminal_id: id } = yield* host.open(shell)
        yield* say(host, id, "echo begun; sleep 1000", /begun/)
        yield* host.write(id, { keys: ["interrupt"] })
        yield* say(host, id, "echo code-$?", /code-130/)
      })
    )
  )

  it.live("Ctrl-Z stops a program, and bg and fg take it up again", () =>
    withTerminals((host) =>
      Effect.gen(function* () {
        const { terminal_id: id } = yield* host.open(shell)
        yield* say(host, id, "echo begun; sleep 1000", /begun/)
        yield* host.write(id, { keys: ["suspend"] })
        yield* say(host, id, "jobs", /Stopped\s+sleep 1000/)
        yield* say(host, id, "bg", /sleep 1000 &/)
        yield* say(host, id, "jobs", /Running\s+sleep 1000/)
        yield* say(host, id, "fg", /sleep 1000/)
        yield* host.write(id, { text: "\u0003" })
        yield* say(host, id, "jobs; echo left-$(jobs | wc -l)", /left-0/)
      })
    )
  )
})

describe.concurrent("what is typed where nothing is shown", () => {
  const prompts = [
    ["read -s", "read -s -p 'Password: ' x; echo; echo got-${#x}"],
    ["read -s -n", "read -s -n 7 -p 'Code: ' x; echo; echo got-${#x}"],
    ["getpass", 'python3 -c \'import getpass; print("got-%d" % len(getpass.getpass("Key: ")))\''],
    ["stty -echo", "stty -echo; printf 'Key: '; read x; stty echo; echo; echo got-${#x}"],
    // Everything taken over, nothing that sounds like a secret, and all of it in one write.
    ["stty raw", "stty raw -echo; printf 'Go on, then '; x=$(head -c 7); stty sane; echo; echo got-${#x}"],
    ["a line editor", "bind 'set enable-bracketed-paste on'; read -e -s -p '? ' x; echo got-${#x}"]
  ] as const

  it.live.each(prompts)("is not on record: %s", ([, command]) =>
    withTerminals((host) =>
      Effect.gen(function* () {
        const { terminal_id: id } = yield* host.open({ command })
        yield* say(host, id, "hunter2", /got-7/)
        const written = host.events.find(({ tool, type }) => tool === "write_terminal" && type === "tool_call_started")
        expect(written?.["params"]).toEqual({
          terminal_id: id,
          text: "[7 characters, which the terminal does not echo]",
          keys: ["enter"]
        })
        expect(JSON.stringify(host.events)).not.toContain("hunter2")
        expect(Buffer.concat([...host.artifacts.values()]).toString()).not.toContain("hunter2")
        expect(host.questions.map(({ facts }) => facts.types?.text)).toEqual([undefined, "hunter2\r"])
      })
    )
  )

  it.live("is on record where the terminal echoes it, and in a shell by what the shell shows", () =>
    withTerminals((host) =>
      Effect.gen(function* () {
        const { terminal_id: id } = yield* host.open(shell)
        yield* say(host, id, "echo $((40+2))", /42/)
        yield* say(host, id, "cat", /cat/)
        yield* say(host, id, "plain words", /plain words[\s\S]*plain words/)
        const texts = host.events
          .filter(({ tool, type }) => tool === "write_terminal" && type === "tool_call_started")
          .map(({ params }) => (params as { text?: string }).text)
          .filter((text) => text !== undefined)
        const hidden = (count: number) => `[${count} characters, which the terminal does not echo]`
        expect(texts).toEqual([hidden(14), hidden(3), "plain words"])
        const replies = host.events.filter(({ type }) => type === "tool_call_finished").map(({ reply }) => reply)
        expect(JSON.stringify(replies)).toContain("echo $((40+2))")
      })
    )
  )
})
