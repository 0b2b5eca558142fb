/** Lists longer than these are not compared. */
const maximumLines = 1000

/** For each new line, the old line that it is, or -1: a longest common subsequence. */
export const commonLines = (
  old: ReadonlyArray<string>,
  now: ReadonlyArray<string>
): ReadonlyArray<number> | undefined => {
  if (old.length > maximumLines || now.length > maximumLines) return undefined
  const width = now.length + 1
  const lengths = new Uint16Array((old.length + 1) * width)
  const at = (one: number, other: number): number => lengths[one * width + other] ?? 0
  for (let one = old.length - 1; one >= 0; one--) {
    for (let other = now.length - 1; other >= 0; other--) {
      lengths[one * width + other] =
        old[one] === now[other] ? at(one + 1, other + 1) + 1 : Math.max(at(one + 1, other), at(one, other + 1))
    }
  }
  const kept = now.map(() => -1)
  for (let one = 0, other = 0; one < old.length && other < now.length;) {
    if (old[one] === now[other]) kept[other++] = one++
    else if (at(one + 1, other) >= at(one, other + 1)) one++
    else other++
  }
  return kept
}
