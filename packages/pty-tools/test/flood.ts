// Runs a program with very much output in a terminal, and prints how much memory that took in this process.
import * as Effect from "effect/Effect"

import { withTerminals } from "./host.ts"

const megabytes = Number(process.argv[2])

await Effect.runPromise(
  withTerminals(
    ({ run }) =>
      Effect.gen(function* () {
        yield* run({ command: "head -c 1000000 /dev/zero" })
        globalThis.gc?.()
        const before = process.memoryUsage().rss
        let peak = before
        const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 5)
        const { cursor, omitted_bytes } = yield* run({ command: `head -c ${megabytes}000000 /dev/zero` })
        clearInterval(timer)
        process.stdout.write(`${JSON.stringify({ cursor, omitted_bytes, growth: peak - before })}\n`)
      }),
    { config: { recording: false } }
  )
)
