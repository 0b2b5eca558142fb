// Ends commands in every way, and counts the processes that are left two seconds later. If the host was killed while an
// engine was starting a container, two seconds after the launcher has removed that.
// node --conditions=@haft/source bench/src/orphans.ts [trials, 1000] [sandbox …: none, bubblewrap, unshare, docker, podman]
import { spawn } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"

import { Processes, Sandbox, Workspace } from "@haft/core"
import { bubblewrapSandbox, containerSandbox, nodeProcesses, noSandbox, unshareSandbox } from "@haft/node"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"

// The image is the one that .ci/test-image makes.
const container = (engine: "docker" | "podman") => () => containerSandbox({ engine, image: "haft-test" })
const sandboxes = {
  none: noSandbox,
  bubblewrap: bubblewrapSandbox,
  unshare: unshareSandbox,
  docker: container("docker"),
  podman: container("podman")
}
type Kind = keyof typeof sandboxes

const open = (kind: Kind) => {
  const root = mkdtempSync(join(tmpdir(), "haft-orphans-"))
  const runtime = ManagedRuntime.make(
    sandboxes[kind]().pipe(
      Layer.provideMerge(
        Layer.merge(
          nodeProcesses,
          Layer.mock(Workspace)({ root, roots: [], isSecret: () => false, secretFiles: () => [] })
        )
      )
    )
  )
  const start = (seconds: string, timeoutMs?: number) =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const processes = yield* Processes
      // A child, one in a new session, a daemon of a daemon, one without environment, and a shell that ignores signals.
      const nap = `sleep ${seconds}`
      const code = `${nap} & setsid ${nap} & (setsid sh -c '${nap} & ${nap}' &) ; (env -i setsid ${nap} &) ; trap '' TERM HUP INT; ${nap}; ${nap}`
      const command = { program: "sh", args: ["-c", code], directory: root, env: {} }
      return yield* processes.run(yield* sandbox.wrap(command), timeoutMs === undefined ? {} : { timeoutMs })
    })
  const close = async (): Promise<void> => {
    await runtime.dispose()
    rmSync(root, { recursive: true, force: true })
  }
  return { runtime, start, close }
}

/** How many processes sleep for exactly these seconds, a number that only this trial uses. */
const survivors = (seconds: string): number => processesWith(`sleep\0${seconds}`).length

/** How many launchers are left whose host is gone. */
const strays = (): number =>
  processesWith("/bin/sh\0-s\0HAFT_CALL=").filter((pid) => read(pid, "stat").split(") ")[1]?.split(" ")[1] === "1")
    .length

const processesWith = (words: string): ReadonlyArray<string> =>
  readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && read(pid, "cmdline").includes(words))

const read = (pid: string, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8")
  } catch {
    return ""
  }
}

const straysBefore = strays()
const newStrays = (): number => Math.max(0, strays() - straysBefore)

const mostAtOnce = 20
const base = 900_000 + (process.pid % 90_000)

/** The sizes of groups of trials that run at the same time. */
const groupsOf = (trials: number): ReadonlyArray<number> =>
  Array.from({ length: Math.ceil(trials / mostAtOnce) }, (_, group) =>
    Math.min(mostAtOnce, trials - group * mostAtOnce)
  )

type Way = (host: ReturnType<typeof open>, seconds: string, trials: number) => Promise<void>

const cancelAfter =
  (delay: () => number): Way =>
  async ({ runtime, start }, seconds, trials) => {
    for (const atOnce of groupsOf(trials)) {
      const one = Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(start(seconds), { startImmediately: true })
        yield* Effect.sleep(delay())
        yield* Fiber.interrupt(fiber)
      })
      await runtime.runPromise(
        Effect.all(
          Array.from({ length: atOnce }, () => one),
          { concurrency: "unbounded" }
        )
      )
    }
  }

const ways: Readonly<Record<string, Way>> = {
  "time-out": async ({ runtime, start }, seconds, trials) => {
    for (const atOnce of groupsOf(trials)) {
      const all = Array.from({ length: atOnce }, () => start(seconds, 100 + Math.random() * 100))
      await runtime.runPromise(Effect.all(all, { concurrency: "unbounded" }))
    }
  },
  cancel: cancelAfter(() => 50 + Math.random() * 200),
  "early cancel": cancelAfter(() => Math.random() * 10)
}

/** Closes the host while commands run, as when the client has gone. */
const clientGone = async (kind: Kind, seconds: string, trials: number): Promise<void> => {
  for (const atOnce of groupsOf(trials)) {
    const { runtime, start, close } = open(kind)
    for (let count = 0; count < atOnce; count++) void runtime.runPromise(start(seconds)).catch(() => undefined)
    await sleep(Math.random() * 300)
    await close()
  }
}

/** Kills the host with SIGKILL while commands run. */
const hostKilled = async (kind: Kind, seconds: string, trials: number): Promise<void> => {
  for (const atOnce of groupsOf(trials)) {
    const flags = [...process.execArgv, fileURLToPath(import.meta.url), "host", kind, seconds, String(atOnce)]
    const host = spawn(process.execPath, flags, { stdio: ["ignore", "pipe", "inherit"] })
    await new Promise((resolve) => host.stdout.once("data", resolve))
    await sleep(Math.random() * 300)
    host.kill("SIGKILL")
    await new Promise((resolve) => host.once("exit", resolve))
    if (kind === "docker" || kind === "podman") await launchersGone()
  }
}

/** Waits for launchers: an engine can end a container only once it has started, and the launcher waits for that. */
const launchersGone = async (): Promise<void> => {
  const patience = performance.now() + 60_000
  while (newStrays() > 0 && performance.now() < patience) await sleep(100)
}

const main = async (trials: number, kinds: ReadonlyArray<Kind>): Promise<void> => {
  let total = 0
  let number = 0
  const say = (kind: string, way: string, count: number): void => {
    total += count
    console.log(`${kind.padEnd(12)}${way.padEnd(16)}${trials} trials, ${count} survivors`)
  }
  const checks: Array<Promise<void>> = []
  const playOne = async (kind: Kind, way: string, play: (seconds: string) => Promise<void>): Promise<void> => {
    const seconds = `${base}.${++number}1`
    await play(seconds)
    // The next way begins before that: its programs sleep for other seconds.
    checks.push(sleep(2000).then(() => say(kind, way, survivors(seconds))))
  }
  for (const kind of kinds) {
    const host = open(kind)
    for (const [way, play] of Object.entries(ways)) await playOne(kind, way, (seconds) => play(host, seconds, trials))
    await host.close()
    await playOne(kind, "client gone", (seconds) => clientGone(kind, seconds, trials))
    await playOne(kind, "host kill -9", (seconds) => hostKilled(kind, seconds, trials))
  }
  await Promise.all(checks)
  say("launchers", "of all", newStrays())
  process.exitCode = total === 0 ? 0 : 1
}

const [first = "1000", ...named] = process.argv.slice(2)
if (first === "host") {
  const [kind, seconds = "", atOnce = "20"] = named
  const { runtime, start } = open(kind as Kind)
  await runtime.runPromise(Sandbox.use(({ describe }) => describe))
  for (let count = 0; count < Number(atOnce); count++) void runtime.runPromise(start(seconds)).catch(() => undefined)
  console.log("started")
} else {
  await main(Number(first), named.length === 0 ? ["none", "bubblewrap", "unshare"] : (named as ReadonlyArray<Kind>))
}
