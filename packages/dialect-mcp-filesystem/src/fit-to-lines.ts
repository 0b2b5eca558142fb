import type { TextEdit } from "@haft/fs-tools/operations"

/**
 * An edit whose lines stand in a text with other spacing around them, as the text spells it: the server compares lines
 * without their outer spaces, and indents the replacement as the first of them. Undefined where that is not one place.
 */
export const fitToLines = (text: string, { find, replace }: TextEdit): TextEdit | undefined => {
  const lines = text.split(/\r?\n/)
  const wanted = find.split(/\r?\n/)
  const trimmed = wanted.map((line) => line.trim())
  const isPlace = (start: number): boolean => trimmed.every((line, index) => line === lines[start + index]?.trim())
  const places = lines.map((_, index) => index).filter(isPlace)
  const [start] = places
  if (start === undefined || places.length > 1) return undefined
  const indent = indentOf(lines[start] ?? "")
  const fitted = replace.split(/\r?\n/).map((line, index) => {
    if (index === 0) return indent + line.trimStart()
    const [before, now] = [indentOf(wanted[index] ?? ""), indentOf(line)]
    if (before === "" || now === "") return line
    return indent + " ".repeat(Math.max(0, now.length - before.length)) + line.trimStart()
  })
  return { find: lines.slice(start, start + wanted.length).join("\n"), replace: fitted.join("\n") }
}

const indentOf = (line: string): string => /^\s*/.exec(line)?.[0] ?? ""
