import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { linkSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { isDeepStrictEqual } from "node:util"

import * as Effect from "effect/Effect"

import { bundleProgram } from "../../../packages/node/test/bundle.ts"
import { filesOf, type Version } from "../../../packages/node/test/crash-plan.ts"
import { contentsOf, inWorkspace, makeWorkspaces } from "../../../packages/node/test/workspaces.ts"
import { type Attack, none } from "../attack.ts"

/** With and without waiting for the disk: a commit takes other steps then. */
const ways = ["durable", "quick"] as const
type Way = (typeof ways)[number]

/** Kills a process that commits, at every step of the commit, then at random until the time is over. */
export const attack: Attack = async function* ({ seconds }) {
  const workspaces = makeWorkspaces("crashes")
  const program = join(workspaces.base, "engine.mjs")
  await bundleProgram("crash-child.ts", program)
  const until = performance.now() + seconds * 1000
  const lanes = await Promise.all(ways.map((way) => lane(way)))
  workspaces.remove()
  const sum = (of: (counts: (typeof lanes)[number]) => number): number =>
    lanes.map(of).reduce((one, other) => one + other, 0)
  const tried = `${sum(({ steps }) => steps)} steps, ${sum(({ chances }) => chances)} moments by chance`
  yield none(
    `torn, mixed or left-over files after a kill (${sum(({ back }) => back)} old, ${sum(({ forward }) => forward)} new)`,
    tried,
    lanes.flatMap(({ problems }) => problems)
  )

  async function lane(way: Way) {
    const files = Object.entries(filesOf("old")).filter((entry): entry is [string, string] => entry[1] !== null)
    const root = workspaces.make(Object.fromEntries(files), (root) =>
      linkSync(join(root, "hard.txt"), `${root}.outside`)
    )
    const counts = { steps: 0, chances: 0, back: 0, forward: 0, problems: [] as Array<string> }
    let version: Version = "old"
    const start = (dieAt: number): ChildProcess =>
      spawn(process.execPath, [program, root, `${root}.state`, String(dieAt), version === "old" ? "new" : "old", way], {
        stdio: ["ignore", "pipe", "inherit"]
      })
    const lookAt = async (when: string): Promise<boolean> => {
      const after = await versionAfterRecovery(root)
      if (after === undefined) counts.problems.push(`${way}, ${when}: ${Object.keys(contentsOf(root)).join(", ")}`)
      else counts[after === version ? "back" : "forward"]++
      version = after ?? version
      return after !== undefined
    }
    for (let isKilled = true; isKilled;) {
      const engine = start(counts.steps + 1)
      const [code, signal] = (await once(engine, "exit")) as [number | null, string | null]
      isKilled = signal !== null
      if (isKilled) counts.steps++
      else if (code !== 0) counts.problems.push(`${way}: the engine ended with ${code}`)
      if (!(await lookAt(`step ${counts.steps}`))) return counts
    }
    // Kept near the time that a commit takes on this machine: longer after a kill before the commit, shorter after one
    // that came too late.
    let longest = 12
    while (performance.now() < until) {
      const before = version
      const engine = start(0)
      const end = once(engine, "exit")
      await Promise.race([once(engine.stdout ?? engine, "data"), end])
      await sleep(Math.random() * longest)
      engine.kill("SIGKILL")
      await end
      counts.chances++
      if (!(await lookAt(`moment ${counts.chances}`))) return counts
      longest *= version === before ? 1.1 : 0.9
    }
    return counts
  }
}

/** Which version the files have after the next host has recovered the workspace; undefined for a mixture. */
const versionAfterRecovery = async (root: string): Promise<Version | undefined> => {
  await inWorkspace(root, () => Effect.void, { open: { durable: false } })
  if (readdirSync(join(`${root}.state`, "commits")).length > 0) return undefined
  const found = contentsOf(root)
  return (["old", "new"] as const).find((version) => isDeepStrictEqual(found, filesOf(version)))
}
