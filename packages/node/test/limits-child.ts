// Does what it is told in a workspace, as whoever it runs as, and prints what came of it.
// Arguments: root, state, and a list of changes or of paths to read, as JSON.
import { type Change, isToolError, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"

import { nodeWorkspace } from "../src/workspace.ts"

type Told = { readonly read: string } | { readonly list: string } | (Change & { readonly size?: number })

const [root = "", state = "", told = "[]"] = process.argv.slice(2)

const obey = Effect.fnUntraced(function* (one: Told) {
  const workspace = yield* Workspace
  if ("read" in one) return Buffer.from(yield* workspace.read(one.read)).toString()
  if ("list" in one) return (yield* workspace.list(one.list)).length
  const change = one.kind === "write" ? { ...one, content: Buffer.alloc(one.size ?? 1, "x") } : one
  return (yield* workspace.commit([change])).map(({ path, kind }) => `${path} ${kind}`)
})

const outcomes = await Effect.runPromise(
  Effect.forEach(JSON.parse(told) as ReadonlyArray<Told>, (one) =>
    obey(one).pipe(
      Effect.catch((error) => Effect.succeed(isToolError(error) ? `${error.code}: ${error.message}` : String(error)))
    )
  ).pipe(Effect.provide(nodeWorkspace({ root, state })))
)
process.stdout.write(JSON.stringify(outcomes))
