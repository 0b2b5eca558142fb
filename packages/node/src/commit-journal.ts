import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync
} from "node:fs"
import { join } from "node:path"

import { isToolError } from "@haft/core"

import type { Root } from "./contain.ts"
import { writeFully } from "./content.ts"
import { discard } from "./discard.ts"
import { doStep, redoStep, syncDirectory, undoStep } from "./disk.ts"
import { isErrno, naming } from "./errno.ts"
import { type Spots, withSpots } from "./spots.ts"
import type { Step } from "./steps.ts"

/** A commit as it stands in the journal. Once it is there it will happen, whatever happens to the host. */
export interface JournalledCommit {
  readonly steps: ReadonlyArray<Step>
  /** Temporary names that are written before the steps begin. */
  readonly staged: ReadonlyArray<string>
  readonly rubbish: ReadonlyArray<string>
}

/**
 * The journal of commits, in the state directory:
 *  - `<id>.sweep` temporary names to remove: its commit was being prepared, or is a single step;
 *  - `<id>.commit` decided: the steps are done, again if need be;
 *  - `<id>.abort` a step failed: the steps are taken back.
 */
export interface CommitJournal {
  /** Puts temporary names down before they are used, so that none is left over. */
  readonly prepare: (id: string, temporaries: ReadonlyArray<string>) => void
  /** The moment a commit is decided. */
  readonly decide: (id: string, commit: JournalledCommit) => void
  readonly abort: (id: string) => void
  readonly forget: (id: string) => void
  /** Finishes or takes back what a host that died left behind, and names the commits, by id. */
  readonly recover: () => Recovered
}

export interface Recovered {
  /** Decided commits that are done now. */
  readonly finished: ReadonlyArray<string>
  /** Commits that were not decided, or were a single step which happened or did not. */
  readonly swept: ReadonlyArray<string>
}

export const openCommitJournal = (options: {
  readonly root: Root
  readonly directory: string
  readonly durable: boolean
  readonly onStep?: (name: string) => void
}): CommitJournal => {
  const { root, directory, durable, onStep } = options
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const file = (id: string, state: "sweep" | "commit" | "abort") => join(directory, `${id}.${state}`)
  const known = new Map<string, Set<string>>()
  const forget = (id: string, states: Iterable<string> = known.get(id) ?? []) => {
    for (const state of states) {
      try {
        unlinkSync(join(directory, `${id}.${state}`))
      } catch (error) {
        // Where there was no room for the file, there is none to remove.
        if (!isErrno(error, "ENOENT")) throw error
      }
    }
    known.delete(id)
  }
  const syncJournal = () => {
    if (!durable || process.platform === "win32") return
    const descriptor = openSync(directory, "r")
    fsyncSync(descriptor)
    closeSync(descriptor)
  }
  const write = (path: string, content: unknown, { sync }: { readonly sync: boolean }) => {
    const descriptor = openSync(path, "w", 0o600)
    try {
      writeFully(descriptor, Buffer.from(JSON.stringify(content)))
      if (sync) fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
  }

  const recoverOne = (id: string, states: ReadonlySet<string>): void => {
    if (states.has("commit")) {
      const { steps, staged, rubbish } = readJson<JournalledCommit>(file(id, "commit")) ?? nothing
      redoSteps(root, steps, { durable, ...(onStep && { onStep }) })
      if (!sweep(root, [...rubbish, ...staged])) return
      onStep?.("recovered")
    } else if (states.has("abort")) {
      if (!takeBack(root, readJson<JournalledCommit>(file(id, "abort")) ?? nothing)) return
    } else if (!sweep(root, readJson<ReadonlyArray<string>>(file(id, "sweep")) ?? [])) return
    forget(id, states)
  }

  return {
    prepare: (id, temporaries) => {
      known.set(id, new Set(["sweep"]))
      naming(stateName, () => write(file(id, "sweep"), temporaries, { sync: false }))
    },
    decide: (id, commit) => {
      const path = file(id, "commit")
      naming(stateName, () => {
        write(`${path}.new`, commit, { sync: durable })
        renameSync(`${path}.new`, path)
      })
      known.get(id)?.add("commit")
      syncJournal()
    },
    abort: (id) => {
      if (known.get(id)?.delete("commit") !== true) return
      known.get(id)?.add("abort")
      renameSync(file(id, "commit"), file(id, "abort"))
      syncJournal()
    },
    forget: (id) => forget(id),
    recover: () => {
      const found = new Map<string, Set<string>>()
      for (const name of readdirSync(directory)) {
        const [id = "", state = ""] = name.split(".")
        if (name.endsWith(".new")) rmSync(join(directory, name), { force: true })
        else found.set(id, (found.get(id) ?? new Set()).add(state))
      }
      for (const [id, states] of found) recoverOne(id, states)
      const finished = [...found].filter(([, states]) => states.has("commit")).map(([id]) => id)
      return { finished, swept: [...found.keys()].filter((id) => !finished.includes(id)) }
    }
  }
}

/** Does the steps of a commit that is decided. What it has begun is put into `begun`, in order. */
export const doSteps = (
  spots: Spots,
  steps: ReadonlyArray<Step>,
  { begun, ...options }: StepOptions & { readonly begun: Array<Step> }
): void => {
  for (const step of steps) {
    if (step.do !== "make_directory") begun.push(step)
    naming(step.path, () => doStep(spots, step))
    if (step.do === "make_directory") begun.push(step)
    options.onStep?.(step.do)
  }
  syncDirectories(spots.root, steps, options)
}

/** The same where a host that died may have done some of them. */
const redoSteps = (root: Root, steps: ReadonlyArray<Step>, options: StepOptions): void => {
  for (const step of steps) {
    unlessChanged(() => naming(step.path, () => redoStep(root, step)))
    options.onStep?.(step.do)
  }
  syncDirectories(root, steps, options)
}

interface StepOptions {
  readonly durable: boolean
  readonly onStep?: (name: string) => void
}

const syncDirectories = (root: Root, steps: ReadonlyArray<Step>, { durable, onStep }: StepOptions): void => {
  if (durable) for (const path of directoriesOf(steps)) unlessChanged(() => syncDirectory(root, path))
  onStep?.("synced")
}

/** Takes steps back, the last one first, and removes what was written for them. False when something stays. */
export const takeBack = (root: Root, { steps, staged, rubbish }: JournalledCommit): boolean => {
  for (const step of steps.toReversed()) unlessChanged(() => naming(step.path, () => undoStep(root, step)))
  return sweep(root, [...rubbish, ...staged])
}

/** Removes temporary names. False when one can't be removed now: then it stays on record, and goes another time. */
const sweep = (root: Root, paths: ReadonlyArray<string>): boolean =>
  withSpots(root, (spots) => {
    let isClean = true
    for (const path of paths) {
      try {
        unlessChanged(() => discard(spots, path))
      } catch (error) {
        if (!isErrno(error, "EROFS", "EACCES", "EPERM") && !isToolError(error)) throw error
        isClean = false
      }
    }
    return isClean
  })

/**
 * Leaves alone what somebody else has moved, removed or replaced since: their change counts, and waiting for the
 * old state to come back would block every later commit. A full or read-only disk still counts as a failure.
 */
const unlessChanged = (work: () => void): void => {
  try {
    work()
  } catch (error) {
    const isAboutTheirs = isToolError(error)
      ? ["stale_file", "file_not_found", "symlink_blocked"].includes(error.code)
      : isErrno(error, "ENOENT", "ENOTDIR", "EISDIR", "EEXIST", "ENOTEMPTY", "ELOOP", "EINVAL", "EBUSY")
    if (!isAboutTheirs) throw error
  }
}

/** The directories whose names the steps change. */
const directoriesOf = (steps: ReadonlyArray<Step>): ReadonlySet<string> => {
  const paths = steps.flatMap((step) => {
    if (step.do === "make_directory") return [step.path]
    return step.do === "set_aside" ? [step.path, step.aside] : [step.path, step.from]
  })
  return new Set(paths.map((path) => (path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : ".")))
}

const stateName = "the state directory"

const nothing: JournalledCommit = { steps: [], staged: [], rubbish: [] }

// A record that can't be read was cut short before it counted.
const readJson = <A>(path: string): A | undefined => {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as A
  } catch {
    return undefined
  }
}
