import { definePlugin } from "@haft/core"
import { terminals, terminalsConfig } from "@haft/pty-tools/operations"

import { applyPatch } from "./tools/apply-patch.ts"
import { execCommand, writeStdin } from "./tools/commands.ts"
import { viewImage } from "./tools/view-image.ts"

export { codex, followedRelease } from "./dialect.ts"

/** Codex's tools for commands, patches and images, with the services that they run on. */
export const codexTools = definePlugin({
  name: "@haft/dialect-codex",
  version: "0.0.0",
  config: terminalsConfig,
  tools: [execCommand, writeStdin, applyPatch, viewImage],
  layer: (config) => terminals(config)
})

export default codexTools
