import { expect, it } from "@effect/vitest"
import { temporaryWorkspace } from "@haft/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { nodeProcesses } from "../process/processes.ts"
import { nodeWorkspace } from "../workspace/workspace.ts"
import { probedSandbox } from "./probe.ts"

it.runIf(process.platform !== "win32")(
  "a sandbox without overlays says so by name, and refuses to open one (not on this platform)",
  async () => {
    using workspace = temporaryWorkspace({})
    const { root, state } = workspace
    const looked = Effect.gen(function* () {
      const { describe, overlay } = yield* probedSandbox({
        kind: "docker",
        program: "/bin/sh",
        options: { state },
        wrap: (command) => command,
        network: "not in this test",
        describe: () => ({ kind: "docker", isolated: true, enforced: [], notEnforced: [] })
      })
      const { noOverlay } = yield* describe
      const refusal = yield* Effect.flip(overlay ?? Effect.die(new Error("no overlay to ask for")))
      return { noOverlay, code: refusal.code, message: refusal.message }
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(nodeWorkspace({ root, state }), nodeProcesses)))
    expect(await Effect.runPromise(looked)).toEqual({
      noOverlay: "the sandbox docker has none, bubblewrap and unshare have",
      code: "sandbox_unavailable",
      message: "commands can't run on an overlay here: the sandbox docker has none, bubblewrap and unshare have"
    })
  }
)
