import { randomBytes } from "node:crypto"
import { closeSync, constants, openSync, writeSync } from "node:fs"

import { makeToolError, reportDescriptor } from "@haft/core"

import { boundPath } from "../../workspace/paths/open-roots.ts"
import { launchOf } from "../prepared-launch.ts"
import { Cancelled, type Gate, type Start, type Started, type Stream } from "../started.ts"
import { requiredProgram, systemPath } from "../system-programs.ts"
import { groupName } from "./cgroup.ts"
import { LanePool } from "./lane-pool.ts"
import type { Lane, Launch } from "./lane.ts"
import { type Launcher, startLauncher } from "./launcher.ts"
import { memoryFile } from "./memory-file.ts"
import { openForWriting, PipePool, readPipe } from "./pipes.ts"

export const markName = "HAFT_CALL"

/** Files opened for a program, and how to close them should the program not start. */
type Opened = Array<() => void>

/** The two pipes of a control channel. */
interface Channel {
  readonly input: { readonly path: string; readonly mode: "<" }
  readonly report: { readonly path: string; readonly mode: ">" }
  readonly send: (text: string) => void
  readonly release: () => void
}

type ReleasableGate = Gate & { readonly release: () => void }

/** Starts programs through a launcher, made with the first of them: see {@link Launcher}. */
export class LeanStarter {
  /** The beginning of every mark this host gives. */
  readonly host: string = randomBytes(8).toString("hex")
  readonly #pipes = new PipePool(async (paths) => {
    const { execa } = await import("execa")
    // Nobody else comes to where they are. Who was handed one may open it anew as /dev/stderr, whoever that is.
    await execa(requiredProgram("mkfifo"), ["-m", "666", ...paths], { env: { PATH: systemPath }, extendEnv: false })
  })
  readonly #groups = groupName(this.host)
  readonly #lanes = new LanePool({ launcher: () => this.#ready(), pipes: this.#pipes, groupName: this.#groups })
  #launcher: Promise<Launcher> | undefined
  #isClosed = false

  readonly start: Start = async (request) => {
    // A launcher made now would be nobody's.
    if (this.#isClosed) throw makeToolError("sandbox_error", "the host is closed and starts nothing any more")
    const { limits } = launchOf(request.command)
    const lane = await this.#lanes.take(limits)
    const opened: Opened = [() => this.#lanes.giveBack(lane, limits)]
    try {
      if (request.isCancelled()) throw new Cancelled()
      return await this.#startIn(lane, request, opened)
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
    this.#isClosed = true
    this.#lanes.close()
    const launcher = await this.#launcher
    await launcher?.close()
    this.#pipes.remove()
  }

  async #startIn(
    lane: Lane,
    { command, mark, onStdout, onStderr, onReport, onGate, isCancelled, addressSpaceBytes }: Parameters<Start>[0],
    opened: Opened
  ): Promise<Started> {
    const { files = [], gated = false, limits, ifHostDies } = launchOf(command)
    const [stdoutPath = "", stderrPath = "", gatePath = ""] = await this.#pipes.take("read", gated ? 3 : 2)
    const [goPath = ""] = gated ? await this.#pipes.take("write", 1) : []
    const readers = [this.#listen(stdoutPath, onStdout, opened), this.#listen(stderrPath, onStderr, opened)]
    if (isCancelled()) throw new Cancelled()
    const channel = onReport === undefined ? undefined : await this.#channel(onReport, opened)
    const held: Array<number> = []
    opened.push(() => held.forEach((descriptor) => closeSync(descriptor)))
    const lend = (content: string | Uint8Array) => {
      const descriptor = memoryFile(this.#pipes.directory, content)
      held.push(descriptor)
      return { path: `/proc/${process.pid}/fd/${descriptor}`, mode: "<" as const }
    }
    const streams: Launch["streams"] = new Map([
      [0, channel?.input ?? (command.stdin === undefined ? { path: "/dev/null", mode: "<" } : lend(command.stdin))],
      [1, { path: stdoutPath, mode: ">" }],
      [2, { path: stderrPath, mode: ">" }],
      ...files.map((content, index) => [3 + index, lend(content)] as const),
      ...(gated
        ? ([
            [3 + files.length, { path: goPath, mode: "<" }],
            [4 + files.length, { path: gatePath, mode: ">" }]
          ] as const)
        : []),
      ...(channel === undefined ? [] : ([[reportDescriptor, channel.report]] as const))
    ])
    const gate = gated ? this.#gate(goPath, gatePath, onGate, opened) : undefined
    const { program, args } = command
    if (ifHostDies !== undefined) (await this.#ready()).onHostDeath(ifHostDies)
    const directory = boundPath(command.directory)
    const env = { ...command.env, [mark.name]: mark.value }
    const end = lane.run({ program, args, directory, env, streams, isSandbox: gated, addressSpaceBytes })
    return {
      root: lane.pid,
      spared: [lane.pid],
      end,
      streams: readers,
      ...(gate !== undefined && { gate }),
      ...(channel !== undefined && { send: channel.send }),
      release: () => {
        for (const descriptor of held) closeSync(descriptor)
        gate?.release()
        channel?.release()
        this.#lanes.giveBack(lane, limits)
      }
    } satisfies Started
  }

  async #channel(onReport: (chunk: Uint8Array) => void, opened: Opened): Promise<Channel> {
    const [reportPath = ""] = await this.#pipes.take("read", 1)
    const [inputPath = ""] = await this.#pipes.take("write", 1)
    const report = this.#listen(reportPath, onReport, opened)
    // Both ways, because opening only for writing waits for a reader.
    const descriptor = openSync(inputPath, constants.O_RDWR | constants.O_NONBLOCK)
    const { Socket } = process.getBuiltinModule("node:net")
    const input = new Socket({ fd: descriptor, readable: false, writable: true })
    input.on("error", () => undefined)
    input.unref()
    const release = (): void => {
      input.destroy()
      report.close()
      // It may hold what nobody has read.
      this.#pipes.throwAway(inputPath)
    }
    opened.push(release)
    return {
      input: { path: inputPath, mode: "<" },
      report: { path: reportPath, mode: ">" },
      send: (text) => void input.write(text),
      release
    }
  }

  async #ready(): Promise<Launcher> {
    const launcher = await (this.#launcher ??= startLauncher({
      mark: `${markName}=${this.host}.`,
      runtime: this.#pipes.directory,
      groups: this.#groups
    }).catch((cause: unknown) => {
      this.#launcher = undefined
      throw cause
    }))
    if (!launcher.isLost) return launcher
    this.#launcher = undefined
    return this.#ready()
  }

  #listen(path: string, onChunk: (chunk: Uint8Array) => void, opened: Opened): Stream {
    const reader = readPipe(path, onChunk)
    opened.push(() => reader.close())
    void reader.closed.then((isWhole) => (isWhole ? this.#pipes.giveBack("read", path) : this.#pipes.throwAway(path)))
    return reader
  }

  #gate(goPath: string, gatePath: string, onLine: (line: string) => void, opened: Opened): ReleasableGate {
    const go = openForWriting(goPath)
    opened.push(() => go.close())
    let rest = ""
    let hasEnded = false
    const reader = this.#listen(
      gatePath,
      (chunk) => {
        const lines = (rest + Buffer.from(chunk).toString("latin1")).split("\n")
        rest = (lines.pop() ?? "").slice(-4096)
        hasEnded ||= lines.some((line) => line.startsWith("end "))
        lines.forEach(onLine)
      },
      opened
    )
    return {
      ended: reader.ended,
      open: () => writeSync(go.descriptor, "go\n"),
      refuse: () => writeSync(go.descriptor, "no\n"),
      release: () => {
        go.close()
        reader.close()
        // One that was killed while it waited for its word could still take the next one's.
        if (hasEnded) this.#pipes.giveBack("write", goPath)
        else this.#pipes.throwAway(goPath)
      }
    }
  }
}
