import type { ChildProcess } from "node:child_process"
import { createInterface } from "node:readline"

/** What a launcher needs to know to start one program. Streams are paths, so that the host need not lend descriptors. */
export interface Launch {
  readonly program: string
  readonly args: ReadonlyArray<string>
  readonly directory: string
  readonly env: Readonly<Record<string, string>>
  /** By descriptor number: which path, and whether it is read or written. */
  readonly streams: ReadonlyMap<number, { readonly path: string; readonly mode: "<" | ">" }>
  /** Starts a session of its own, so that a signal to its group reaches nobody else. */
  readonly ownSession: boolean
  /** A program with arguments to run should the host die first. */
  readonly ifHostDies?: ReadonlyArray<string>
}

export interface Launched {
  /** Waits for the program and reports its end; the program is its child. */
  readonly waiter: number
  /** The exit code, 128 + number for a signal. */
  readonly end: Promise<number>
}

/**
 * A small shell beside the host that starts every program. A process gets slower at starting others the more
 * memory it has, some thirty times at 1 GB; this one stays small. It notices when the host dies, by the end of
 * its input, and then ends everything that carries the host's mark.
 */
export class Launcher {
  readonly #shell: ChildProcess
  readonly #waiting = new Map<number, Waiting>()
  readonly #wills = new Set<string>()
  readonly lost: Promise<void>
  #count = 0
  isLost = false

  constructor(shell: ChildProcess) {
    this.#shell = shell
    this.lost = new Promise((resolve) => {
      shell.once("exit", () => {
        this.#giveUp()
        resolve()
      })
    })
    if (shell.stdout !== null) createInterface({ input: shell.stdout }).on("line", (line) => this.#hear(line))
    shell.stdin?.on("error", () => undefined)
    this.#rest()
  }

  async start(launch: Launch): Promise<Launched> {
    const id = ++this.#count
    const begun = Promise.withResolvers<number>()
    const ended = Promise.withResolvers<number>()
    this.#waiting.set(id, { begin: begun.resolve, end: ended.resolve, heard: 0 })
    this.#wake()
    this.#shell.stdin?.write(this.#lastWill(launch.ifHostDies) + codeFor(id, launch))
    return { waiter: await begun.promise, end: ended.promise }
  }

  /** Ends the launcher, which sweeps what still carries the mark. */
  async close(): Promise<void> {
    this.#wake()
    this.#shell.stdin?.end()
    await this.lost
  }

  #hear(line: string): void {
    const [word, id, value] = line.split(" ")
    const waiting = this.#waiting.get(Number(id))
    if (waiting === undefined) return
    if (word === "begin") waiting.begin(Number(value))
    if (word === "end") waiting.end(Number(value))
    // A short program's end may be told before its beginning.
    waiting.heard += 1
    if (waiting.heard < 2) return
    this.#waiting.delete(Number(id))
    if (this.#waiting.size === 0) this.#rest()
  }

  #giveUp(): void {
    this.isLost = true
    for (const { begin, end } of this.#waiting.values()) {
      begin(0)
      end(lostCode)
    }
    this.#waiting.clear()
  }

  // Said once, however many commands ask for it.
  #lastWill(words: ReadonlyArray<string> | undefined): string {
    const will = words?.map(quoted).join(" ")
    if (will === undefined || this.#wills.has(will)) return ""
    this.#wills.add(will)
    return `orphans="$orphans"${quoted(`${will};`)}\n`
  }

  // A host that has nothing to wait for may end; one that runs a program may not.
  #wake(): void {
    this.#shell.ref()
    refStream(this.#shell.stdout, true)
  }

  #rest(): void {
    this.#shell.unref()
    refStream(this.#shell.stdout, false)
    refStream(this.#shell.stdin, false)
  }
}

interface Waiting {
  readonly begin: (pid: number) => void
  readonly end: (code: number) => void
  heard: number
}

/** The code of a program whose launcher was killed: nobody knows how it ended. */
export const lostCode = -1

/** Starts a launcher. `mark` is the beginning of an assignment that every program gets; `litter` is removed in the end. */
export const startLauncher = async (mark: string, litter: string): Promise<Launcher> => {
  const { execa } = await import("execa")
  const shell = execa("/bin/sh", ["-s", mark, litter], {
    env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin" },
    extendEnv: false,
    cwd: "/",
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
    buffer: false,
    detached: true,
    cleanup: false,
    reject: false
  })
  shell.stdin.write(prologue)
  return new Launcher(shell.nodeChildProcess)
}

// Descriptor 9 leads to the host, and to write there when it is gone must not end this shell. The trap runs when the host closes its end, or dies. Programs in sandboxes die
// with the waiters, which are all in this shell's group; the others are found by the mark.
const prologue = `
exec 9>&1 >/dev/null
mark=$1 litter=$2 orphans=
ending() {
  trap '' TERM HUP INT PIPE
  eval "$orphans"
  quiet=0 rounds=0
  while [ $quiet -lt 3 ] && [ $rounds -lt 200 ]; do
    quiet=$((quiet + 1)) rounds=$((rounds + 1))
    for file in $(grep -Fls "$mark" /proc/[0-9]*/environ); do
      pid=\${file#/proc/}
      kill -KILL "\${pid%/environ}" && quiet=0
    done
    sleep 0.02
  done
  rm -rf "$litter"
  kill -KILL 0
}
trap ending EXIT
trap : HUP INT TERM PIPE
`

const codeFor = (id: number, launch: Launch): string => {
  const { program, args, directory, env, streams, ownSession } = launch
  const assignments = Object.entries(env).map(([name, value]) => quoted(`${name}=${value}`))
  const redirections = [...streams].map(([descriptor, { path, mode }]) => `${descriptor}${mode}${quoted(path)}`)
  const words = [
    ...(ownSession ? ["setsid"] : []),
    "env",
    "-i",
    ...assignments,
    quoted(program),
    ...args.map(quoted),
    ...redirections,
    "9>&-"
  ]
  const run = `cd ${quoted(directory)} && exec ${words.join(" ")}`
  return `{ ( ${run} ); echo "end ${id} $?" >&9; } 2>/dev/null </dev/null &\necho "begin ${id} $!" >&9\n`
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

const refStream = (stream: unknown, isNeeded: boolean): void => {
  const socket = stream as { ref?: () => void; unref?: () => void } | null
  if (isNeeded) socket?.ref?.()
  else socket?.unref?.()
}
