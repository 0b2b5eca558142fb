import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

import { type Command, memoryJournal, Processes } from "@haft/core"
import { fileArtifacts, nodeProcesses } from "@haft/node"
import { type Terminal, terminals, Terminals, terminalsConfig } from "@haft/pty-tools"
import { type IPty, spawn } from "@lydell/node-pty"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"

import type { Group } from "../benchmark.ts"

const bare = "the native module alone"
const size = { cols: 80, rows: 24 }
const term = "xterm-256color"

/**
 * A terminal compared with the native module alone: haft also records it, keeps its output, and watches for its end.
 */
export const benchmarks: Group = async function* ({ quick }) {
  const directory = mkdtempSync(join(tmpdir(), "haft-bench-terminals-"))
  const services = Layer.merge(nodeProcesses, fileArtifacts({ directory }).pipe(Layer.provideMerge(memoryJournal())))
  const runtime = ManagedRuntime.make(terminals(terminalsConfig.parse({})).pipe(Layer.provideMerge(services)))
  const open = (line: string): Promise<Terminal> => runtime.runPromise(opening(line))

  for (const sessions of quick ? [1, 8] : [1, 8, 64]) {
    // The terminal device itself echoes each key (^M for return), so that no program is measured.
    const echoing = "stty raw echo; echo ready; exec cat > /dev/null"
    const natives = Array.from({ length: sessions }, () => startNative(echoing))
    const nativesUp = natives.map(({ onData }) => new Promise<void>((resolve) => void onData(() => resolve())))
    const ours = await Promise.all(natives.map(() => open(echoing)))
    await Promise.all([...nativesUp, ...ours.map(hasPrinted)])
    // The first output shows that the device is set up; the rest of the output gets a moment to arrive.
    await sleep(500)
    const echoed = { check: expectBytes(2 * sessions) }
    yield {
      group: "terminals",
      name: "a key pressed and echoed in each",
      size: { value: sessions, label: sessions === 1 ? "1 session" : `${sessions} sessions` },
      floor: bare,
      contenders: [
        { name: bare, kind: "limit", run: () => sumOf(natives.map(nativeEcho)), ...echoed },
        { name: "haft", kind: "haft", atMost: 2, run: () => sumOf(ours.map(echo)), ...echoed }
      ],
      close: async () => {
        for (const terminal of natives) terminal.kill()
        await runtime.runPromise(
          Terminals.use((service) => Effect.forEach(ours, ({ id }) => service.close(id), { concurrency: "unbounded" }))
        )
      }
    }
  }

  const bytes = (quick ? 5 : 50) * 1024 * 1024
  const flood = `head -c ${bytes} /dev/zero`
  yield {
    group: "terminals",
    name: "a flood",
    size: { value: bytes, label: `${bytes / 1024 / 1024} MB` },
    floor: bare,
    contenders: [
      { name: bare, kind: "limit", run: () => nativeFlood(flood), check: expectBytes(bytes) },
      {
        name: "haft",
        kind: "haft",
        atMost: 2,
        run: async () => {
          const terminal = await open(flood)
          await runtime.runPromise(terminal.ended)
          const { end } = terminal.output
          await runtime.runPromise(Terminals.use((service) => service.close(terminal.id)))
          return end
        },
        check: expectBytes(bytes)
      }
    ],
    close: async () => {
      await runtime.dispose()
      rmSync(directory, { recursive: true, force: true })
    }
  }
}

const hasPrinted = (terminal: Terminal): Promise<void> =>
  new Promise((resolve) => {
    const look = (): void => {
      if (terminal.output.end > 0) resolve()
    }
    terminal.onChange(look)
    look()
  })

const commandFor = (line: string): Command => ({
  program: "bash",
  args: ["-c", line],
  directory: "/",
  env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin", TERM: term }
})

const opening = Effect.fnUntraced(function* (line: string) {
  const processes = yield* Processes
  const service = yield* Terminals
  const mark = yield* processes.mark
  return yield* service.open({ command: commandFor(line), commandLine: line, directory: ".", size, term, mark })
})

const startNative = (line: string): IPty => {
  const { program, args, directory, env } = commandFor(line)
  return spawn(program, [...args], { ...size, cwd: directory, env, encoding: null })
}

const sumOf = async (counts: ReadonlyArray<Promise<number>>): Promise<number> =>
  (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)

const nativeEcho = (terminal: IPty): Promise<number> =>
  new Promise((resolve) => {
    const listener = terminal.onData((chunk) => {
      listener.dispose()
      resolve(chunk.length)
    })
    terminal.write("\r")
  })

const echo = (terminal: Terminal): Promise<number> =>
  new Promise((resolve) => {
    const before = terminal.output.end
    const stop = terminal.onChange(() => {
      stop()
      resolve(terminal.output.end - before)
    })
    terminal.type("\r")
  })

const nativeFlood = (line: string): Promise<number> =>
  new Promise((resolve) => {
    const terminal = startNative(line)
    let received = 0
    terminal.onData((chunk) => (received += chunk.length))
    terminal.onExit(() => resolve(received))
  })

const expectBytes =
  (expected: number) =>
  (answer: unknown): void => {
    if (answer !== expected) throw new Error(`${String(answer)} bytes, not ${expected}`)
  }
