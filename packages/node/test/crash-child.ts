// The engine of a host that changes files over and over until somebody kills it, or once, killing itself at a
// chosen moment. It is put together by hand and has little else, so that hundreds of them start quickly.
// Arguments: root, state, the number of the step to die at (0: never), which version to begin with (none: only
// tidy up after the host before), whether to wait for the disk (durable).
import { mkdirSync, writeSync } from "node:fs"
import { join } from "node:path"

import { openCommitJournal } from "../src/commit-journal.ts"
import { commitChanges, type CommitSettings, recover } from "../src/commit.ts"
import { openRoot } from "../src/contain.ts"
import { openHistory } from "../src/history.ts"
import { changesTo, type Version } from "./crash-plan.ts"

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
  durable,
  onStep,
  journal: openCommitJournal({ root, directory: join(state, "commits"), durable, imagePath, onStep }),
  history
}

const commit = (version: Version): void => {
  const call = { call: "call", run: "run", tool: "tool", at: 0, symlinks: "inside", exact: false } as const
  const work = commitChanges(settings, { ...call, changes: changesTo(version) })
  while (work.next().done !== true);
}

recover(settings)
process.stdout.write("ready\n")
if (begin === "none") process.exit()
commit(begin as Version)
if (dieAt === "0") {
  for (;;) {
    commit(begin === "new" ? "old" : "new")
    commit(begin as Version)
  }
}
