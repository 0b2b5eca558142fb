import { definePlugin } from "@haft/core"
import { execServices } from "@haft/exec-tools/operations"
import { searchServices } from "@haft/search-tools/operations"
import { webServices } from "@haft/web-tools/operations"
import * as Layer from "effect/Layer"

import { bash } from "./tools/bash.ts"
import { edit } from "./tools/edit.ts"
import { glob } from "./tools/glob.ts"
import { grep } from "./tools/grep.ts"
import { notebookEdit } from "./tools/notebook-edit.ts"
import { read } from "./tools/read.ts"
import { monitor, taskStop } from "./tools/tasks.ts"
import { webFetch, webSearch } from "./tools/web.ts"
import { write } from "./tools/write.ts"

export { claudeCode, followedRelease } from "./dialect.ts"

/** Claude Code's tools for files, search, commands and the web, with the services that they run on. */
export const claudeCodeTools = definePlugin({
  name: "@haft/dialect-claude-code",
  version: "0.0.0",
  tools: [read, write, edit, notebookEdit, glob, grep, bash, monitor, taskStop, webFetch, webSearch],
  layer: () => Layer.mergeAll(execServices(), searchServices(), webServices())
})

export default claudeCodeTools
