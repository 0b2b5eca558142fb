import { existsSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { inspect } from "node:util"

import { openHost, type OpenHost } from "@haft/core/promise"
import { temporaryWorkspace, type TemporaryWorkspace } from "@haft/testing"
import * as fc from "fast-check"
import { standardHost } from "haft/internal"

import { type Attack, forSeconds, none } from "../attack.ts"
import { fingerprint } from "../odd-workspace.ts"

const names = fc.oneof(
  fc.string({ unit: "binary", minLength: 1, maxLength: 40 }),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { minLength: 1, maxLength: 12 })
    .map((units) => String.fromCharCode(...units)),
  fc
    .tuple(
      fc.constantFrom("\u202e", "\r\n", " ", "-", "--", "\\", "\t", "~", "%2e", "\u2028", "é", "e\u0301", "İ", "ß"),
      fc.string({ maxLength: 5 })
    )
    .map((parts) => parts.join(""))
)

/** How many workspaces with hosts are used at the same time, as most calls only wait for the disk. */
const atOnce = 4

/** Creates, reads, moves and deletes files with names from all of Unicode, beside a name that is no valid UTF-8. */
export const attack: Attack = async function* ({ seconds, seed }) {
  const problems: Array<string> = []
  const touched: Array<string> = []
  let accepted = 0
  const lane = async (number: number): Promise<number> => {
    const workspace = temporaryWorkspace()
    writeFileSync(join(workspace.outside, "kept.txt"), "kept")
    const before = fingerprint(workspace.outside)
    // A name that is not valid UTF-8: no call can name this file, and none may fail because of it.
    writeFileSync(Buffer.concat([Buffer.from(`${workspace.root}/`), Buffer.from([0x66, 0xff, 0xfe, 0x80])]), "needle\n")
    const host = await openHost(standardHost({ root: workspace.root, state: workspace.state, approval: "all" }))
    let made: Array<string> = []
    const count = await forSeconds(seconds, async (round) => {
      if (made.length === 0) made = fc.sample(names, { seed: seed + round + 1_000_000 * number, numRuns: 50 })
      const name = made.pop() ?? ""
      const problem = await lifeOf(host, workspace, name)
      if (problem !== "") accepted++
      if (problem !== undefined && problem !== "") problems.push(`${inspect(name)}: ${problem}`)
    })
    if (fingerprint(workspace.outside) !== before) touched.push("something outside changed")
    await host.dispose()
    workspace.remove()
    return count
  }
  const counts = await Promise.all(Array.from({ length: atOnce }, (_, number) => lane(number)))
  const tried = `${counts.reduce((one, other) => one + other, 0)} names, ${accepted} accepted`
  yield none("names that a file keeps for its whole life", tried, problems)
  yield none("files outside touched", tried, touched)
}

/** Makes all calls on a file of this name. Returns what went wrong, if anything, and "" for a name that is refused. */
const lifeOf = async (host: OpenHost, { root }: TemporaryWorkspace, name: string): Promise<string | undefined> => {
  const content = "needle\n"
  const entries = readdirSync(root).length
  const written = await host.call("write_file", { path: name, content })
  if (written.error?.code === "internal_error") return "internal_error on write_file"
  if (!written.ok) return readdirSync(root).length === entries ? "" : "refused, and something was made"
  const read = await host.call("read_file", { path: name })
  if (!read.ok) return `written, but not read: ${read.text}`
  const top = name.split("/").find((part) => part !== "." && part !== "") ?? ""
  if (!name.includes("..") && !existsSync(join(root, top))) return "it is not where its name says"
  const listed = await host.call("list_dir", { path: "." })
  if (!name.includes("/") && !JSON.stringify(listed.wire).includes(JSON.stringify(name).slice(1, -1)))
    return `list_dir does not show it: ${listed.text.slice(0, 200)}`
  const found = await host.call("search_text", { query: "needle" })
  if (!found.ok) return `search_text fails: ${found.text}`
  const edited = await host.call("edit_file", { path: name, edits: [{ find: "needle", replace: "thread" }] })
  if (!edited.ok) return `edit_file fails: ${edited.text}`
  const moved = await host.call("move_path", { from: name, to: "elsewhere" })
  if (!moved.ok) return `move_path fails: ${moved.text}`
  const back = await host.call("undo", {})
  if (!back.ok) return `undo fails: ${back.text}`
  const deleted = await host.call("delete_path", { path: top, recursive: true })
  return deleted.ok ? undefined : `delete_path fails: ${deleted.text}`
}
