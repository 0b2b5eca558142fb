import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { inspect } from "node:util"

import { openHost } from "@haft/core/promise"
import { temporaryWorkspace } from "@haft/testing"
import { readRun, runsOf, standardHost, verifyRun } from "haft/internal"

import { bundleProgram } from "../../../packages/node/test/bundle.ts"
import { type Attack, forSeconds, none } from "../attack.ts"

const files = ["a.txt", "sub/b.txt", "sub/deep/c.txt", "d.txt"]
const atOnce = 3

/**
 * Kills hosts while they patch several files. The next host must find all files old or all new, and an intact record.
 */
export const attack: Attack = async function* ({ seconds }) {
  const directory = mkdtempSync(join(tmpdir(), "haft-crashes-"))
  const program = join(directory, "doomed-host.mjs")
  await bundleProgram(join(import.meta.dirname, "../doomed-host.ts"), program)
  const torn: Array<string> = []
  const records: Array<string> = []
  const seen = { old: 0, new: 0, aborted: 0 }
  const trials = await Promise.all(Array.from({ length: atOnce }, () => lane(program, seconds)))
  const tried = `${trials.reduce((one, other) => one + other, 0)} hosts killed (${seen.old} old, ${seen.new} new)`
  yield none("torn, mixed or left-over files", tried, torn)
  yield none("records that are broken or left open", `${tried}, ${seen.aborted} calls cut off`, records)
  rmSync(directory, { recursive: true })

  async function lane(program: string, seconds: number): Promise<number> {
    const workspace = temporaryWorkspace(Object.fromEntries(files.map((file) => [file, "old\n"])))
    const { root, state } = workspace
    const config = { root, state, approval: "all", packages: ["fs"] } as const
    const trials = await forSeconds(seconds, async () => {
      const host = spawn(process.execPath, [program, root, state], { stdio: ["ignore", "pipe", "inherit"] })
      await once(host.stdout, "data")
      await sleep(Math.random() * 60)
      host.kill("SIGKILL")
      await once(host, "exit")
      const killed = (await runsOf(config)).findLast(({ bytes }) => bytes > 0)?.name
      const next = await openHost(standardHost(config))
      await next.call("list_dir", { path: "." })
      await next.dispose()
      const contents = new Set(files.map((file) => workspace.read(file)))
      if (contents.size !== 1) torn.push(`mixed: ${[...contents].join(" and ")}`)
      seen[contents.has("new\n") ? "new" : "old"]++
      const names = readdirSync(root, { recursive: true, encoding: "utf8" })
      if (names.length !== files.length + 2) torn.push(`left over: ${names.join(", ")}`)
      if (killed === undefined) return
      const verdict = await verifyRun(config, killed)
      if (!verdict.intact) records.push(inspect(verdict))
      const events = await readRun(config, { run: killed })
      const open = new Set<unknown>()
      for (const { type, request_id, aborted } of events) {
        if (type === "tool_call_started") open.add(request_id)
        if (type === "tool_call_finished") open.delete(request_id)
        if (aborted === true) seen.aborted++
      }
      if (open.size > 0) records.push(`${open.size} starts without an end in ${killed}: ${inspect(events.at(-1))}`)
    })
    workspace.remove()
    return trials
  }
}
