import { readdirSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"

import { openHost } from "@haft/core/promise"
import { temporaryWorkspace, type TemporaryWorkspace } from "@haft/testing"
import { standardHost } from "haft/internal"

import { type Attack, atMost, forSeconds, none } from "../attack.ts"

const count = 2_000
const files = Object.fromEntries(Array.from({ length: count }, (_, at) => [`d/${at % 20}/f${at}.txt`, `old ${at}\n`]))
const patch = [
  "*** Begin Patch",
  ...Object.entries(files).flatMap(([path, text]) => [`*** Update File: ${path}`, "@@", `-${text.trimEnd()}`, "+new"]),
  "*** End Patch"
].join("\n")

/**
 * Cancels calls that change thousands of files, at any moment. Each must have happened or not, change nothing once it has
 * ended, and be in the history exactly when it happened. Reads beside it see all of it or nothing.
 */
export const attack: Attack = async function* ({ seconds }) {
  const workspace = temporaryWorkspace(files)
  const { root, state } = workspace
  const host = await openHost(standardHost({ root, state, approval: "all", sandbox: "none", packages: ["fs"] }))
  const wrong: Array<string> = []
  const seen = { done: 0, cancelled: 0 }
  let slowest = 0
  const turns = await forSeconds(seconds, async (turn) => {
    const [tool, params]: readonly [string, object] =
      turn % 2 === 0 ? ["delete_path", { path: "d", recursive: true }] : ["apply_patch", { patch }]
    const cancel = new AbortController()
    const ending = host.call(tool, params, { signal: cancel.signal }).then(
      ({ ok }) => ok,
      () => false
    )
    await sleep(Math.random() * 2_000)
    const begun = performance.now()
    cancel.abort()
    await ending
    slowest = Math.max(slowest, performance.now() - begun)
    const ended = stateOf(workspace)
    await sleep(30)
    if (stateOf(workspace) !== ended) wrong.push(`${tool}: files changed after the call had ended`)
    if (ended === "mixed") wrong.push(`${tool}: a part of it happened`)
    seen[ended === "old" ? "cancelled" : "done"]++
    const undone = await host.call("undo", {})
    if (undone.ok !== (ended !== "old")) wrong.push(`${tool} was ${ended}, and undo said: ${undone.text.slice(0, 100)}`)
    if (stateOf(workspace) !== "old") wrong.push(`${tool}: undo did not bring back the files`)
    const left = readdirSync(root).filter((name) => name.startsWith(".haft-"))
    if (left.length > 0) wrong.push(`${tool}: ${left.join(", ")} is left over`)
  })
  await host.dispose()
  workspace.remove()
  const tried = `${turns} calls (${seen.cancelled} had not happened, ${seen.done} had)`
  yield none("canceled calls that are half done, go on, or are missing in the history", tried, wrong)
  yield atMost("time until a canceled call has ended", tried, slowest, 3_000, " ms")
}

const stateOf = ({ root, read }: TemporaryWorkspace): "old" | "new" | "gone" | "mixed" => {
  const names = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".txt"))
  if (names.length === 0) return "gone"
  if (names.length !== count) return "mixed"
  const isOld = names.filter((name) => read(name) === files[name.replaceAll("\\", "/")]).length
  return isOld === count ? "old" : isOld === 0 ? "new" : "mixed"
}
