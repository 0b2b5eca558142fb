import assert from "node:assert/strict"
import { setTimeout as sleep } from "node:timers/promises"

import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

import type { TemporaryWorkspace } from "../temporary-workspace.ts"
import { type Check, wrapAndRun } from "./inside.ts"

/** Tests that nothing of a command outlives it. */
export const testEndings = (check: Check, countsLeftovers: boolean): void => {
  const busy =
    "(setsid sh -c 'while :; do date +%s%N > beat; sleep 0.02; done' &) ; trap '' TERM; while :; do sleep 1; done"

  const isStill = async (workspace: TemporaryWorkspace): Promise<boolean> => {
    const before = workspace.exists("beat") ? workspace.read("beat") : ""
    await sleep(150)
    return (workspace.exists("beat") ? workspace.read("beat") : "") === before
  }

  check("ends everything at the time-out, daemons too", async ({ sh, workspace }) => {
    const ran = await sh(busy, { timeoutMs: 500 })
    assert.equal(ran.timedOut, true)
    assert.ok(await isStill(workspace), "something still writes")
  })

  check("ends everything when the call is cancelled, at any moment", async ({ run, workspace }) => {
    const command = { program: "sh", args: ["-c", busy], directory: workspace.root, env: {} }
    const cancelAfter = Effect.fnUntraced(function* (delay: number) {
      const fiber = yield* Effect.forkChild(wrapAndRun(command), { startImmediately: true })
      yield* Effect.sleep(delay)
      yield* Fiber.interrupt(fiber)
    })
    await run(Effect.forEach([0, 1, 2, 4, 8, 16, 200], cancelAfter, { concurrency: "unbounded" }))
    assert.ok(await isStill(workspace), "something still writes")
  })

  check("does not wait for a background child, and says that there was one", async ({ sh }) => {
    const began = Date.now()
    const ran = await sh("sleep 30 & echo started")
    assert.deepEqual([ran.exitCode, ran.stdout], [0, "started\n"])
    assert.equal(ran.leftRunning, countsLeftovers ? 1 : 0)
    assert.ok(Date.now() - began < 20_000)
  })

  check("tells how a command ended, whatever the command says to who started it", async ({ sh }) => {
    const code = "(while :; do echo end of story; done > /proc/1/fd/6) 2>/dev/null & sleep 0.2; exit 3"
    assert.equal((await sh(code)).exitCode, 3)
  })
}
