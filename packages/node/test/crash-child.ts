// Changes files by commits: over and over until it is killed, or once, killing itself at a chosen step. It loads only
// what a commit needs, so that hundreds of these processes start quickly.
// Arguments: root, state, the number of the step to die at (0: never), the version to begin with (none: only recover
// from an earlier crash), and whether to wait for the disk (durable).
import { mkdirSync, writeFileSync, writeSync } from "node:fs"
import { join } from "node:path"

import { planChanges } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"

import { commitPlan, type CommitSettings, decideLocally, newPlan, recover } from "../src/workspace/commit/commit.ts"
import { openTurn } from "../src/workspace/commit/lock.ts"
import { openCommitJournal } from "../src/workspace/commit/write-ahead-log.ts"
import { openRoot } from "../src/workspace/paths/containment.ts"
import { KeptPlace } from "../src/workspace/paths/last-path-cache.ts"
import { SecretFiles } from "../src/workspace/secrets/secret-files.ts"
import { openHistory } from "../src/workspace/undo/history.ts"
import { adopted, changesTo, scratchOf, type Version } from "./crash-plan.ts"

const [directory = "", state = "", dieAt = "0", begin = "new", waiting = ""] = process.argv.slice(2)
let steps = 0
const onStep = (name: string) => {
  if (++steps !== Number(dieAt)) return
  writeSync(1, `${name}\n`)
  process.kill(process.pid, "SIGKILL")
}

mkdirSync(state, { recursive: true })
const root = openRoot(directory)
const durable = waiting === "durable"
const history = openHistory({ root, directory: join(state, "history"), capBytes: 1_000_000 })
const { imagePath } = history
const settings: CommitSettings = {
  root,
  secrets: new SecretFiles(root),
  durable,
  onStep,
  decide: decideLocally,
  takeTurn: openTurn(join(state, "turn")),
  turn: Semaphore.makeUnsafe(1),
  kept: new KeptPlace(root),
  journal: openCommitJournal({ root, directory: join(state, "commits"), durable, imagePath, onStep }),
  history,
  listeners: new Set()
}

const request = { call: "call", run: "run", tool: "tool", at: 0, symlinks: "inside" } as const
const commit = (version: Version): Promise<unknown> =>
  Effect.runPromise(
    Effect.gen(function* () {
      const plan = yield* newPlan(settings, "inside")
      yield* planChanges(plan, changesTo(version))
      if (version === "new") {
        writeFileSync(scratchOf(directory), adopted.text)
        yield* plan.adopt(adopted.path, scratchOf(directory))
      }
      return yield* commitPlan(settings, plan, request)
    })
  )

recover(settings)
process.stdout.write("ready\n")
if (begin === "none") process.exit()
await commit(begin as Version)
if (dieAt === "0") {
  for (;;) {
    await commit(begin === "new" ? "old" : "new")
    await commit(begin as Version)
  }
}
