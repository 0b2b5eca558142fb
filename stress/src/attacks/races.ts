import { spawn } from "node:child_process"
import { once } from "node:events"
import { symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { openHost } from "@haft/core/promise"
import { temporaryWorkspace } from "@haft/testing"
import { standardHost } from "haft"

import { type Attack, forSeconds, none } from "../attack.ts"
import { fingerprint, secret } from "../odd-workspace.ts"

const patch = "--- a/d/inner/file.txt\n+++ b/d/inner/file.txt\n@@ -1 +1 @@\n-inside\n+patched\n"

/** Calls on paths below a directory that is exchanged for a link all the time. */
const calls: Readonly<Record<string, ReadonlyArray<readonly [tool: string, args: object]>>> = {
  read: [
    ["read_file", { path: "d/inner/file.txt" }],
    ["list_dir", { path: "d/inner" }],
    ["find_files", { path: "d", pattern: "**/*" }]
  ],
  write: [
    ["write_file", { path: "d/inner/file.txt", content: "inside\n" }],
    ["write_file", { path: "d/inner/new.txt", content: "new\n" }]
  ],
  edit: [
    ["edit_file", { path: "d/inner/file.txt", edits: [{ find: "i", replace: "I" }] }],
    ["write_file", { path: "d/inner/file.txt", content: "inside\n" }]
  ],
  patch: [
    ["apply_patch", { patch }],
    ["write_file", { path: "d/inner/file.txt", content: "inside\n" }]
  ],
  delete: [
    ["delete_path", { path: "d/inner/outside.txt" }],
    ["delete_path", { path: "d/inner/deep", recursive: true }]
  ],
  move: [
    ["move_path", { from: "d/inner/outside.txt", to: "stolen.txt" }],
    ["move_path", { from: "plain.txt", to: "d/inner/given.txt" }],
    ["move_path", { from: "d/inner/given.txt", to: "plain.txt" }]
  ],
  search: [
    ["search_text", { query: "canary" }],
    ["search_text", { query: "canary", path: "d/inner" }]
  ]
}

/** A process that swaps a directory for a link against every way to a file there is. */
export const attack: Attack = async function* ({ seconds }) {
  for (const [what, some] of Object.entries(calls)) {
    const workspace = temporaryWorkspace({ "d/inner/file.txt": "inside\n", "plain.txt": "plain\n" })
    for (const name of ["file.txt", "outside.txt"]) writeFileSync(join(workspace.outside, name), `${secret}\n`)
    symlinkSync(workspace.outside, join(workspace.root, "d/link"))
    const before = fingerprint(workspace.outside)
    const host = await openHost(standardHost({ root: workspace.root, state: workspace.state, approval: "all" }))
    const swapper = spawn(process.execPath, [child, join(workspace.root, "d")], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    await once(swapper.stdout, "data")
    const escapes: Array<string> = []
    const outcomes = { ok: 0, refused: 0 }
    await forSeconds(seconds / Object.keys(calls).length, async () => {
      for (const [tool, args] of some) {
        const reply = await host.call(tool, args)
        outcomes[reply.ok ? "ok" : "refused"]++
        if (`${reply.text}${JSON.stringify(reply.wire)}`.replaceAll('"query":"canary"', "").includes(secret))
          escapes.push(`${tool} shows what lies outside`)
        if (reply.error?.code === "internal_error") escapes.push(`${tool} ends in a bug`)
      }
    })
    swapper.kill("SIGKILL")
    await once(swapper, "exit")
    await host.dispose()
    if (fingerprint(workspace.outside) !== before) escapes.push("something outside changed")
    workspace.remove()
    yield none(
      `escapes by ${what}, against a swapper`,
      `${outcomes.ok} calls done, ${outcomes.refused} refused`,
      escapes
    )
  }
}

const child = join(import.meta.dirname, "../../../packages/node/test/race-child.ts")
