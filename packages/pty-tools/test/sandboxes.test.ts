import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { afterAll, describe, expect, it, vi } from "@effect/vitest"
import { bubblewrapSandbox, containerSandbox, unshareSandbox } from "@haft/node"
import * as Effect from "effect/Effect"

import { type TerminalHostOptions, withTerminals } from "./host.ts"
import { appeared, carrying, uniqueSleep } from "./processes.ts"

const state = mkdtempSync(join(tmpdir(), "haft-test-state-"))
afterAll(() => rmSync(state, { recursive: true }))

const behind = (kind: string, sandbox: NonNullable<TerminalHostOptions["sandbox"]>): void => {
  const sandboxed = { sandbox }

  it.live("a shell has job control: Ctrl-C interrupts the program and leaves the shell", () =>
    withTerminals(
      (host) =>
        Effect.gen(function* () {
          const opened = yield* host.open({ command: "bash --norc --noprofile" })
          const { terminal_id: id } = opened
          expect(opened["sandbox"]).toBe(kind)
          const begun = yield* host.write(id, { text: "echo beg''un; sleep 1000", keys: ["enter"] })
          yield* host.until(id, /begun/, begun.output)
          yield* host.write(id, { keys: ["interrupt"] })
          const code = yield* host.write(id, { text: "echo code-$?", keys: ["enter"] })
          yield* host.until(id, /code-130/, code.output)
          const stopped = yield* host.write(id, { text: "sleep 1000", keys: ["enter"] })
          yield* host.until(id, /sleep 1000/, stopped.output)
          yield* host.write(id, { keys: ["suspend"] })
          const jobs = yield* host.write(id, { text: "jobs", keys: ["enter"] })
          yield* host.until(id, /Stopped\s+sleep 1000/, jobs.output)
        }),
      sandboxed
    )
  )

  it.live("Ctrl-C is for the program to deal with, without a shell that does job control", () =>
    withTerminals(
      (host) =>
        Effect.gen(function* () {
          const command = "trap 'echo caught' INT; echo begun; while :; do sleep 0.1; done"
          const { terminal_id: id, output } = yield* host.open({ command })
          yield* host.until(id, /begun/, output)
          for (let times = 0; times < 2; times++) {
            const caught = yield* host.write(id, { keys: ["interrupt"] })
            yield* host.until(id, /caught/, caught.output)
            expect(caught.state).toBe("running")
          }
          const sleeping = yield* host.open({ command: "echo up; sleep 1000" })
          yield* host.until(sleeping.terminal_id, /up/, sleeping.output)
          let shown = yield* host.write(sleeping.terminal_id, { keys: ["interrupt"] })
          while (shown.state === "running") shown = yield* host.write(sleeping.terminal_id)
          expect(shown.exit_code).toBe(130)
        }),
      sandboxed
    )
  )

  it.live("programs see the workspace and neither the network nor the host's processes", () =>
    withTerminals(
      ({ run, workspace }) =>
        Effect.gen(function* () {
          // Some engines tell the size a moment after the start.
          const command =
            "until stty size 2>/dev/null | grep -q 33; do sleep 0.05; done; cat note.txt; echo made > made.txt; ls /proc | grep -c '^[0-9]'; ls /sys/class/net 2>/dev/null | grep -vc lo; ls ~/.ssh; stty size"
          const { output, exit_code } = yield* run({ command, rows: 33, cols: 99 })
          expect(exit_code).toBe(0)
          const [note, processes, , , size] = output.split("\r\n")
          expect(note).toBe("here")
          expect(Number(processes)).toBeLessThan(8)
          expect(size).toBe("33 99")
          expect(workspace.read("made.txt")).toBe("made\n")
        }),
      { ...sandboxed, files: { "note.txt": "here\n" } }
    )
  )

  it.live("a password stays off the record", () =>
    withTerminals(
      (host) =>
        Effect.gen(function* () {
          const { terminal_id: id } = yield* host.open({ command: "read -s -p 'Key: ' x; echo; echo got-${#x}" })
          const { output } = yield* host.write(id, { text: "hunter2", keys: ["enter"] })
          yield* host.until(id, /got-7/, output)
          expect(JSON.stringify(host.events)).not.toContain("hunter2")
        }),
      sandboxed
    )
  )

  it.live("a recording says which terminal the program has", () =>
    withTerminals(
      ({ run, artifacts }) =>
        Effect.gen(function* () {
          const { output, recording } = yield* run({ command: "echo $TERM" })
          // On a busy machine docker itself adds that the program was gone before it could be told the size.
          expect(output.replace("failed to resize tty, using default size\r\n", "")).toBe("xterm-256color\r\n")
          const [header = ""] = Buffer.from(artifacts.get(String(recording)) ?? [])
            .toString()
            .split("\n")
          expect(JSON.parse(header)).toMatchObject({
            version: 2,
            command: "echo $TERM",
            env: { TERM: "xterm-256color" }
          })
        }),
      sandboxed
    )
  )

  it.live("control files that its programs made are moved aside with the next reply, and told", () =>
    withTerminals(
      ({ open, call, write, until, workspace, events }) =>
        Effect.gen(function* () {
          const { terminal_id, output } = yield* open({ command: "bash --norc --noprofile" })
          const typed = yield* write(terminal_id, { text: "echo evil > .envrc; echo do''ne", keys: ["enter"] })
          yield* until(terminal_id, /done/, output + typed.output)
          expect(yield* write(terminal_id, {})).toMatchObject({ control_files: [{ path: ".envrc" }] })
          expect(workspace.exists(".envrc")).toBe(false)
          const closed = yield* call("close_terminal", { terminal_id })
          expect(closed.text).toContain("moved out of the workspace: .envrc")
          expect(events.filter(({ type }) => type === "control_files_changed")).toMatchObject([
            { terminal: terminal_id, files: [{ path: ".envrc" }] }
          ])
        }),
      sandboxed
    )
  )

  it.live("control files that its programs made since the last reply are moved aside at its end", () =>
    withTerminals(
      ({ open, call, workspace }) =>
        Effect.gen(function* () {
          const { terminal_id } = yield* open({
            command: "echo up; while ! [ -e go ]; do sleep 0.05; done; echo evil > .envrc; cat"
          })
          workspace.put("go", "")
          yield* Effect.promise(() =>
            vi.waitFor(() => expect(workspace.exists(".envrc")).toBe(true), { timeout: 60_000, interval: 20 })
          )
          const closed = yield* call("close_terminal", { terminal_id })
          expect(closed.wire).toMatchObject({ result: { control_files: [{ path: ".envrc" }] } })
          expect(workspace.exists(".envrc")).toBe(false)
        }),
      sandboxed
    )
  )

  it.live("nothing survives closing, and nothing stays on disk", () =>
    withTerminals(
      ({ open, call }) =>
        Effect.gen(function* () {
          const word = uniqueSleep()
          const { terminal_id } = yield* open({ command: `setsid ${word} & trap '' HUP TERM; ${word}` })
          yield* Effect.promise(() => appeared(word, 2))
          yield* call("close_terminal", { terminal_id })
          expect(carrying(word)).toEqual([])
        }),
      sandboxed
    )
  )
}

describe.concurrent("behind bubblewrap", () => {
  behind("bubblewrap", bubblewrapSandbox({ state }))
})

describe.concurrent("behind unshare", () => {
  behind("unshare", unshareSandbox({ state }))
})

const image = "haft-test"
const hasEngine = spawnSync("docker", ["image", "inspect", image]).status === 0

describe.runIf(hasEngine)("behind docker (needs an engine and the image haft-test, see .ci/test-image)", () => {
  behind("docker", containerSandbox({ engine: "docker", image, state }))

  // An engine takes a moment to remove one, and another host may have its own.
  it("leaves no container behind", async () => {
    const words = ["ps", "--all", "--quiet", "--filter", "label=haft.host"]
    const left = () => spawnSync("docker", words, { encoding: "utf8" }).stdout
    await expect.poll(left, { timeout: 60_000, interval: 100 }).toBe("")
  }, 90_000)
})
