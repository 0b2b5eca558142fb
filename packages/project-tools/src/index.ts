import { definePlugin } from "@haft/core/promise"

import { formatCode } from "./format-code.ts"
import { installPackage } from "./install-package.ts"
import { runTests } from "./run-tests.ts"

/** Runs a project's tests and formatter, and installs packages. Written with async functions, without Effect. */
export const projectTools = definePlugin({
  name: "@haft/project-tools",
  version: "0.0.0",
  tools: [runTests, formatCode, installPackage]
})

export default projectTools
