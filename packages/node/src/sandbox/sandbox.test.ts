import { spawnSync } from "node:child_process"

import { type Processes, type Sandbox, Workspace } from "@haft/core"
import { type TemporaryWorkspace, testSandbox } from "@haft/testing"
import * as Layer from "effect/Layer"
import { afterAll, describe, expect, it, vi } from "vitest"

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
const runsImage = (engine: string): boolean =>
  isLinux && spawnSync(engine, ["run", "--rm", "--pull=never", "--network=none", image, "true"]).status === 0

const putContainer = (engine: "docker" | "podman"): void => {
  put((options) => containerSandbox({ ...options, engine, image }), { countsLeftovers: false })

  // One whose command was given up early may still be on its way.
  it("leaves no container behind", async () => {
    const list = ["ps", "--all", "--quiet", "--filter", "label=haft.host"]
    await vi.waitFor(() => expect(spawnSync(engine, list, { encoding: "utf8" }).stdout).toBe(""), { timeout: 10_000 })
  }, 20_000)
}

describe.runIf(runsImage("docker"))("docker (needs an engine and the image haft-test, see .ci/test-image)", () => {
  putContainer("docker")
})

// Which runtimes podman works with depends on the machine's cgroups, and .ci/run may find none.
describe.runIf(runsImage("podman"))("podman; without it and the image haft-test (not on this platform)", () => {
  putContainer("podman")
})
