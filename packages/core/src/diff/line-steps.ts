/** A run of lines that gives way to others, by index into both lists. */
export interface LineStep {
  readonly oldLine: number
  readonly removed: number
  readonly newLine: number
  readonly added: number
}

/** Beyond this many differences a shortest list is not worth its time: all is shown as replaced. */
const maximumDistance = 1000

/** A shortest list of steps from one list of lines to another, by Myers' greedy algorithm on what differs. */
export const lineSteps = (old: ReadonlyArray<string>, now: ReadonlyArray<string>): ReadonlyArray<LineStep> => {
  const { before, after } = sameLines(old, now)
  const [oldMiddle, newMiddle] = [old.slice(before, old.length - after), now.slice(before, now.length - after)]
  return stepsBetween(oldMiddle, newMiddle).map(({ oldLine, removed, newLine, added }) => ({
    oldLine: oldLine + before,
    removed,
    newLine: newLine + before,
    added
  }))
}

const sameLines = (old: ReadonlyArray<string>, now: ReadonlyArray<string>) => {
  const most = Math.min(old.length, now.length)
  let before = 0
  while (before < most && old[before] === now[before]) before++
  let after = 0
  while (after < most - before && old[old.length - 1 - after] === now[now.length - 1 - after]) after++
  return { before, after }
}

const stepsBetween = (old: ReadonlyArray<string>, now: ReadonlyArray<string>): ReadonlyArray<LineStep> => {
  if (old.length === 0 && now.length === 0) return []
  const trace = old.length === 0 || now.length === 0 ? undefined : furthestPaths(old, now)
  if (trace === undefined) return [{ oldLine: 0, removed: old.length, newLine: 0, added: now.length }]
  return merged(stepsBack(trace, old.length, now.length))
}

/** For each number of differences, how far down the old lines every diagonal gets; undefined when it takes too many. */
const furthestPaths = (
  old: ReadonlyArray<string>,
  now: ReadonlyArray<string>
): ReadonlyArray<Int32Array> | undefined => {
  const trace: Array<Int32Array> = []
  const limit = Math.min(maximumDistance, old.length + now.length)
  let before = new Int32Array(3)
  for (let distance = 0; distance <= limit; distance++) {
    const reached = new Int32Array(2 * distance + 3)
    for (let diagonal = -distance; diagonal <= distance; diagonal += 2) {
      let x = distance === 0 ? 0 : startOn(before, distance - 1, diagonal)
      while (x < old.length && x - diagonal < now.length && old[x] === now[x - diagonal]) x++
      reached[diagonal + distance + 1] = x
      if (x >= old.length && x - diagonal >= now.length) return [...trace, reached]
    }
    trace.push(reached)
    before = reached
  }
  return undefined
}

/** Where a path on this diagonal begins, coming from the better of its neighbors one difference ago. */
const startOn = (before: Int32Array, distance: number, diagonal: number): number => {
  const above = reachedOn(before, distance, diagonal + 1)
  const left = reachedOn(before, distance, diagonal - 1)
  return comesFromAbove(above, left) ? above : left + 1
}

const comesFromAbove = (above: number, left: number): boolean => above > left

const reachedOn = (reached: Int32Array, distance: number, diagonal: number): number =>
  Math.abs(diagonal) > distance ? -1 : (reached[diagonal + distance + 1] ?? -1)

const stepsBack = (trace: ReadonlyArray<Int32Array>, oldLength: number, newLength: number): ReadonlyArray<LineStep> => {
  const steps: Array<LineStep> = []
  let x = oldLength
  let y = newLength
  for (let distance = trace.length - 1; distance > 0; distance--) {
    const before = trace[distance - 1] ?? new Int32Array()
    const diagonal = x - y
    const above = reachedOn(before, distance - 1, diagonal + 1)
    const left = reachedOn(before, distance - 1, diagonal - 1)
    const isAddition = comesFromAbove(above, left)
    x = isAddition ? above : left
    y = x - (isAddition ? diagonal + 1 : diagonal - 1)
    steps.push({ oldLine: x, removed: isAddition ? 0 : 1, newLine: y, added: isAddition ? 1 : 0 })
  }
  return steps.toReversed()
}

const merged = (steps: ReadonlyArray<LineStep>): ReadonlyArray<LineStep> => {
  const edits: Array<LineStep> = []
  for (const step of steps) {
    const last = edits.at(-1)
    if (
      last !== undefined &&
      last.oldLine + last.removed === step.oldLine &&
      last.newLine + last.added === step.newLine
    ) {
      edits[edits.length - 1] = { ...last, removed: last.removed + step.removed, added: last.added + step.added }
    } else edits.push(step)
  }
  return edits
}
