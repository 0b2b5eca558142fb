import { readdirSync } from "node:fs"

import { Sandbox, toolError, Workspace } from "@haft/core"
import { temporaryWorkspace } from "@haft/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { expect, it } from "vitest"

import { nodeProcesses } from "../process/processes.ts"
import { containerSandbox } from "./container/container.ts"
import { firstThatWorks } from "./first-that-works.ts"
import { bubblewrapSandbox } from "./linux/bubblewrap.ts"
import { unshareSandbox } from "./linux/unshare.ts"
import { seatbeltSandbox } from "./seatbelt.ts"

const broken = Layer.succeed(Sandbox, {
  wrap: () => toolError("sandbox_unavailable", "broken"),
  describe: toolError("sandbox_unavailable", "broken")
})
const working = Layer.succeed(Sandbox, {
  wrap: (command) => Effect.succeed({ ...command, program: "wrapped" }),
  describe: Effect.succeed({ kind: "working", isolated: true, enforced: [], notEnforced: [] })
})
const command = { program: "true", args: [], directory: "/", env: {} }

const on = <A, E>(sandbox: ReturnType<typeof firstThatWorks>, effect: Effect.Effect<A, E, Sandbox>, root?: string) => {
  const workspace = temporaryWorkspace()
  return Effect.runPromise(
    Effect.exit(effect).pipe(
      Effect.provide(
        sandbox.pipe(
          Layer.provide(
            Layer.merge(
              nodeProcesses,
              Layer.mock(Workspace)({
                root: root ?? workspace.root,
                roots: [],
                isSecret: () => false,
                secretFiles: () => []
              })
            )
          )
        )
      )
    )
  ).finally(workspace.remove)
}

it("takes the first that works", async () => {
  const wrapped = await on(
    firstThatWorks("test", [broken, working]),
    Sandbox.use((sandbox) => sandbox.wrap(command))
  )
  expect(wrapped).toMatchObject({ _tag: "Success", value: { program: "wrapped" } })
})

it("never falls back to none", async () => {
  const refused = await on(
    firstThatWorks("test", [broken, broken]),
    Sandbox.use((sandbox) => sandbox.wrap(command))
  )
  expect(JSON.stringify(refused)).toContain("sandbox_unavailable")
})

it("says why a sandbox does not work here", async () => {
  for (const sandbox of [seatbeltSandbox(), containerSandbox({ image: "no-such-image-anywhere" })]) {
    const described = await on(
      sandbox,
      Sandbox.use(({ describe }) => describe)
    )
    expect(JSON.stringify(described)).toContain("does not work on this machine")
  }
})

it("refuses a workspace that is the whole machine", async () => {
  for (const sandbox of [bubblewrapSandbox(), containerSandbox()]) {
    const refused = await on(
      sandbox,
      Sandbox.use(({ wrap }) => wrap(command)),
      "/"
    )
    expect(JSON.stringify(refused)).toContain("sandbox_error")
  }
})

it.runIf(process.platform === "linux")(
  "opens nothing before somebody runs something (not on this platform)",
  async () => {
    const open = () => readdirSync("/proc/self/fd").length
    const before = open()
    for (const sandbox of [bubblewrapSandbox(), unshareSandbox()]) await on(sandbox, Effect.void)
    expect(open()).toBe(before)
  }
)
