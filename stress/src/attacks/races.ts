import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { openHost, type OpenHost } from "@haft/core/promise"
import { temporaryWorkspace, type TemporaryWorkspace } from "@haft/testing"
import { standardHost } from "haft/internal"

import { type Attack, type Figure, none } from "../attack.ts"
import { fingerprint, secret } from "../odd-workspace.ts"

/**
 * Calls of one kind on paths below a directory, which another process keeps exchanging for a link that leads outside.
 */
interface Way {
  readonly name: string
  /** Calls that may succeed, or be refused because of the exchange. */
  readonly calls: ReadonlyArray<Call>
  /** Calls before each round, so that `calls` can succeed again. */
  readonly prepare?: ReadonlyArray<Call>
  /** Calls on files that exist only outside: none of them may succeed. */
  readonly baits?: ReadonlyArray<Call>
}

type Call = readonly [tool: string, args: Readonly<Record<string, unknown>>]

const file = "d/inner/file.txt"
const patch = `--- a/${file}\n+++ b/${file}\n@@ -1 +1 @@\n-inside\n+patched\n`
const asBefore: Call = ["write_file", { path: file, content: "inside\n" }]

const ways: ReadonlyArray<Way> = [
  {
    name: "read",
    calls: [
      ["read_file", { path: file }],
      ["list_dir", { path: "d/inner" }],
      ["find_files", { path: "d", pattern: "**/*" }]
    ],
    baits: [["read_file", { path: "d/inner/outside.txt" }]]
  },
  { name: "write", calls: [asBefore, ["write_file", { path: "d/inner/new.txt", content: "new\n" }]] },
  {
    name: "edit",
    calls: [["edit_file", { path: file, edits: [{ find: "inside", replace: "edited" }] }]],
    prepare: [asBefore]
  },
  { name: "patch", calls: [["apply_patch", { patch }]], prepare: [asBefore] },
  {
    name: "delete",
    calls: [["delete_path", { path: "d/inner/own.txt" }]],
    prepare: [["write_file", { path: "d/inner/own.txt", content: "own\n" }]],
    baits: [
      ["delete_path", { path: "d/inner/outside.txt" }],
      ["delete_path", { path: "d/inner/deep", recursive: true }]
    ]
  },
  {
    name: "move",
    calls: [
      ["move_path", { from: "plain.txt", to: "d/inner/given.txt", overwrite: true }],
      ["move_path", { from: "d/inner/given.txt", to: "plain.txt", overwrite: true }]
    ],
    prepare: [["write_file", { path: "plain.txt", content: "plain\n" }]],
    baits: [["move_path", { from: "d/inner/outside.txt", to: "stolen.txt" }]]
  },
  {
    name: "search",
    calls: [
      ["search_text", { query: "canary|inside" }],
      ["search_text", { query: "canary|inside", path: "d/inner" }]
    ]
  }
]

/**
 * A race that one side always wins shows little: it goes on until so many calls have succeeded and so many were
 * refused, or for so long.
 */
const fewest = 5
const longestSeconds = 60

/** Makes all calls that reach files, while another process keeps exchanging a directory for a link. */
export const attack: Attack = async function* ({ seconds }) {
  for (const way of ways) {
    const workspace = temporaryWorkspace({ [file]: "inside\n", "plain.txt": "plain\n" })
    mkdirSync(join(workspace.outside, "deep"))
    for (const name of ["file.txt", "outside.txt", "deep/x.txt"])
      writeFileSync(join(workspace.outside, name), `${secret}\n`)
    symlinkSync(workspace.outside, join(workspace.root, "d/link"))
    const host = await openHost(standardHost({ root: workspace.root, state: workspace.state, approval: "all" }))
    yield* race(way, host, workspace, seconds / ways.length)
    await host.dispose()
    workspace.remove()
  }
}

async function* race(
  { name, calls, prepare = [], baits = [] }: Way,
  host: OpenHost,
  workspace: TemporaryWorkspace,
  seconds: number
): AsyncIterable<Figure> {
  const before = fingerprint(workspace.outside)
  const escapes: Array<string> = []
  let done = 0
  let refused = 0
  const isDone = async ([tool, args]: Call): Promise<boolean> => {
    const { ok, text, wire, error } = await host.call(tool, args)
    if (`${text}${JSON.stringify(wire)}`.includes(secret)) escapes.push(`${tool} shows what lies outside`)
    if (error?.code === "internal_error" || error?.code === "invalid_params") escapes.push(`${tool}: ${text}`)
    return ok
  }
  // Each call once before, so that all modules are loaded when the race begins.
  for (const call of [...prepare, ...calls]) await isDone(call)
  const longestRestMs = "40"
  const swapper = spawn(process.execPath, [program, join(workspace.root, "d"), longestRestMs], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  await once(swapper.stdout, "data")
  const began = performance.now()
  for (let passed = 0; passed < seconds || isOneSided(passed); passed = (performance.now() - began) / 1000) {
    for (const call of prepare) await isDone(call)
    for (const call of calls) {
      if (await isDone(call)) done++
      else refused++
    }
    for (const bait of baits) if (await isDone(bait)) escapes.push(`${bait[0]} does what can only be done outside`)
  }
  function isOneSided(passed: number): boolean {
    return Math.min(done, refused) < fewest && passed < longestSeconds
  }
  swapper.kill("SIGKILL")
  await once(swapper, "exit")
  if (fingerprint(workspace.outside) !== before) escapes.push("something outside changed")
  if (Math.min(done, refused) < fewest) escapes.push("too few calls were done, or refused, to show anything")
  yield none(`escapes by ${name}, against a swapper`, `${done} calls done, ${refused} refused`, escapes)
}

const program = join(import.meta.dirname, "../../../packages/node/test/race-child.ts")
