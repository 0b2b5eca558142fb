/** Names of files that a commit puts beside its targets for a moment. Listings leave them out. */
export const temporaryName = (commit: string, number: number): string => `.haft-${commit}-${number}.tmp`

export const isTemporaryName = (name: string): boolean =>
  name.startsWith(".haft-") && /^\.haft-[0-9a-f]{16}-\d+\.tmp$/.test(name)
