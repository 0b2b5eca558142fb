import { definePlugin } from "@haft/core"
import { execServices } from "@haft/exec-tools/operations"
import { searchServices } from "@haft/search-tools/operations"
import * as Layer from "effect/Layer"

import { bash } from "./tools/bash.ts"
import { edit } from "./tools/edit.ts"
import { memory } from "./tools/memory.ts"
import { read } from "./tools/read.ts"
import { glob, grep } from "./tools/search.ts"
import { textEditor } from "./tools/text-editor.ts"
import { write } from "./tools/write.ts"

export { anthropic, followedRelease } from "./dialect.ts"

/** Client tools of Anthropic's API, with the services that they run on. */
export const anthropicTools = definePlugin({
  name: "@haft/dialect-anthropic",
  version: "0.0.0",
  tools: [bash, read, write, edit, glob, grep, textEditor, memory],
  layer: () => Layer.mergeAll(execServices(), searchServices())
})

export default anthropicTools
