// Opens the code index of a workspace, makes one query, and prints what it found. Arguments: root, state, query.
import { CodeIndex } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { sqliteCodeIndex } from "../src/code-index/code-index.ts"
import { nodeWorkspace } from "../src/workspace/workspace.ts"

const [root = "", state = "", query = ""] = process.argv.slice(2)
const search = Effect.gen(function* () {
  const index = yield* CodeIndex
  const { items } = yield* index.search({ query, path: ".", limit: 5 })
  const { files } = yield* index.status
  return { paths: items.map(({ path }) => path), files }
})
const layer = sqliteCodeIndex({ directory: state }).pipe(Layer.provideMerge(nodeWorkspace({ root, state })))
console.log(JSON.stringify(await Effect.runPromise(Effect.scoped(search.pipe(Effect.provide(layer))))))
