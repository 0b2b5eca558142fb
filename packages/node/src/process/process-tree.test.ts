import { spawn } from "node:child_process"
import { once } from "node:events"

import { expect, it } from "vitest"

import { endTree } from "./process-tree.ts"

/** So long that a test which waits for it fails. */
const graceMs = 3_600_000

it.runIf(process.platform === "linux")("is over as soon as nothing is left, whatever the grace", async () => {
  const program = spawn("sh", ["-c", "sleep 3600 & echo on; wait"], {
    stdio: ["ignore", "pipe", "ignore"],
    detached: true
  })
  const over = once(program, "exit")
  await once(program.stdout, "data")
  await endTree({ pid: program.pid ?? 0 }, { graceMs })
  expect(await over).toEqual([null, "SIGTERM"])
})

it.runIf(process.platform === "linux")("leaves the grace to those who come from one that ended", async () => {
  const code =
    "trap 'sh -c \"echo cleaning; sleep 0.1; echo cleaned\" & exit 0' TERM; echo on; while :; do sleep 0.01; done"
  const program = spawn("sh", ["-c", code], { stdio: ["ignore", "pipe", "ignore"], detached: true })
  let said = ""
  program.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()))
  await once(program.stdout, "data")
  const closed = once(program, "close")
  await endTree({ pid: program.pid ?? 0 }, { graceMs })
  await closed
  expect(said).toBe("on\ncleaning\ncleaned\n")
})
