// Does what it is told in a workspace, as whoever it runs as, and prints what came of it.
// Arguments: root, state, and a list of changes, of paths to read and of disks to fill, as JSON.
import { appendFileSync, rmSync, statfsSync } from "node:fs"
import { join } from "node:path"

import { type Change, isToolError, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"

import { nodeWorkspace } from "../src/workspace.ts"

type Told =
  | { readonly read: string }
  | { readonly list: string }
  | { readonly undo: true }
  /** A directory whose disk is filled until so many blocks are free, or emptied again of what filled it. */
  | { readonly fill: string; readonly leave: number }
  | { readonly empty: string }
  | (Change & { readonly size?: number })

const [root = "", state = "", told = "[]"] = process.argv.slice(2)

const obey = Effect.fnUntraced(function* (one: Told) {
  const workspace = yield* Workspace
  if ("read" in one) return Buffer.from(yield* workspace.read(one.read)).toString()
  if ("list" in one) return (yield* workspace.list(one.list)).length
  if ("undo" in one) return (yield* workspace.undo()).paths
  if ("fill" in one) return fill(join(one.fill, "filler"), one.leave)
  if ("empty" in one) return rmSync(join(one.empty, "filler"))
  const change = one.kind === "write" ? { ...one, content: Buffer.alloc(one.size ?? 1, "x") } : one
  return (yield* workspace.commit([change])).map(({ path, kind }) => `${path} ${kind}`)
})

const fill = (path: string, leave: number): number => {
  appendFileSync(path, "")
  const { bavail, bsize } = statfsSync(path)
  appendFileSync(path, Buffer.alloc((bavail - leave) * bsize))
  return statfsSync(path).bavail
}

const outcomes = await Effect.runPromise(
  Effect.forEach(JSON.parse(told) as ReadonlyArray<Told>, (one) =>
    obey(one).pipe(
      Effect.catch((error) => Effect.succeed(isToolError(error) ? `${error.code}: ${error.message}` : String(error)))
    )
  ).pipe(Effect.provide(nodeWorkspace({ root, state })))
)
process.stdout.write(JSON.stringify(outcomes))
