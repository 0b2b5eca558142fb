/** `// ... rest of the code ...` and its like: a model's way of saying that it left something out. */
const placeholder =
  /^\s*(?:\/\/|\/\*|#|--|<!--|;|%|\*)?\s*(?:\.{3}|…)\s*\(?\s*(?:the\s+)?(?:rest|remaining|remainder|existing|other|previous|unchanged|same|more)\b/i

/** A warning for each line that seems to stand for text left out, unless the file had it before. */
export const omissionWarnings = (text: string, before: string): ReadonlyArray<string> =>
  text
    .split(/\r?\n/)
    .filter((line) => placeholder.test(line) && !before.includes(line.trim()))
    .slice(0, 5)
    .map((line) => `${JSON.stringify(line.trim().slice(0, 100))} was written as it is: it looks like text left out`)
