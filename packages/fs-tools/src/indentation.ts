/** The spaces and tabs a line begins with. */
export const indentOf = (line: string): string => /^[ \t]*/.exec(line)?.[0] ?? ""

/**
 * How a block was shifted: given each line as it was expected and as it was found, a function that shifts
 * a new line alike. Undefined when the lines were not all shifted by the same amount.
 */
export const indentShift = (
  pairs: ReadonlyArray<{ readonly expected: string; readonly found: string }>
): ((line: string) => string) | undefined => {
  const indents = pairs
    .filter(({ expected }) => expected.trim() !== "")
    .map(({ expected, found }) => ({ expected: indentOf(expected), found: indentOf(found) }))
  const [first] = indents
  if (first === undefined) return undefined
  const least = indents.reduce((one, other) => (other.expected.length < one.expected.length ? other : one), first)
  const isEven = indents.every(
    ({ expected, found }) =>
      expected.startsWith(least.expected) && found === least.found + expected.slice(least.expected.length)
  )
  if (!isEven) return undefined
  return (line) =>
    line.trim() === "" || !line.startsWith(least.expected) ? line : least.found + line.slice(least.expected.length)
}
