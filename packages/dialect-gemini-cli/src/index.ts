import { definePlugin } from "@haft/core"
import { execServices } from "@haft/exec-tools/operations"
import { searchServices } from "@haft/search-tools/operations"
import { webServices } from "@haft/web-tools/operations"
import * as Layer from "effect/Layer"

import { glob, listDirectory } from "./tools/find.ts"
import { grepSearch } from "./tools/grep-search.ts"
import { readFile } from "./tools/read-file.ts"
import { readManyFiles } from "./tools/read-many-files.ts"
import { replace } from "./tools/replace.ts"
import { listBackgroundProcesses, readBackgroundOutput, runShellCommand } from "./tools/shell.ts"
import { webFetch } from "./tools/web-fetch.ts"
import { writeFile } from "./tools/write-file.ts"

export { followedRelease, geminiCli } from "./dialect.ts"

/** Gemini CLI's tools for files, search, commands and the web, with the services that they run on. */
export const geminiCliTools = definePlugin({
  name: "@haft/dialect-gemini-cli",
  version: "0.0.0",
  tools: [
    readFile,
    writeFile,
    replace,
    readManyFiles,
    glob,
    listDirectory,
    grepSearch,
    runShellCommand,
    readBackgroundOutput,
    listBackgroundProcesses,
    webFetch
  ],
  layer: () => Layer.mergeAll(execServices(), searchServices(), webServices())
})

export default geminiCliTools
