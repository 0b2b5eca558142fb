// Carries out a list of steps in a workspace, as the user it was started as, and prints the outcomes.
// Arguments: root, state, and the steps as JSON.
import { appendFileSync, chmodSync, renameSync, rmSync, statfsSync } from "node:fs"
import { join } from "node:path"

import { type Change, isToolError, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"

import { nodeWorkspace } from "../src/workspace/workspace.ts"

type Told =
  | { readonly read: string }
  | { readonly list: string }
  | { readonly undo: true }
  /** Fills the disk of a directory until only so many blocks are free; `empty` frees them again. */
  | { readonly fill: string; readonly leave: number }
  | { readonly empty: string }
  /** Makes a directory read-only at a certain moment of the next commit. */
  | { readonly close: string; readonly at: string }
  /** Renames something without a commit. */
  | { readonly rename: string; readonly to: string }
  | { readonly all: ReadonlyArray<SizedChange> }
  | SizedChange

type SizedChange = Change & { readonly size?: number }

const [root = "", state = "", told = "[]"] = process.argv.slice(2)

let closing: Extract<Told, { readonly close: string }> | undefined
const onStep = (name: string): void => {
  if (closing?.at === name) chmodSync(join(root, closing.close), 0o555)
}

const obey = Effect.fnUntraced(function* (one: Told) {
  const workspace = yield* Workspace
  if ("read" in one) return Buffer.from(yield* workspace.read(one.read)).toString()
  if ("list" in one) return (yield* workspace.list(one.list)).length
  if ("undo" in one) return (yield* workspace.undo()).paths
  if ("fill" in one) return fill(join(one.fill, "filler"), one.leave)
  if ("empty" in one) return rmSync(join(one.empty, "filler"))
  if ("rename" in one) return renameSync(join(root, one.rename), join(root, one.to))
  if ("close" in one) return void (closing = one)
  const changes = ("all" in one ? one.all : [one]).map(withContent)
  return (yield* workspace.commit(changes)).map(({ path, kind }) => `${path} ${kind}`)
})

const withContent = (change: SizedChange): Change =>
  change.kind === "write" ? { ...change, content: Buffer.alloc(change.size ?? 1, "x") } : change

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
  ).pipe(Effect.provide(nodeWorkspace({ root, state, onStep }).pipe(Layer.provide(Logger.layer([])))))
)
process.stdout.write(JSON.stringify(outcomes))
