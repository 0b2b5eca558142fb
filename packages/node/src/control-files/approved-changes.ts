/** A path of a workspace that a file tool changed, after it was asked about. */
export interface ApprovedChange {
  /** Relative to the workspace. */
  readonly path: string
  /** Fingerprint of its content after the change; undefined where that is not known. */
  readonly after: string | undefined
}

type Listener = (changes: ReadonlyArray<ApprovedChange>) => void

const listeners = new Map<string, Set<Listener>>()

/** Tells those who watch over a workspace's control files what a commit changed. */
export const tellApproved = (root: string, changes: ReadonlyArray<ApprovedChange>): void => {
  for (const listener of listeners.get(root) ?? []) listener(changes)
}

/** Calls back after each commit in a workspace; the returned function ends that. */
export const onApproved = (root: string, listener: Listener): (() => void) => {
  const all = listeners.get(root) ?? new Set()
  listeners.set(root, all.add(listener))
  return () => {
    all.delete(listener)
    if (all.size === 0) listeners.delete(root)
  }
}
