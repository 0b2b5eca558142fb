import { spawn } from "node:child_process"
import { once } from "node:events"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

import { openHost } from "@haft/core/promise"
import { temporaryWorkspace } from "@haft/testing"
import { standardHost } from "haft"

import { type Attack, forSeconds, none } from "../attack.ts"

const sandboxes = ["none", "bubblewrap", "unshare"] as const

/** Commands and terminals that are ended in every way there is, in every sandbox; nothing survives two seconds. */
export const attack: Attack = async function* ({ seconds }) {
  // Twenty trials of each way, and as many more as there is time for.
  const trials = Math.max(20, Math.floor(seconds / 20) * 20)
  const program = join(import.meta.dirname, "../../../bench/src/orphans.ts")
  for (const sandbox of sandboxes) {
    const child = spawn(process.execPath, [...process.execArgv, program, String(trials), sandbox], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    let text = ""
    child.stdout.on("data", (chunk: Buffer) => void (text += chunk.toString()))
    await once(child, "close")
    const lines = text.split("\n").filter((line) => line.endsWith(" survivors"))
    const survivors = lines.filter((line) => !line.endsWith(" 0 survivors"))
    const ways = lines.length
    const missing = ways === 5 ? [] : [`only ${ways} of 5 ways were tried`]
    yield none(`commands left, ${sandbox}`, `${trials} trials each of ${ways} ways`, [...survivors, ...missing])
    yield await terminals(sandbox, seconds / sandboxes.length / 2)
  }
}

const terminals = async (sandbox: (typeof sandboxes)[number], seconds: number) => {
  const length = `${800_000 + (process.pid % 90_000)}.${sandboxes.indexOf(sandbox)}`
  const command = `sleep ${length} & setsid sleep ${length} & trap '' HUP TERM INT; sleep ${length}`
  const left: Array<string> = []
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
  await sleep(2000)
  const survivors = processesWith(length)
  if (survivors.length > 0) left.push(`${survivors.length} processes: ${survivors.join(", ")}`)
  return none(`terminals left, ${sandbox}`, `${opened} terminals of hosts that closed`, left)
}

const processesWith = (word: string): ReadonlyArray<string> =>
  readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(word)
    } catch {
      return false
    }
  })
