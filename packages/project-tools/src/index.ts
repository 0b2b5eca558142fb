import { definePlugin } from "@haft/core/promise"

import { formatCode } from "./format-code.ts"
import { installPackage } from "./install-package.ts"
import { runTests } from "./run-tests.ts"

/** What a project does with itself: its tests, its formatter, its packages. Made of async functions. */
export const projectTools = definePlugin({
  name: "@haft/project-tools",
  version: "0.0.0",
  tools: [runTests, formatCode, installPackage]
})

export default projectTools
