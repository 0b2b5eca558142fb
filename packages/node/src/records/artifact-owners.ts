import { readFileSync } from "node:fs"
import { join } from "node:path"

import { isErrno } from "../errno.ts"

/** Names of the callers that artifacts of a run belong to. An artifact without an entry belongs to callers without a name. */
export type Owners = ReadonlyMap<string, string>

/** File of a run with one line for each artifact that a caller with a name made. */
export const ownersFile = "artifact-owners.jsonl"

/** Owners of a run's artifacts; undefined where the file can't be read, since then nobody is known to own anything. */
export const ownersIn = (directory: string): Owners | undefined => {
  try {
    const lines = readFileSync(join(directory, ownersFile), "utf8").split("\n")
    return new Map(lines.filter((line) => line !== "").map(entryOf))
  } catch (error) {
    return isErrno(error, "ENOENT") ? new Map() : undefined
  }
}

const entryOf = (line: string): [string, string] => {
  const { path, owner } = JSON.parse(line) as { readonly path: string; readonly owner: string }
  return [path, owner]
}
