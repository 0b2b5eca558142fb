/** Programs that write to no file, with options that make them do so after all, or run something else. */
const readers: Readonly<Record<string, RegExp>> = {
  basename: /(?!)/,
  cat: /(?!)/,
  cmp: /(?!)/,
  cut: /(?!)/,
  diff: /(?!)/,
  dirname: /(?!)/,
  du: /(?!)/,
  egrep: /(?!)/,
  fgrep: /(?!)/,
  file: /^(?:-\w*C|--compile)/,
  find: /^-(?:exec|ok|delete|fprint|fls)/,
  grep: /(?!)/,
  head: /(?!)/,
  ls: /(?!)/,
  rg: /^--(?:pre|hostname-bin)/,
  sort: /^(?:-\w*[oT]|--o|--t|--co)/,
  stat: /(?!)/,
  tail: /(?!)/,
  tr: /(?!)/,
  wc: /^--files0/
}

/**
 * True for a pipeline of programs that only read, without anything that a shell would expand or redirect. Such a command
 * needs no overlay, through which reading many files takes twice the time: it gets the workspace read-only, so that a
 * wrong guess fails and changes nothing.
 */
export const onlyReads = (command: string): boolean => {
  if (/[<>`$&;(){}\\\n\r~!#]/.test(command)) return false
  if (/\|\s*\||^\s*\||\|\s*$/.test(command)) return false
  const parts = command.match(/(?:"[^"]*"|'[^']*'|[^|"'])+/g) ?? []
  if (parts.length === 0 || /["']/.test(command.replaceAll(/"[^"]*"|'[^']*'/g, ""))) return false
  return parts.every((part) => {
    const [program = "", ...args] = wordsOf(part)
    const forbidden = Object.hasOwn(readers, program) ? readers[program] : undefined
    return forbidden !== undefined && args.every((word) => !forbidden.test(word))
  })
}

/** The words of a simple command, quotes removed. */
const wordsOf = (text: string): ReadonlyArray<string> =>
  (text.trim().match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? []).map((word) => word.replaceAll(/["']/g, ""))
