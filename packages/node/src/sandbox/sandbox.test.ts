import { type Processes, type Sandbox, Workspace } from "@haft/core"
import { type TemporaryWorkspace, testSandbox } from "@haft/testing"
import * as Layer from "effect/Layer"
import { afterAll, describe, it } from "vitest"

import { nodeProcesses } from "../processes.ts"
import { bubblewrapSandbox } from "./bubblewrap.ts"
import type { SandboxOptions } from "./limits.ts"
import { findProgram } from "./probe.ts"
import { unshareSandbox } from "./unshare.ts"

type Make = (options: SandboxOptions) => Layer.Layer<Sandbox, never, Workspace | Processes>

const put = (make: Make): void => {
  testSandbox({
    it,
    afterAll,
    sandbox: (workspace, limits) =>
      make(limits === undefined ? {} : { limits }).pipe(
        Layer.provideMerge(nodeProcesses),
        Layer.provide(workspaceAt(workspace))
      )
  })
}

// A sandbox asks the workspace for its root and nothing else.
const workspaceAt = ({ root }: TemporaryWorkspace) => Layer.mock(Workspace)({ root })

const isLinux = process.platform === "linux"

describe.runIf(isLinux && findProgram("bwrap") !== undefined)("bubblewrap (needs bwrap)", () => {
  put(bubblewrapSandbox)
})

describe.runIf(isLinux && findProgram("perl") !== undefined)("unshare (needs perl)", () => {
  put(unshareSandbox)
})
