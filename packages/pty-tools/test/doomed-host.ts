// A host that opens a terminal, says so, and waits to be killed.
import * as Effect from "effect/Effect"

import { withTerminals } from "./host.ts"

const [command = ""] = process.argv.slice(2)

await Effect.runPromise(
  withTerminals(({ open }) =>
    Effect.gen(function* () {
      const { output } = yield* open({ command, quiet_ms: 500 })
      process.stdout.write(`${output}opened\n`)
      return yield* Effect.never
    })
  )
)
