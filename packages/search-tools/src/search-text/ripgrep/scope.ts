import { type Processes, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"

import type { Expression } from "./expression.ts"
import { excluding, literally } from "./file-filter.ts"
import { fitOneList, type Ripgrep, type RipgrepError, runRipgrep } from "./ripgrep.ts"

/** How ripgrep is pointed at a directory. */
export interface Scope {
  readonly target: string
  readonly options: ReadonlyArray<string>
  /** True when the rules of `.gitignore` files above the directory were taken into account. */
  readonly heedsAbove: boolean
}

/**
 * ripgrep takes the ignore files above a directory from the whole disk or not at all. So where some of the workspace
 * matter, it starts at the root, where it meets them, and is kept away from everything beside the way down. Where that
 * is more than a command line holds, it looks at all of the workspace instead.
 */
export const scopeOf = Effect.fnUntraced(function* (directory: string): Effect.fn.Return<Scope, never, Workspace> {
  const alone: Scope = { target: directory, options: [], heedsAbove: false }
  if (directory === ".") return alone
  const workspace = yield* Workspace
  const names = directory.split("/")
  const exclusions: Array<string> = []
  let hasRules = false
  for (const [depth, name] of names.entries()) {
    const above = names.slice(0, depth).join("/")
    const entries = yield* workspace.list(above === "" ? "." : above).pipe(Effect.orElseSucceed(() => []))
    hasRules ||= entries.some((entry) => entry.name === ".gitignore")
    for (const entry of entries) {
      if (entry.name !== name) exclusions.push(excluding(above === "" ? "" : `${above}/`, literally(entry.name)))
    }
  }
  if (!hasRules) return alone
  return { target: ".", options: fitOneList(exclusions) ? exclusions : [], heedsAbove: true }
})

/**
 * True when the rules above a directory leave nothing of it because it is ignored itself. It was asked for by name,
 * so it is searched all the same.
 */
export const isIgnored = Effect.fnUntraced(function* (
  directory: string,
  expression: Expression
): Effect.fn.Return<boolean, RipgrepError, Ripgrep | Processes | Workspace> {
  const { target, options, heedsAbove } = yield* scopeOf(directory)
  if (!heedsAbove) return false
  const decoder = new TextDecoder()
  let pending = ""
  const { stoppedEarly } = yield* runRipgrep({
    expression,
    options: [...options, "--files"],
    targets: [target],
    timeoutMs: lookingTimeMs,
    onOutput: (chunk) => {
      const paths = (pending + decoder.decode(chunk, { stream: true })).split("\0")
      pending = paths.pop() ?? ""
      return paths.some((path) => path.startsWith(`./${directory}/`))
    }
  })
  return !stoppedEarly && (yield* hasFiles(directory))
})

/** True when there are files in a directory that no rule is about: where those are ignored one by one, it is not. */
const hasFiles = Effect.fnUntraced(function* (directory: string): Effect.fn.Return<boolean, never, Workspace> {
  const workspace = yield* Workspace
  const look = (timeLimitMs: number) =>
    workspace
      .glob(directory, "**", { limit: 0, respectIgnore: true, timeLimitMs })
      .pipe(Effect.orElseSucceed(() => ({ total: 0, timedOut: false })))
  // One file is enough to know, and the first shows soon.
  const soon = yield* look(20)
  const { total } = soon.total === 0 && soon.timedOut === true ? yield* look(lookingTimeMs) : soon
  return total > 0
})

const lookingTimeMs = 10_000
