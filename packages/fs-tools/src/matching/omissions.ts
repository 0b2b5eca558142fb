/** `// ... rest of the code ...` and its like: a model's way of saying that it left something out. */
const placeholder =
  /^(?:\/\/|\/\*|#|--|<!--|;|%|\*)?\s*(?:\.{3}|…)\s*\(?\s*(?:the\s+)?(?:rest|remaining|remainder|existing|other|previous|unchanged|same|more)\b/i

/** A warning for each line that seems to stand for text left out, unless the file had it before. */
export const omissionWarnings = (text: string, before: string): ReadonlyArray<string> => {
  const warnings: Array<string> = []
  for (const line of text.split(/\r?\n/)) {
    const start = line.trimStart().slice(0, 100)
    if (!placeholder.test(start) || before.includes(line.trim())) continue
    warnings.push(`${JSON.stringify(start.trimEnd())} was written as it is: it looks like text left out`)
    if (warnings.length === mostWarnings) break
  }
  return warnings
}

const mostWarnings = 5
