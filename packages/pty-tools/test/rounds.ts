// Opens and closes terminals, and prints what that left behind in this process, which does nothing else.
import { readdirSync } from "node:fs"

import * as Effect from "effect/Effect"

import { withTerminals } from "./host.ts"

const rounds = Number(process.argv[2])

const measure = () => {
  globalThis.gc?.()
  const { heapUsed, external, rss } = process.memoryUsage()
  return { descriptors: readdirSync("/proc/self/fd").length, memory: heapUsed + external, rss }
}

await Effect.runPromise(
  withTerminals(
    ({ open, call }) =>
      Effect.gen(function* () {
        const round = Effect.fnUntraced(function* () {
          const { terminal_id } = yield* open({ command: "echo up; exec cat", quiet_ms: 50 })
          yield* call("close_terminal", { terminal_id })
        })
        const play = (count: number) => Effect.forEach(Array.from({ length: count }), round, { concurrency: 8 })
        yield* play(24)
        const before = measure()
        yield* play(rounds)
        const after = measure()
        const left = {
          descriptors: after.descriptors - before.descriptors,
          memory: after.memory - before.memory,
          rss: after.rss - before.rss
        }
        process.stdout.write(`${JSON.stringify(left)}\n`)
      }),
    { config: { recording: false } }
  )
)
