import { execFileSync } from "node:child_process"

import { afterAll, expect, it } from "@effect/vitest"

import { PipePool } from "./pipes.ts"

const pool = new PipePool(async (paths) => {
  await Promise.resolve()
  execFileSync("mkfifo", paths)
})
afterAll(() => pool.remove())

it.skipIf(process.platform === "win32")("never reads from a pipe that was written to (named pipes)", async () => {
  const [written = ""] = await pool.take("write", 1)
  pool.giveBack("write", written)
  const read = await pool.take("read", 64)
  expect(read).toHaveLength(64)
  expect(read).not.toContain(written)
  expect(await pool.take("write", 1)).toEqual([written])
})
