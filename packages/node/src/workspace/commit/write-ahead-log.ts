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

import { hasCode, ignoring, isErrno, naming, namingState } from "../../errno.ts"
import { writeFully } from "../content.ts"
import { type Root, withResolved } from "../paths/containment.ts"
import { Spots, withSpots } from "../paths/directory-entries.ts"
import { atOnce, type Work } from "../turns.ts"
import type { ImagePath } from "../undo/stored-versions.ts"
import { doStep, redoStep, syncDirectory, undoStep } from "./apply-step.ts"
import { discardAtOnce, openSweepFile } from "./leftovers.ts"
import type { CommitStep } from "./steps.ts"
import { isTemporaryName } from "./temporary-name.ts"

/** A commit as it stands in the journal. Once it is there it will happen, whatever happens to the host. */
export interface JournalledCommit {
  readonly steps: ReadonlyArray<CommitStep>
  /** Temporary names that are written before the steps begin. */
  readonly staged: ReadonlyArray<string>
  /** Temporary names that hold something when the steps are done. */
  readonly rubbish: ReadonlyArray<string>
}

/**
 * The journal of commits, in the state directory:
 *  - `<host>.sweep` temporary names to remove: a commit was being prepared, or is a single step;
 *  - `<id>.commit` decided: the steps are done, again if need be;
 *  - `<id>.abort` a step failed: the steps are taken back.
 */
export interface CommitJournal {
  /** Puts temporary names down before they are used, so that none is left over. */
  readonly prepare: (id: string, temporaries: ReadonlyArray<string>) => void
  /** The moment a commit is decided. */
  readonly decide: (id: string, commit: JournalledCommit) => void
  readonly abort: (id: string) => void
  /** For a commit that is over, done or taken back, with temporary names that can't be removed yet: keeps only these. */
  readonly keepNames: (id: string, commit: JournalledCommit) => void
  readonly forget: (id: string) => void
  /** Finishes or takes back what a host that died left behind, and names the commits, by id. */
  readonly recover: () => Recovered
  readonly close: () => void
}

export interface Recovered {
  /** Decided commits that are done now. */
  readonly finished: ReadonlyArray<string>
  /** Commits that were not decided, or were a single step which happened or did not. */
  readonly swept: ReadonlyArray<string>
  /** Decided commits that can't be finished yet, because a directory of theirs is away. */
  readonly waiting: ReadonlyArray<WaitingCommit>
  /** Takes them off the record; those of which something stays are left on it. */
  readonly forget: () => void
}

/** A commit that is half made until a directory is back, such as one on a disk that is not mounted. */
export interface WaitingCommit {
  readonly directory: string
  /** Changes of the commit. */
  readonly paths: ReadonlyArray<string>
}

export const openCommitJournal = (options: {
  readonly root: Root
  readonly directory: string
  readonly durable: boolean
  /** Where the history keeps what was replaced. */
  readonly imagePath: ImagePath
  readonly onStep?: (name: string) => void
}): CommitJournal => {
  const { root, directory, durable, imagePath, onStep } = options
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const file = (id: string, state: "commit" | "abort") => join(directory, `${id}.${state}`)
  const sweeps = openSweepFile(directory)
  const known = new Map<string, "commit" | "abort">()
  const forget = (id: string) => {
    // The sweep record first: one that outlived its commit's file would look like a commit that was never decided.
    sweeps.clear(id)
    const state = known.get(id)
    // Where there was no room for the file, there is none to remove.
    if (state !== undefined) ignoring(() => unlinkSync(file(id, state)), "ENOENT")
    known.delete(id)
  }
  const syncJournal = () => {
    if (!durable || process.platform === "win32") return
    const descriptor = openSync(directory, "r")
    fsyncSync(descriptor)
    closeSync(descriptor)
  }
  const write = (path: string, commit: JournalledCommit) => {
    const descriptor = openSync(`${path}.new`, "w", 0o600)
    try {
      writeFully(descriptor, Buffer.from(JSON.stringify(commit)))
      if (durable) fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    renameSync(`${path}.new`, path)
  }
  const keepNames = (path: string, { staged, rubbish }: JournalledCommit) => {
    try {
      write(path, { steps: [], staged, rubbish })
    } catch (error) {
      // Without room for the shorter record the longer one stays. Doing its steps again is harmless: they can tell from
      // the names on disk that they are done.
      if (!hasCode(error)) throw error
    }
  }

  /** False when something of it stays. */
  const recoverOne = (id: string, { state, temporaries, commit }: Unfinished): boolean => {
    if (state === undefined) return atOnce(sweep(root, temporaries))
    if (state === "commit") redoSteps(root, commit.steps, { durable, ...(onStep && { onStep }) })
    const isClean = atOnce(state === "abort" ? takeBack(root, commit, imagePath) : sweepNames(root, commit))
    if (!isClean && commit.steps.length > 0) keepNames(file(id, state), commit)
    if (isClean && state === "commit") onStep?.("recovered")
    return isClean
  }

  return {
    prepare: (id, temporaries) => namingState(() => sweeps.write({ id, temporaries })),
    decide: (id, commit) => {
      const path = file(id, "commit")
      namingState(() => write(path, commit))
      known.set(id, "commit")
      syncJournal()
    },
    abort: (id) => {
      if (known.get(id) !== "commit") return
      known.set(id, "abort")
      renameSync(file(id, "commit"), file(id, "abort"))
      syncJournal()
    },
    keepNames: (id, commit) => {
      const state = known.get(id)
      if (state !== undefined) keepNames(file(id, state), commit)
    },
    forget,
    recover: () => {
      const found = new Map<string, Unfinished>()
      const names = readdirSync(directory)
      const { records, files } = sweeps.read(names)
      for (const { id, temporaries } of records) found.set(id, { temporaries, state: undefined, commit: nothing })
      for (const name of names) {
        const [id = "", state] = name.split(".")
        if (name.endsWith(".new")) rmSync(join(directory, name), { force: true })
        else if (state === "commit" || state === "abort") {
          const commit = readCommit(join(directory, name))
          found.set(id, { temporaries: temporariesOf(commit), state, commit })
        }
      }
      for (const sweepFile of files) if (sweepFile.id === undefined) sweepFile.remove()
      const waiting: Array<WaitingCommit> = []
      for (const [id, { temporaries, commit }] of found) {
        const away = firstAway(root, temporaries)
        if (away === undefined) continue
        found.delete(id)
        if (commit.steps.length > 0) waiting.push({ directory: away, paths: commit.steps.map(({ path }) => path) })
      }
      const over = [...found].filter(([id, unfinished]) => recoverOne(id, unfinished))
      const finished = [...found].filter(([, { state }]) => state === "commit").map(([id]) => id)
      return {
        finished,
        swept: [...found.keys()].filter((id) => !finished.includes(id)),
        waiting,
        forget: () => {
          for (const [id, { state }] of over) {
            for (const sweepFile of files) if (sweepFile.id === id) sweepFile.remove()
            if (state !== undefined) rmSync(file(id, state), { force: true })
          }
        }
      }
    },
    close: sweeps.close
  }
}

interface Unfinished {
  readonly state: "commit" | "abort" | undefined
  readonly temporaries: ReadonlyArray<string>
  readonly commit: JournalledCommit
}

/** The temporary names of a commit. They lie in directories that it neither makes nor moves. */
const temporariesOf = ({ steps, staged, rubbish }: JournalledCommit): ReadonlyArray<string> => {
  const used = steps.flatMap((step) => {
    if (step.do === "make_directory" || step.do === "set_mode") return []
    return step.do === "set_aside" ? [step.aside] : [step.from]
  })
  return [...used, ...staged, ...rubbish].filter((path) => isTemporaryName(path.slice(path.lastIndexOf("/") + 1)))
}

/** The first directory of these names that is not there. Something else in its place is somebody's change, which counts. */
const firstAway = (root: Root, temporaries: ReadonlyArray<string>): string | undefined =>
  [...new Set(temporaries.map(directoryOf))].find((path) => {
    try {
      return withResolved(root, path, ({ found, blocked }) => found === undefined && !blocked)
    } catch (error) {
      if (isToolError(error)) return false
      throw error
    }
  })

const directoryOf = (path: string): string => (path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : ".")

/** Does the steps of a commit that is decided. What it has begun is put into `begun`, in order. */
export function* doSteps(
  spots: Spots,
  steps: ReadonlyArray<CommitStep>,
  { begun, ...options }: StepOptions & { readonly begun: Array<CommitStep> }
): Work {
  for (const step of steps) {
    if (step.do !== "make_directory") begun.push(step)
    naming(step.path, () => doStep(spots, step))
    if (step.do === "make_directory") begun.push(step)
    options.onStep?.(step.do)
    yield
  }
  syncDirectories(spots, steps, options)
}

/** Undoes steps of which a host that died may have done only some. */
const redoSteps = (root: Root, steps: ReadonlyArray<CommitStep>, options: StepOptions): void => {
  for (const step of steps) {
    unlessChanged(() => naming(step.path, () => redoStep(root, step)))
    options.onStep?.(step.do)
  }
  withSpots(root, (spots) => syncDirectories(spots, steps, options))
}

interface StepOptions {
  readonly durable: boolean
  readonly onStep?: (name: string) => void
}

const syncDirectories = (spots: Spots, steps: ReadonlyArray<CommitStep>, { durable, onStep }: StepOptions): void => {
  if (durable) for (const path of directoriesOf(steps)) unlessChanged(() => syncDirectory(spots, path))
  onStep?.("synced")
}

/** Takes steps back, the last one first, and removes what was written for them. False when something stays. */
export function* takeBack(root: Root, commit: JournalledCommit, imagePath: ImagePath): Work<boolean> {
  for (const step of commit.steps.toReversed()) {
    unlessChanged(() => naming(step.path, () => undoStep(root, step, imagePath)))
    yield
  }
  return yield* sweepNames(root, commit)
}

const sweepNames = (root: Root, { staged, rubbish }: JournalledCommit): Work<boolean> =>
  sweep(root, [...rubbish, ...staged])

/** Removes temporary names. False when one can't be removed now: then it stays on record, and goes another time. */
function* sweep(root: Root, paths: ReadonlyArray<string>): Work<boolean> {
  const spots = new Spots(root)
  let isClean = true
  try {
    for (const path of paths) {
      try {
        unlessChanged(() => discardAtOnce(spots, path))
      } catch (error) {
        if (!isErrno(error, "EROFS", "EACCES", "EPERM", "EBUSY") && !isToolError(error)) throw error
        isClean = false
      }
      yield
    }
  } finally {
    spots.forget()
  }
  return isClean
}

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
      : isErrno(error, "ENOENT", "ENOTDIR", "EISDIR", "EEXIST", "ENOTEMPTY", "ELOOP", "EINVAL") ||
        // A disk is mounted there. On Windows a program has it open, and will close it.
        (isErrno(error, "EBUSY") && process.platform !== "win32")
    if (!isAboutTheirs) throw error
  }
}

/** The directories whose names the steps change. */
const directoriesOf = (steps: ReadonlyArray<CommitStep>): ReadonlySet<string> => {
  const paths = steps.flatMap((step) => {
    if (step.do === "make_directory" || step.do === "set_mode") return [step.path]
    return step.do === "set_aside" ? [step.path, step.aside] : [step.path, step.from]
  })
  return new Set(paths.map(directoryOf))
}

const nothing: JournalledCommit = { steps: [], staged: [], rubbish: [] }

// A record that can't be read was cut short before it counted.
const readCommit = (path: string): JournalledCommit => {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as JournalledCommit
  } catch {
    return nothing
  }
}
