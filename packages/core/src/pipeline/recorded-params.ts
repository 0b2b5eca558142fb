import * as Effect from "effect/Effect"

import { redact } from "../text/redact.ts"
import type { Tool } from "../tool.ts"

/**
 * Arguments as they may stand on record: secrets replaced, and what the tool itself holds back. A tool that can't say
 * what may be recorded keeps its arguments off the record altogether.
 */
export const paramsForRecord = <R>(tool: Tool<R> | undefined, args: unknown): Effect.Effect<unknown, never, R> => {
  if (tool?.forRecord === undefined) return Effect.succeed(redact(args))
  return Effect.suspend(() => tool.forRecord?.(args) ?? Effect.succeed(args)).pipe(
    Effect.map(redact),
    Effect.catchCause((cause) =>
      Effect.logError(`the arguments of ${tool.name} are not on record`, cause).pipe(Effect.as("[withheld]"))
    )
  )
}
