// Increments a number in several files by one commit, as often as its argument says, in competition with others.
import { CurrentCall, isToolError, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"

import { nodeWorkspace } from "../src/workspace/workspace.ts"

const [root = "", state = "", name = "", times = "0"] = process.argv.slice(2)
const paths = ["a.txt", "b.txt", "d/c.txt"]

const countUp = Effect.fnUntraced(function* (workspace: Workspace["Service"]) {
  const files = yield* Effect.forEach(paths, (path) => workspace.snapshot(path))
  yield* workspace.commit(
    files.map(({ content, fingerprint, info: { path } }) => ({
      kind: "write",
      path,
      base: fingerprint,
      content: Buffer.from(String(Number(Buffer.from(content).toString()) + 1))
    }))
  )
})

await Effect.runPromise(
  Effect.gen(function* () {
    const workspace = yield* Workspace
    const call = yield* CurrentCall
    for (let done = 0; done < Number(times);) {
      const code = yield* countUp(workspace).pipe(
        Effect.as("done"),
        Effect.catch((error) => Effect.succeed(isToolError(error) ? error.code : String(error))),
        Effect.provideService(CurrentCall, { ...call, id: `${name}-${done}`, run: name })
      )
      if (code === "done") done++
      else if (code !== "stale_file") throw new Error(code)
    }
  }).pipe(Effect.provide(nodeWorkspace({ root, state, durable: false })))
)
