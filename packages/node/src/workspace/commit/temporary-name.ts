/** Names of files that a commit puts beside its targets for a moment. */
export const temporaryName = (commit: string, number: number): string => `.haft-${commit}-${number}.tmp`

const pattern = /^\.haft-([0-9a-f]{16})-\d+\.tmp$/

export const isTemporaryName = (name: string): boolean => name.startsWith(".haft-") && pattern.test(name)

/**
 * The commits that are under way in a workspace. Listings leave out their temporary names, and theirs only: a file that
 * somebody else gave such a name, or that a crash has left, is a file like any other.
 */
export class CommitsUnderWay {
  readonly #ids = new Set<string>()

  readonly add = (id: string): void => void this.#ids.add(id)
  readonly remove = (id: string): void => void this.#ids.delete(id)

  readonly own = (name: string): boolean => {
    if (this.#ids.size === 0 || !name.startsWith(".haft-")) return false
    return this.#ids.has(pattern.exec(name)?.[1] ?? "")
  }
}
