/** Puts a prefix before each line. Only a newline ends a line: a lone carriage return does not. */
export const prefixLines = (text: string, prefix: (index: number) => string): string => {
  let index = 0
  return text.replaceAll(/(^|\n)(?=[\s\S])/g, (_match, end: string) => end + prefix(index++))
}

/** Puts each line's number before it, right-aligned to six, and a tab, as `cat -n` does. */
export const numberLines = (text: string, first: number): string =>
  prefixLines(text, (index) => `${String(first + index).padStart(6)}\t`)
