import { definePlugin } from "@haft/core"
import { execServices } from "@haft/exec-tools/operations"

import { applyPatch } from "./tools/apply-patch.ts"
import { shell } from "./tools/shell.ts"

export { followedRelease, openai } from "./dialect.ts"

/** Local tools of OpenAI's Responses API, with the services that they run on. */
export const openaiTools = definePlugin({
  name: "@haft/dialect-openai",
  version: "0.0.0",
  tools: [shell, applyPatch],
  layer: () => execServices()
})

export default openaiTools
