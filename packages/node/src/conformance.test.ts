import { testWorkspace } from "@haft/testing"
import { afterAll, describe, it } from "vitest"

import { makeWorkspaces } from "../test/workspaces.ts"
import { nodeWorkspace } from "./workspace/workspace.ts"

const workspaces = makeWorkspaces("conformance")
afterAll(workspaces.remove)

describe.each(["descriptors", "paths"] as const)("the workspace on disk, contained by %s", (containment) => {
  testWorkspace({
    it,
    knows: ["directories", "links", "history"],
    workspace: (files) => {
      const root = workspaces.make(files)
      return nodeWorkspace({ root, state: `${root}.state`, containment })
    }
  })
})
