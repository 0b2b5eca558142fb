import { spawnSync } from "node:child_process"

import { type Processes, type Sandbox, Workspace } from "@haft/core"
import { type TemporaryWorkspace, testSandbox } from "@haft/testing"
import * as Layer from "effect/Layer"
import { afterAll, describe, expect, it } from "vitest"

import { nodeProcesses } from "../processes.ts"
import { bubblewrapSandbox } from "./bubblewrap.ts"
import { containerSandbox } from "./docker.ts"
import type { SandboxOptions } from "./limits.ts"
import { findProgram } from "./probe.ts"
import { unshareSandbox } from "./unshare.ts"

type Make = (options: SandboxOptions) => Layer.Layer<Sandbox, never, Workspace | Processes>

const put = (make: Make, more: { countsLeftovers?: boolean } = {}): void => {
  testSandbox({
    ...more,
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

const image = "haft-test"
const hasEngine = isLinux && spawnSync("docker", ["image", "inspect", image]).status === 0

describe.runIf(hasEngine)("docker (needs an engine and the image haft-test, see .ci/test-image)", () => {
  put((options) => containerSandbox({ ...options, image }), { countsLeftovers: false })

  it("leaves no container behind", () => {
    const listed = spawnSync("docker", ["ps", "--all", "--quiet", "--filter", "label=haft.host"], { encoding: "utf8" })
    expect(listed.stdout).toBe("")
  })
})
