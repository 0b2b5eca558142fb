import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs"

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
  readonly #wills = new Set<string>()
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

  /** Starts a shell that reads its code from one pipe and reports to another. It joins the groups behind `doors`. */
  startLane(pipes: LanePipes, doors: ReadonlyArray<string>): void {
    const joining = doors.map((door) => `echo 0 >${quoted(door)} || exit 1; `).join("")
    const shell = `exec $clean "PATH=$PATH" "$mark"lane $adopting /bin/sh -s`
    this.#say(`( ${joining}${shell} ) <${quoted(pipes.code)} 9>${quoted(pipes.report)} >/dev/null 2>&1 &`)
  }

  /** A program with arguments to run should the host die. Said once, however many commands ask for it. */
  addWill(words: ReadonlyArray<string>): void {
    const will = words.map(quoted).join(" ")
    if (this.#wills.has(will)) return
    this.#wills.add(will)
    this.#say(`orphans="$orphans"${quoted(`${will};`)}`)
  }

  /** Ends the launcher, which sweeps what still carries the mark. */
  async close(): Promise<void> {
    this.#shell.ref()
    this.#shell.stdin?.end()
    await this.#lost
  }

  #say(code: string): void {
    this.#shell.stdin?.write(`${code}\n`)
  }
}

export interface LauncherOptions {
  /** The beginning of an assignment that every program gets. */
  readonly mark: string
  /** A directory to be removed in the end. */
  readonly litter: string
  /** The beginning of the names of groups to be removed in the end. */
  readonly groups: string
}

export const startLauncher = async ({ mark, litter, groups }: LauncherOptions): Promise<Launcher> => {
  const { spawn } = await import("node:child_process")
  const nothing = openSync("/dev/null", "r+")
  const words = ["-s", mark, litter, ...groupParents().map((parent) => `${parent}/${groups}`)]
  const shell = spawn("/bin/sh", ["-c", start, "sh", adopt(), "/bin/sh", ...words], {
    env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin" },
    cwd: "/",
    stdio: ["pipe", "ignore", "ignore", ...insteadOf(inherited(), nothing)],
    detached: true
  })
  closeSync(nothing)
  if (shell.pid === undefined) {
    const [cause] = (await once(shell, "error")) as [Error]
    throw cause
  }
  shell.stdin?.write(prologue)
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

// The launcher and the lanes become the parents of whoever loses theirs, so that a daemon is found also when it has a
// session of its own and has cleared its environment. No shell can ask the kernel for that; perl can, where there is one.
const start = `
if perl -e 1; then
  export adopting="perl -e $1"
  exec perl -e "$@"
fi
shift
exec "$@"
`

// One word for a shell, and without a character that means something to it.
const adopt = (): string => `syscall(${process.arch === "arm64" ? 167 : 157},36,1,0,0,0);exec@ARGV`

// The trap runs when the host closes its end, or dies. Lanes carry the mark, and programs in sandboxes die with their
// lane; the others are found by the mark, or as the launcher's children once their lane is gone. What a shell starts in
// the background ignores Ctrl-C, and every program below it would too: hence `--default-signal`.
const prologue = `
mark=$1 litter=$2 orphans=
shift 2
clean="env --default-signal=INT,QUIT -i"
$clean true || clean="env -i"
ending() {
  trap '' TERM HUP INT PIPE
  quiet=0 rounds=0
  while [ $quiet -lt 3 ] && [ $rounds -lt 200 ]; do
    quiet=$((quiet + 1)) rounds=$((rounds + 1))
    for pid in $(grep -Fls "$mark" /proc/[0-9]*/environ | tr -dc '0-9\n') $(cat /proc/$$/task/$$/children); do
      kill -KILL "$pid" && quiet=0
    done
    sleep 0.02
  done
  rm -rf "$litter"
  eval "$orphans"
  tries=0
  for groups; do
    for group in "$groups"*; do
      until rmdir "$group" || [ ! -d "$group" ] || [ $tries -ge 50 ]; do tries=$((tries + 1)); sleep 0.02; done
    done
  done
  kill -KILL 0
}
trap 'ending "$@"' EXIT
trap : HUP INT TERM PIPE
`
