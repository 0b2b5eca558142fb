import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

import { openHost } from "@haft/core/promise"
import { temporaryWorkspace } from "@haft/testing"
import { standardHost } from "haft/internal"

import { type Attack, type Figure, forSeconds, none } from "../attack.ts"

const sandboxes = ["none", "bubblewrap", "unshare"] as const

/** Ends commands and terminals in every way, in every sandbox. No process may survive that by two seconds. */
export const attack: Attack = async function* ({ seconds }) {
  yield await commands(sandboxes, Math.max(5, Math.floor(seconds / 20) * 20))
  // Fewer trials, as containers are slow to start.
  if (hasDocker()) yield await commands(["docker"], Math.max(5, Math.floor(seconds / 40)))
  const left: Array<() => Promise<Figure>> = []
  for (const sandbox of sandboxes) left.push(await terminals(sandbox, seconds / sandboxes.length / 2))
  for (const figure of left) yield await figure()
}

/** Tests for a container engine with the image that .ci/test-image makes. */
const hasDocker = (): boolean =>
  spawnSync("docker", ["run", "--rm", "--pull=never", "--network=none", "haft-test", "true"]).status === 0

const commands = async (kinds: ReadonlyArray<string>, trials: number): Promise<Figure> => {
  const program = join(import.meta.dirname, "../../../bench/src/orphans.ts")
  const child = spawn(process.execPath, [...process.execArgv, program, String(trials), ...kinds], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  let text = ""
  child.stdout.on("data", (chunk: Buffer) => void (text += chunk.toString()))
  await once(child, "close")
  const lines = text.split("\n").filter((line) => line.endsWith(" survivors"))
  const survivors = lines.filter((line) => !line.endsWith(" 0 survivors"))
  // A line for each of five ways in each sandbox, and one for the launchers of all.
  const wanted = 5 * kinds.length + 1
  const missing = lines.length === wanted ? [] : [`only ${lines.length} of ${wanted} counts were made`]
  const tried = `${trials} trials each of 5 ways`
  return none(`commands left, ${kinds.join(", ")}`, tried, [...survivors, ...missing])
}

/** Opens terminals and closes their hosts. The returned function counts what is left of them two seconds later. */
const terminals = async (sandbox: (typeof sandboxes)[number], seconds: number): Promise<() => Promise<Figure>> => {
  const length = `${800_000 + (process.pid % 90_000)}.${sandboxes.indexOf(sandbox)}`
  const command = `sleep ${length} & setsid sleep ${length} & trap '' HUP TERM INT; sleep ${length}`
  let opened = 0
  await forSeconds(seconds, async (round) => {
    const workspace = temporaryWorkspace()
    const { root, state } = workspace
    const host = await openHost(standardHost({ root, state, sandbox, approval: "all" }))
    const controller = new AbortController()
    const open = () => host.call("open_terminal", { command, quiet_ms: 100 }, { signal: controller.signal })
    const calls = Promise.allSettled([open(), open(), open()])
    if (round % 2 === 0) await calls
    else await sleep(Math.random() * 100)
    controller.abort()
    await calls
    await host.dispose()
    opened += 3
    workspace.remove()
  })
  const survivors = sleep(2000).then(() => processesWith(length))
  return async () => none(`terminals left, ${sandbox}`, `${opened} terminals of hosts that closed`, await survivors)
}

const processesWith = (word: string): ReadonlyArray<string> =>
  readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(word)
    } catch {
      return false
    }
  })
