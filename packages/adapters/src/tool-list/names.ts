/** Translates tool names to names that every model API accepts, and back. */
export interface LegalNames {
  /** Letters, digits, `_` and `-`, at most 64 of them and a letter or `_` first: `file.read` becomes `file_read`. */
  readonly legal: (name: string) => string
  /** The tool's own name. A name that is not known is returned as it is. */
  readonly original: (legal: string) => string
}

export const legalNames = (names: ReadonlyArray<string>): LegalNames => {
  const toLegal = new Map<string, string>()
  const toOriginal = new Map<string, string>()
  // Names that are legal already come first, so that they stay as they are; others get a number if theirs is taken.
  const inOrder = [...names.filter(isLegal), ...names.filter((name) => !isLegal(name))]
  for (const name of inOrder) {
    const legal = firstFree(name, toOriginal)
    toLegal.set(name, legal)
    toOriginal.set(legal, name)
  }
  return {
    legal: (name) => toLegal.get(name) ?? name,
    original: (legal) => toOriginal.get(legal) ?? legal
  }
}

const maximumLength = 64

const isLegal = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(name)

const firstFree = (name: string, taken: ReadonlyMap<string, string>): string => {
  const known = name.replaceAll(/[^A-Za-z0-9_-]/g, "_").replace(/^(?=[\d-])/, "_")
  const plain = known.slice(0, maximumLength) || "tool"
  let candidate = plain
  for (let count = 2; taken.has(candidate); count++) {
    const suffix = `_${count}`
    candidate = `${plain.slice(0, maximumLength - suffix.length)}${suffix}`
  }
  return candidate
}
