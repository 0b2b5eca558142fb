import { constants, openSync } from "node:fs"
import type { Socket } from "node:net"

import { lane as laneScript } from "../../embedded-scripts.ts"
import { type End, endOf } from "../started.ts"
import type { LimitedGroup } from "./cgroup.ts"
import { type LanePipes, type Launcher, quoted } from "./launcher.ts"
import { type PipeReader, readPipe } from "./pipes.ts"

/** Request to a lane to run one program. Streams are paths, so that the host need not lend descriptors. */
export interface Launch {
  readonly program: string
  readonly args: ReadonlyArray<string>
  readonly directory: string
  readonly env: Readonly<Record<string, string>>
  /** By descriptor number: which path, and whether it is read or written. */
  readonly streams: ReadonlyMap<number, { readonly path: string; readonly mode: "<" | ">" }>
  /** A sandbox's launcher: it dies with the lane, and clears the environment itself. Others get a session of their own. */
  readonly isSandbox: boolean
  readonly addressSpaceBytes: number | undefined
}

/**
 * A small shell that runs one program after the other. Limits are the lane's: a process that is moved into a group
 * waits for all the machine's processors, so a lane is moved once, and what it runs is born there.
 */
export class Lane {
  readonly group: LimitedGroup | undefined
  readonly pipes: LanePipes
  readonly ready: Promise<boolean>
  readonly #code: Socket
  readonly #report: PipeReader
  #pid = 0
  #end: (end: End) => void = () => undefined
  isLost = false

  constructor(launcher: Launcher, pipes: LanePipes, group?: LimitedGroup) {
    this.group = group
    this.pipes = pipes
    // Both ways, because opening only for writing waits for a reader.
    const descriptor = openSync(pipes.code, constants.O_RDWR | constants.O_NONBLOCK)
    const net = process.getBuiltinModule("node:net")
    this.#code = new net.Socket({ fd: descriptor, readable: false, writable: true })
    this.#code.on("error", () => undefined)
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.ready = promise
    let rest = ""
    // A shell says so when a signal ended its program. It keeps quiet about two, see the documentation of ProcessEnd.
    let hasRemarked = false
    this.#report = readPipe(pipes.report, (chunk) => {
      const lines = (rest + Buffer.from(chunk).toString("latin1")).split("\n")
      rest = lines.pop() ?? ""
      for (const line of lines) {
        const [word, value] = line.split(" ")
        if (word === "lane") {
          this.#pid = Number(value)
          resolve(true)
        }
        if (word === "end") this.#finish(endOf(Number(value), hasRemarked))
        hasRemarked = word !== "lane" && word !== "end"
      }
    })
    void this.#report.ended.finally(() => {
      this.isLost = true
      this.#code.destroy()
      resolve(false)
      this.#finish(unknownEnd)
    })
    this.#code.unref()
    this.#code.write(laneScript)
    launcher.startLane(pipes, group?.joinFiles ?? [])
  }

  get pid(): number {
    return this.#pid
  }

  /** Runs a program and waits for its end. One at a time. */
  run(launch: Launch): Promise<End> {
    if (this.isLost) return Promise.resolve(unknownEnd)
    this.#report.hold(true)
    const { promise, resolve } = Promise.withResolvers<End>()
    this.#end = resolve
    this.#code.write(codeFor(launch))
    return promise
  }

  /** Ends an idle lane. */
  async close(): Promise<void> {
    this.#code.destroy()
    await this.#report.ended
    await this.group?.remove()
  }

  // A host that has nothing to wait for may end; one that runs a program may not.
  #finish(end: End): void {
    this.#report.hold(false)
    this.#end(end)
  }
}

// The lane was killed.
const unknownEnd: End = { exitCode: null, signal: null }

const codeFor = ({ program, args, directory, env, streams, isSandbox, addressSpaceBytes }: Launch): string => {
  const redirections = [...streams].map(([descriptor, { path, mode }]) => `${descriptor}${mode}${quoted(path)}`)
  const words = [quoted(program), ...args.map(quoted), ...redirections, "9>&-"].join(" ")
  // Where memory runs short, what is in a sandbox goes before the host and before the lane.
  const run = isSandbox
    ? `echo 500 >/proc/self/oom_score_adj; ${exported(env)}; exec ${words}`
    : `unset PATH PWD OLDPWD SHLVL; ${exported(env)}; exec "$1" ${nonIdentifierVariables(env)}${words}`
  const limit =
    addressSpaceBytes === undefined
      ? ""
      : `{ ulimit -c 0; ulimit -v ${Math.ceil(addressSpaceBytes / 1024)}; } 2>/dev/null; `
  return `( cd ${quoted(directory)} && { ${limit}${run}; } ); echo "end $?" >&9\n`
}

// A command line is for everybody to read, and values may be secrets. Some names a shell keeps for itself; `command`
// sees to it that it goes on.
const exported = (env: Launch["env"]): string =>
  `command export ${Object.entries(env)
    .filter(([name]) => isIdentifier(name))
    .map(([name, value]) => `${name}=${quoted(value)}`)
    .join(" ")} 2>/dev/null`

/** Variables whose names no shell takes, for `env`, which does. */
const nonIdentifierVariables = (env: Launch["env"]): string => {
  const assignments = Object.entries(env)
    .filter(([name]) => !isIdentifier(name))
    .map(([name, value]) => quoted(`${name}=${value}`))
  return assignments.length === 0 ? "" : `"$2" ${assignments.join(" ")} `
}

const isIdentifier = (name: string): boolean => /^[A-Za-z_]\w*$/.test(name)
