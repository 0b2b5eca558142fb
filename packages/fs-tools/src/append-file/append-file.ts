import type { ChangePlan } from "@haft/core"
import * as Effect from "effect/Effect"

import { replaceText, textIn } from "../planned-text.ts"
import type { TextFile } from "../text-file.ts"
import { contentBytes, planWrite } from "../write-file/write-file.ts"

export interface AppendedText {
  readonly change: "created" | "modified"
  /** The text after the change; undefined for a new file. */
  readonly after: TextFile | undefined
}

/** Plans that text is put at the end of a file, in the file's own encoding. A file that is not there is created. */
export const planAppend = Effect.fnUntraced(function* (
  plan: ChangePlan,
  path: string,
  text: string,
  options: { readonly createDirectories: boolean }
) {
  const bytes = yield* contentBytes(text)
  if ((yield* plan.info(path)) === undefined) {
    yield* planWrite(plan, path, bytes, options)
    return { change: "created", after: undefined } satisfies AppendedText
  }
  const { length } = (yield* textIn(plan, path)).text
  const after = yield* replaceText(plan, path, [{ start: length, end: length, text }])
  return { change: "modified", after } satisfies AppendedText
})
