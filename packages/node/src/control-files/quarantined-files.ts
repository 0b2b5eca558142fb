import { lstatSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"

import { type CommitError, toolError, type ToolError, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"

/** A control file that was moved out of a workspace after a command had made or changed it. */
export interface QuarantinedFile {
  readonly id: string
  /** Where it was, relative to the workspace. */
  readonly path: string
  readonly reason: string
  /** When it was moved, as ISO 8601. */
  readonly movedAt: string
  /** Where it is now. */
  readonly place: string
}

/** Files in the quarantine of a state directory, oldest first. */
export const quarantinedFiles = (state: string): ReadonlyArray<QuarantinedFile> => {
  const parent = join(state, "quarantine")
  return namesIn(parent)
    .toSorted()
    .flatMap((name) => {
      const [, day = "", time = "", suffix = ""] = /^(\d{4}-\d\d-\d\d)T([\d-]+)Z-([0-9a-f]{6})$/.exec(name) ?? []
      const [hours, minutes, seconds, milliseconds] = time.split("-")
      const movedAt = `${day}T${hours}:${minutes}:${seconds}.${milliseconds}Z`
      return recordIn(join(parent, name)).flatMap(({ path, reason, quarantine: place }, at) =>
        place === undefined || lstatSync(place, { throwIfNoEntry: false }) === undefined
          ? []
          : [{ id: `${suffix}-${at + 1}`, path, reason, movedAt, place }]
      )
    })
}

/** Puts a file back where it was, in one commit that can be undone; what is there meanwhile is replaced. */
export const restoreQuarantined = Effect.fnUntraced(function* (
  file: QuarantinedFile
): Effect.fn.Return<void, CommitError | ToolError<"not_a_regular_file">, Workspace> {
  const workspace = yield* Workspace
  const plan = yield* workspace.plan
  const { path, place, id } = file
  const found = lstatSync(place)
  if (!found.isSymbolicLink() && !found.isFile()) {
    return yield* toolError("not_a_regular_file", `${path} is neither a file nor a link, so it can't be restored`, {
      suggestion: `It is at ${place}; haft quarantine remove ${id} deletes it.`
    })
  }
  const isThere = (yield* plan.info(path, { follow: false })) !== undefined
  if (isThere && found.isSymbolicLink()) yield* plan.remove(path)
  yield* found.isFile()
    ? plan.write(path, readFileSync(place), { mode: found.mode & 0o777, createDirectories: true })
    : plan.symlink(path, readlinkSync(place))
  yield* plan.commit()
  return removeQuarantined(file)
})

/** Deletes a file from the quarantine for good. */
export const removeQuarantined = ({ place }: QuarantinedFile): void => {
  rmSync(place)
  // Directories on the way go with the last file in them; the record stays, and says why.
  for (let directory = dirname(place); !directory.endsWith("/files"); directory = dirname(directory)) {
    if (namesIn(directory).length > 0) return
    rmSync(directory, { recursive: true })
  }
}

interface RecordedChange {
  readonly path: string
  readonly reason: string
  readonly quarantine?: string
}

const recordIn = (directory: string): ReadonlyArray<RecordedChange> => {
  try {
    return JSON.parse(readFileSync(join(directory, "record.json"), "utf8")) as ReadonlyArray<RecordedChange>
  } catch {
    return []
  }
}

const namesIn = (directory: string): ReadonlyArray<string> => {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}
