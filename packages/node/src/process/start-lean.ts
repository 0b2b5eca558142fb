import { randomBytes } from "node:crypto"
import { closeSync, writeSync } from "node:fs"
import { constants } from "node:os"

import { type Launch, type Launcher, lostCode, startLauncher } from "./launcher.ts"
import { memoryFile } from "./memory-file.ts"
import { openForWriting, PipePool, readPipe } from "./pipes.ts"
import type { Gate, Start, Started, Stream } from "./started.ts"

export const markName = "HAFT_CALL"

/** What was opened for a program, and how it is closed again should the program not start. */
type Opened = Array<() => void>

/** Starts programs through a launcher, made with the first of them: see {@link Launcher}. */
export class LeanStarter {
  /** The beginning of every mark this host gives. */
  readonly host: string = randomBytes(8).toString("hex")
  readonly #pipes = new PipePool(async (paths) => {
    const { execa } = await import("execa")
    await execa("mkfifo", ["-m", "600", ...paths])
  })
  #launcher: Promise<Launcher> | undefined

  readonly start: Start = async (request) => {
    const launcher = await this.#ready()
    const opened: Opened = []
    try {
      return await this.#startWith(launcher, request, opened)
    } catch (cause) {
      for (const close of opened) close()
      throw cause
    }
  }

  /** Makes sure that there is a launcher to notice the host's death, also when it started nothing itself. */
  readonly watch = async (): Promise<void> => {
    await this.#ready()
  }

  async close(): Promise<void> {
    const launcher = await this.#launcher
    await launcher?.close()
    this.#pipes.remove()
  }

  async #startWith(
    launcher: Launcher,
    { command, mark, onStdout, onStderr, onGate }: Parameters<Start>[0],
    opened: Opened
  ): Promise<Started> {
    const { descriptors = [], gated = false } = command
    const paths = await this.#pipes.take(gated ? 4 : 2)
    const [stdoutPath = "", stderrPath = "", goPath = "", gatePath = ""] = paths
    const readers = [this.#listen(stdoutPath, onStdout, opened), this.#listen(stderrPath, onStderr, opened)]
    const input = command.stdin === undefined ? undefined : memoryFile(command.stdin)
    if (input !== undefined) opened.push(() => closeSync(input))
    const lent = (descriptor: number) => ({ path: `/proc/${process.pid}/fd/${descriptor}`, mode: "<" as const })
    const streams: Launch["streams"] = new Map([
      [0, input === undefined ? { path: "/dev/null", mode: "<" } : lent(input)],
      [1, { path: stdoutPath, mode: ">" }],
      [2, { path: stderrPath, mode: ">" }],
      ...descriptors.map((descriptor, index) => [3 + index, lent(descriptor)] as const),
      ...(gated
        ? ([
            [3 + descriptors.length, { path: goPath, mode: "<" }],
            [4 + descriptors.length, { path: gatePath, mode: ">" }]
          ] as const)
        : [])
    ])
    const gate = gated ? this.#gate(goPath, gatePath, onGate, opened) : undefined
    const { program, args, directory, ifHostDies } = command
    const env = { ...command.env, [mark.name]: mark.value }
    const launched = await launcher.start({
      program,
      args,
      directory,
      env,
      streams,
      ownSession: !gated,
      ...(ifHostDies !== undefined && { ifHostDies })
    })
    void launched.end.finally(() => {
      if (input !== undefined) closeSync(input)
      if (gate === undefined) return
      gate.hangUp()
      this.#pipes.giveBack(goPath)
    })
    return {
      root: launched.waiter,
      spared: [launched.waiter],
      end: launched.end.then(endOf),
      streams: readers,
      ...(gate !== undefined && { gate })
    } satisfies Started
  }

  async #ready(): Promise<Launcher> {
    const launcher = await (this.#launcher ??= startLauncher(`${markName}=${this.host}.`, this.#pipes.directory))
    if (!launcher.isLost) return launcher
    this.#launcher = undefined
    return this.#ready()
  }

  #listen(path: string, onChunk: (chunk: Uint8Array) => void, opened: Opened): Stream {
    const reader = readPipe(path, onChunk)
    opened.push(() => reader.close())
    void reader.closed.then((isWhole) => (isWhole ? this.#pipes.giveBack(path) : this.#pipes.throwAway(path)))
    return reader
  }

  #gate(
    goPath: string,
    gatePath: string,
    onLine: (line: string) => void,
    opened: Opened
  ): Gate & { readonly hangUp: () => void } {
    const go = openForWriting(goPath)
    opened.push(() => go.close())
    let rest = ""
    const reader = this.#listen(
      gatePath,
      (chunk) => {
        const lines = (rest + Buffer.from(chunk).toString("latin1")).split("\n")
        rest = (lines.pop() ?? "").slice(-4096)
        lines.forEach(onLine)
      },
      opened
    )
    return {
      open: () => writeSync(go.descriptor, "go\n"),
      refuse: () => writeSync(go.descriptor, "no\n"),
      hangUp: () => go.close(),
      close: () => {
        go.close()
        reader.close()
      }
    }
  }
}

const endOf = (code: number): Awaited<Started["end"]> => {
  if (code === lostCode) return { exitCode: null, signal: null }
  const signal = signalNames.get(code - 128)
  return signal === undefined ? { exitCode: code, signal: null } : { exitCode: null, signal }
}

const signalNames = new Map(
  Object.entries(constants.signals).map(([name, number]) => [number, name as NodeJS.Signals] as const)
)
