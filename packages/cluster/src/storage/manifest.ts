/** A path of a workspace, as the commit log has it. Of permission bits only `executable` is carried, as in git. */
export type ManifestEntry =
  | { readonly kind: "file"; readonly sha256: string; readonly size: number; readonly executable?: true }
  | { readonly kind: "directory" }
  | { readonly kind: "symlink"; readonly target: string }

/** One change of the log: what a path holds from now on, nothing for `null`. A directory goes with all that is below it. */
export interface LoggedChange {
  readonly path: string
  readonly entry: ManifestEntry | null
}

/** All paths of a workspace at one sequence number. */
export type Manifest = Map<string, ManifestEntry>

/** Applies the changes of one commit. */
export const applyChanges = (manifest: Manifest, changes: ReadonlyArray<LoggedChange>): void => {
  for (const { path, entry } of changes) {
    if (entry === null || entry.kind !== "directory") removeBelow(manifest, path)
    if (entry === null) manifest.delete(path)
    else {
      addParents(manifest, path)
      manifest.set(path, entry)
    }
  }
}

const removeBelow = (manifest: Manifest, path: string): void => {
  if (manifest.get(path)?.kind !== "directory") return
  for (const other of manifest.keys()) if (other.startsWith(`${path}/`)) manifest.delete(other)
}

const addParents = (manifest: Manifest, path: string): void => {
  for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
    const parent = path.slice(0, end)
    if (manifest.get(parent)?.kind === "directory") return
    manifest.set(parent, { kind: "directory" })
  }
}

export const isSameEntry = (one: ManifestEntry | undefined, other: ManifestEntry | undefined): boolean => {
  if (one === undefined || other === undefined) return one === other
  if (one.kind === "file")
    return other.kind === "file" && one.sha256 === other.sha256 && one.executable === other.executable
  if (one.kind === "symlink") return other.kind === "symlink" && one.target === other.target
  return other.kind === "directory"
}
