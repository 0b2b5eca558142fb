/**
 * Where a run of lines begins among others, overlaps included. It never looks at a line twice, however much the
 * lines repeat themselves (Knuth, Morris and Pratt).
 */
export function* findLines(
  lines: ReadonlyArray<string>,
  wanted: ReadonlyArray<string>,
  from = 0,
  to = lines.length
): Generator<number> {
  const fallback = [0]
  const longer = (matched: number, line: string | undefined): number => {
    let length = matched
    while (length > 0 && (length === wanted.length || wanted[length] !== line)) length = fallback[length - 1] ?? 0
    return wanted[length] === line ? length + 1 : length
  }
  for (const [index, line] of wanted.entries()) {
    if (index > 0) fallback.push(longer(fallback[index - 1] ?? 0, line))
  }
  let matched = 0
  for (let index = Math.max(0, from); index < Math.min(to, lines.length); index++) {
    if (wanted.length > 0) matched = longer(matched, lines[index])
    if (matched === wanted.length) yield index + 1 - (wanted.length || 1)
  }
}
