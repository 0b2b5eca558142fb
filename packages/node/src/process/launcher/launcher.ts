import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs"

import { becomeSubreaper, launcher } from "../../embedded-scripts.ts"
import { systemPath, systemProgram } from "../system-programs.ts"
import { groupParents } from "./cgroup.ts"

/** Paths of the named pipes between the host and a lane. */
export interface LanePipes {
  readonly code: string
  readonly report: string
}

/**
 * A small shell beside the host. A process gets slower at starting others the more memory it has, some thirty times
 * at 1 GB; this one stays small, and starts the lanes that programs run in. It notices when the host dies, by the end
 * of its input, and then ends everything that carries the host's mark.
 */
export class Launcher {
  readonly #shell: ChildProcess
  readonly #lastWords = new Set<string>()
  readonly #lost: Promise<void>
  isLost = false

  constructor(shell: ChildProcess) {
    this.#shell = shell
    this.#lost = new Promise((resolve) => {
      shell.once("exit", () => {
        this.isLost = true
        resolve()
      })
    })
    shell.stdin?.on("error", () => undefined)
    shell.unref()
    const stdin = shell.stdin as { unref?: () => void } | null
    stdin?.unref?.()
  }

  /** Starts a shell that reads its code from one pipe and reports to another. It joins these control groups. */
  startLane({ code, report }: LanePipes, groupFiles: ReadonlyArray<string>): void {
    this.#say(["start_lane", code, report, ...groupFiles])
  }

  /** A program with arguments to run should the host die. Said once, however many commands ask for it. */
  onHostDeath(words: ReadonlyArray<string>): void {
    const code = words.map(quoted).join(" ")
    if (this.#lastWords.has(code)) return
    this.#lastWords.add(code)
    this.#say(["on_host_death", code])
  }

  /** Ends the launcher, which sweeps what still carries the mark. */
  async close(): Promise<void> {
    this.#shell.ref()
    this.#shell.stdin?.end()
    await this.#lost
  }

  #say(words: ReadonlyArray<string>): void {
    this.#shell.stdin?.write(`${words.map(quoted).join(" ")}\n`)
  }
}

export interface LauncherOptions {
  /** The beginning of an assignment that every program gets. */
  readonly mark: string
  /** A directory to be removed in the end. */
  readonly runtime: string
  /** The beginning of the names of groups to be removed in the end. */
  readonly groups: string
}

export const startLauncher = async ({ mark, runtime, groups }: LauncherOptions): Promise<Launcher> => {
  const { spawn } = await import("node:child_process")
  const nothing = openSync("/dev/null", "r+")
  const perl = systemProgram("perl")
  const prctl = process.arch === "arm64" ? "167" : "157"
  const adopting = perl === undefined ? [] : [perl, "-e", becomeSubreaper, prctl]
  const [program, ...args] = [
    ...adopting,
    "/bin/sh",
    "-s",
    mark,
    runtime,
    perl ?? "",
    becomeSubreaper,
    prctl,
    ...groupParents().map((parent) => `${parent}/${groups}`)
  ] as [string, ...Array<string>]
  const shell = spawn(program, args, {
    env: { PATH: systemPath },
    cwd: "/",
    stdio: ["pipe", "ignore", "ignore", ...insteadOf(inherited(), nothing)],
    detached: true
  })
  closeSync(nothing)
  if (shell.pid === undefined) {
    const [cause] = (await once(shell, "error")) as [Error]
    throw cause
  }
  shell.stdin?.write(launcher)
  return new Launcher(shell)
}

/**
 * Descriptors that this process was started with and would hand on to every command: a directory among them leads out
 * of any sandbox. What Node opens itself it does not hand on.
 */
const inherited = (): ReadonlyArray<number> =>
  readdirSync("/proc/self/fdinfo")
    .map(Number)
    .filter((descriptor) => descriptor > 2 && !isClosedOnExec(descriptor))

const isClosedOnExec = (descriptor: number): boolean => {
  try {
    const flags = /^flags:\s+(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "latin1"))?.[1]
    return (Number.parseInt(flags ?? "0", 8) & closeOnExec) !== 0
  } catch {
    // The one that the directory was read with.
    return true
  }
}

const closeOnExec = 0o2000000

/** The entries of `stdio` from descriptor 3 on: `other` takes the place of each of these descriptors. */
const insteadOf = (descriptors: ReadonlyArray<number>, other: number): ReadonlyArray<number | "ignore"> =>
  Array.from({ length: Math.max(2, ...descriptors) - 2 }, (_, index) =>
    descriptors.includes(index + 3) ? other : "ignore"
  )

/** A word for a POSIX shell. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
