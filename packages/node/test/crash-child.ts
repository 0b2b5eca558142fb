// A host that changes files over and over until somebody kills it, or until it kills itself at a chosen moment.
// Arguments: root, state, the number of the step to die at (0: never), which plan to begin with.
import { type Change, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"

import { nodeWorkspace } from "../src/workspace.ts"
import { changesTo, type Version } from "./crash-plan.ts"

const [root = "", state = "", dieAt = "0", begin = "new"] = process.argv.slice(2)
let steps = 0
const onStep = () => {
  if (++steps === Number(dieAt)) process.kill(process.pid, "SIGKILL")
}

const commitForever = Effect.fnUntraced(function* (
  commit: (changes: ReadonlyArray<Change>) => Effect.Effect<unknown, unknown>
) {
  process.stdout.write("ready\n")
  const other: Version = begin === "new" ? "old" : "new"
  yield* commit(changesTo(begin as Version))
  if (dieAt !== "0") return
  for (;;) {
    yield* commit(changesTo(other))
    yield* commit(changesTo(begin as Version))
  }
})

await Effect.runPromise(
  Workspace.use((workspace) => commitForever(workspace.commit)).pipe(
    Effect.provide(nodeWorkspace({ root, state, onStep, durable: false }))
  )
)
