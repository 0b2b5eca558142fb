// Opens and closes terminals, and prints what that has left behind in this process.
import { readdirSync, readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"

import * as Effect from "effect/Effect"

import { withTerminals } from "./host.ts"
import { carrying, uniqueSleep } from "./processes.ts"

const rounds = Number(process.argv[2])
const stray = uniqueSleep()

// Collects several times, because objects that one collection frees may have kept others alive until then.
const measure = Effect.promise(async () => {
  for (let turn = 0; turn < 5; turn++) {
    globalThis.gc?.()
    await sleep(50)
  }
  const { heapUsed, external, rss } = process.memoryUsage()
  const descriptors = readdirSync("/proc/self/fd").length
  // With zombies: children that have ended, and that nobody has waited for.
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, "latin1").split(" ").length - 1
  return { descriptors, children, processes: carrying(stray).length, memory: heapUsed + external, rss }
})

const forget = (list: ReadonlyArray<unknown>): void => {
  ;(list as Array<unknown>).length = 0
}

await Effect.runPromise(
  withTerminals(
    ({ open, call, events, questions }) =>
      Effect.gen(function* () {
        const round = Effect.fnUntraced(function* () {
          const { terminal_id } = yield* open({ command: `setsid ${stray} & echo up; exec cat`, quiet_ms: 50 })
          yield* call("close_terminal", { terminal_id })
          // The journal and the approver of the test keep everything, which must not be counted as a leak of terminals.
          forget(events)
          forget(questions)
        })
        const play = (count: number) => Effect.forEach(Array.from({ length: count }), round, { concurrency: 8 })
        yield* play(24)
        const before = yield* measure
        yield* play(rounds)
        const after = yield* measure
        const left = {
          descriptors: after.descriptors - before.descriptors,
          children: after.children - before.children,
          processes: after.processes,
          memory: after.memory - before.memory,
          rss: after.rss - before.rss
        }
        process.stdout.write(`${JSON.stringify(left)}\n`)
      }),
    { config: { recording: false } }
  )
)
