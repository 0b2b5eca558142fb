import { isUtf8 } from "node:buffer"
import { closeSync, lstatSync, openSync, readlinkSync } from "node:fs"
import { join } from "node:path"

import { makeToolError, type PlanError, type ToolError } from "@haft/core"
import * as Effect from "effect/Effect"

import { attempt, planCodes } from "../../errno.ts"
import type { NodePlan } from "../../workspace/commit/plan.ts"
import { type DirectoryNode, modeOf, type Node } from "../../workspace/commit/planned-tree.ts"
import { fileContent, fingerprintOf, newHash, repeatUntilDone, scanDescriptor } from "../../workspace/content.ts"
import { identityOf } from "../../workspace/paths/handles.ts"
import type { UpperEntry } from "./upper.ts"

export interface UpperToPlan {
  /** The upper directory. */
  readonly directory: string
  readonly entries: ReadonlyArray<UpperEntry>
  /** A change in the workspace after this moment, by the clock of its file system, was not seen by the command. */
  readonly since: number
  /** Paths that this host's own commits changed since then. */
  readonly committed: ReadonlySet<string>
  /** Fingerprints by path, kept for when the plan has to be made again. */
  readonly fingerprints: Map<string, string>
}

const sliceMs = 20

/** Larger files are hashed in slices, before they are planned. */
const atOnceBytes = 1024 * 1024

/** Plans everything that an upper directory holds. Fails with `stale_file` where the workspace has changed, too. */
export const planUpper = Effect.fnUntraced(function* (
  plan: NodePlan,
  upper: UpperToPlan,
  except: ReadonlySet<string>
): Effect.fn.Return<void, PlanError> {
  plan.useExactPaths()
  const entries = upper.entries.filter(({ path }) => !except.has(path))
  for (const [directory, names] of hidingDirectories(upper.entries)) yield* clear(plan, directory, names)
  let next = 0
  const waiting: Array<Effect.Effect<void, PlanError>> = []
  const slice = attempt(planCodes, () => {
    const until = performance.now() + sliceMs
    for (let entry = entries[next]; entry !== undefined; entry = entries[next]) {
      next++
      const more = planEntry(plan, upper, entry)
      if (more !== undefined) {
        waiting.push(more)
        break
      }
      if (performance.now() > until) break
    }
    return next === entries.length
  })
  const rest = Effect.suspend(() => waiting.pop() ?? Effect.void)
  yield* repeatUntilDone(Effect.tap(slice, () => rest))
  yield* attempt(planCodes, () => checkConflicts(plan, upper))
})

/** Removes what an opaque directory hides, except what the overlay has of the same name: that is planned by itself. */
const clear = Effect.fnUntraced(function* (
  plan: NodePlan,
  path: string,
  kept: ReadonlySet<string>
): Effect.fn.Return<void, PlanError> {
  const gone = yield* attempt(planCodes, () => {
    const node = plan.view.find(path.split("/"))
    return node?.kind === "directory" ? plan.view.names(node).filter((name) => !kept.has(name)) : []
  })
  for (const name of gone) yield* plan.remove(`${path}/${name}`, { recursive: true })
})

/** Directories that hide what the workspace has below them, opaque ones and all in them, with the names in each. */
const hidingDirectories = (entries: ReadonlyArray<UpperEntry>): ReadonlyMap<string, ReadonlySet<string>> => {
  const hiding = new Map<string, Set<string>>()
  for (const { kind, path, isOpaque } of entries) {
    const slash = path.lastIndexOf("/")
    const around = slash === -1 ? undefined : hiding.get(path.slice(0, slash))
    around?.add(path.slice(slash + 1))
    if (kind === "directory" && (isOpaque || around !== undefined)) hiding.set(path, new Set())
  }
  return hiding
}

/** Plans one entry; returns what has to be done first, or in its place, where that takes its time. */
const planEntry = (
  plan: NodePlan,
  upper: UpperToPlan,
  entry: UpperEntry
): Effect.Effect<void, PlanError> | undefined => {
  const { kind, path } = entry
  const node = plan.view.find(path.split("/"))
  if (kind === "whiteout") return node === undefined ? undefined : plan.remove(path, { recursive: true })
  // A directory stays one, a file is replaced by the next one. Everything else goes first.
  if (node !== undefined && node.kind !== kind) {
    return Effect.andThen(
      plan.remove(path, { recursive: true }),
      Effect.suspend(() => planEntry(plan, upper, entry) ?? Effect.void)
    )
  }
  if (kind === "directory") {
    if (node === undefined) return plan.makeDirectory(path, entry.mode)
    return modeOf(node) === entry.mode ? undefined : plan.setMode(path, entry.mode)
  }
  if (kind === "symlink") return planLink(plan, upper, path, node)
  return planFile(plan, upper, entry, node)
}

const planLink = (
  plan: NodePlan,
  upper: UpperToPlan,
  path: string,
  node: Node | undefined
): Effect.Effect<void, PlanError> | undefined => {
  const bytes = readlinkSync(join(upper.directory, path), { encoding: "buffer" })
  if (!isUtf8(bytes)) throw unnameable(path)
  const target = bytes.toString("utf8")
  if (node === undefined) return plan.symlink(path, target)
  if (node.kind === "symlink" && node.target === target) return undefined
  return Effect.andThen(
    plan.remove(path),
    Effect.suspend(() => plan.symlink(path, target))
  )
}

const unnameable = (path: string): ToolError<"write_failed"> =>
  makeToolError("write_failed", `${path} is a link to a name that is not UTF-8; nothing was changed`, {
    suggestion: "Change the command so that it does not create this link.",
    details: { path }
  })

const planFile = (
  plan: NodePlan,
  upper: UpperToPlan,
  entry: UpperEntry,
  node: Node | undefined
): Effect.Effect<void, PlanError> | undefined => {
  const { path, mode, links, hasNewAttributes } = entry
  const scratch = join(upper.directory, path)
  const stats = lstatSync(scratch)
  const known = upper.fingerprints.get(path)
  if (known === undefined && stats.size > atOnceBytes) {
    return Effect.flatMap(fingerprintInSlices(scratch, stats.size), (fingerprint) => {
      upper.fingerprints.set(path, fingerprint)
      return attempt(planCodes, () => void planFile(plan, upper, entry, node))
    })
  }
  const { size, mtimeMs } = stats
  plan.putFile(path, {
    content: fileContent(scratch),
    scratch: { path: scratch, identity: identityOf(stats), size, modified: mtimeMs },
    size,
    mode: mode & 0o777,
    evenIfSame: links > 1 || hasNewAttributes || node?.origin?.modified !== mtimeMs,
    ...(known !== undefined && { fingerprint: known })
  })
  const planned = plan.view.find(path.split("/"))
  if (planned?.kind === "file" && planned.fingerprint !== undefined) upper.fingerprints.set(path, planned.fingerprint)
  return undefined
}

/** Hashes a large file without holding up everything else. */
export const fingerprintInSlices = (path: string, size: number): Effect.Effect<string> =>
  Effect.acquireUseRelease(
    Effect.sync(() => openSync(path, "r")),
    (descriptor) => {
      const hash = newHash()
      const scanned = scanDescriptor(descriptor, size, (chunk) => (hash.update(chunk), true))
      return Effect.map(scanned, () => fingerprintOf(hash))
    },
    (descriptor) => Effect.sync(() => closeSync(descriptor))
  )

/** Refuses paths that the command changed and somebody else, too, while it ran. */
const checkConflicts = (plan: NodePlan, { since, committed }: UpperToPlan): void => {
  const conflicts = new Set<string>()
  for (const node of plan.view.loaded) {
    const { origin } = node
    if (origin?.home === undefined) continue
    if (node.kind === "directory") {
      // Its entries were removed, and by now it holds others.
      if (node.listed !== undefined && origin.modified > since) conflicts.add(origin.path)
    } else if (origin.changed > since && isChangedByPlan(origin.home, origin.name, node)) conflicts.add(origin.path)
  }
  // A file that a commit of this host took away, and that the command has changed.
  for (const { path } of plan.changes) {
    if (committed.has(path) && plan.view.absent.has(path)) conflicts.add(path)
  }
  if (conflicts.size > 0) throw conflict([...conflicts].toSorted())
}

const isChangedByPlan = (home: DirectoryNode, name: string, node: Node): boolean => {
  const now = home.children.get(name)
  if (now === node) return false
  // Both made the same of it.
  return !(now?.kind === "file" && node.kind === "file" && now.fingerprint === node.fingerprint)
}

const mostNamed = 20

const conflict = (paths: ReadonlyArray<string>): ToolError<"stale_file"> => {
  const named = paths.slice(0, mostNamed).join(", ") + (paths.length > mostNamed ? ", …" : "")
  return makeToolError(
    "stale_file",
    `${named} changed in the workspace while the command ran, and the command changed it too; nothing was committed`,
    {
      suggestion: "Run the command again: it then works on the files as they are now.",
      details: { path: paths[0] ?? "", paths: paths.slice(0, 100) },
      retryable: true
    }
  )
}
