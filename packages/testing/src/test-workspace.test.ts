import { memoryWorkspace } from "@haft/core"
import { describe, it } from "vitest"

import { testWorkspace } from "./test-workspace.ts"

describe("the workspace in memory", () => {
  testWorkspace({ it, knows: [], workspace: memoryWorkspace })
})
