import { Workspace } from "@haft/core"
import * as Effect from "effect/Effect"

import { nodeWorkspace, type NodeWorkspaceOptions } from "../src/workspace/workspace.ts"

// Commits changes of two roots, and dies at the step of that number.
const [, , options = "", dieAt = ""] = process.argv
let step = 0
const onStep = (): void => {
  if (++step === Number(dieAt)) process.exit(0)
}

await Workspace.use(({ commit }) =>
  commit([
    { kind: "write", path: "app/a.txt", content: Buffer.from("A\n") },
    { kind: "write", path: "lib/l.txt", content: Buffer.from("L\n") }
  ])
).pipe(Effect.provide(nodeWorkspace({ ...(JSON.parse(options) as NodeWorkspaceOptions), onStep })), Effect.runPromise)
process.stdout.write("done")
