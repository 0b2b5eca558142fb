import { makeToolError, type ToolError } from "@haft/core"

/** Query of a search. */
export interface Expression {
  readonly query: string
  readonly isRegex: boolean
  readonly caseSensitive: boolean
}

/** How ripgrep is told of it. The query is part of one argument, so it can't be an option. */
export const optionsFor = ({ query, isRegex, caseSensitive }: Expression): ReadonlyArray<string> => [
  caseSensitive ? "--case-sensitive" : "--ignore-case",
  ...(isRegex ? [] : ["--fixed-strings"]),
  ...(isRegex && endsBeforeCarriageReturn(query) ? ["--crlf"] : []),
  `--regexp=${query}`
]

// Lines are shown without their CR, so `$` is before it. An expression that names the CR itself needs it left in.
const endsBeforeCarriageReturn = (query: string): boolean => query.includes("$") && !/\\[rxu]/u.test(query)

/** Problem of an expression that ripgrep would take for another one, or report in words of its own. */
export const problemWith = ({ query, isRegex }: Expression): ToolError<"invalid_pattern"> | undefined => {
  if (query.includes("\0")) {
    return makeToolError("invalid_pattern", "the pattern contains a NUL character, and no text file has one", {
      suggestion: "Leave the NUL character out."
    })
  }
  if (/[\n\r]/u.test(query)) {
    return makeToolError("invalid_pattern", "the pattern contains a line break, and matches are within one line", {
      suggestion: "Search for one of the lines."
    })
  }
  const problem = isRegex ? problemInGroup(query) : undefined
  return problem === undefined
    ? undefined
    : makeToolError("invalid_pattern", `invalid regex pattern: ${problem}`, {
        suggestion: "Correct the pattern, or search for it literally."
      })
}

/** ripgrep puts the expression into a group of its own; what is wrong with it must not be made good by that, or hidden. */
const problemInGroup = (query: string): string | undefined => {
  const [backslashes = ""] = /\\*$/u.exec(query) ?? []
  if (backslashes.length % 2 === 1) return "it ends in the middle of an escape sequence"
  return closesTooMuch(query) ? "unopened group" : undefined
}

const closesTooMuch = (query: string): boolean => {
  let classes = 0
  let groups = 0
  // In brackets there can be more of them, and one that closes right at the beginning means itself.
  for (const [token] of query.matchAll(/\\.|\[\^?\]?|[\]()]/gsu)) {
    if (token.startsWith("[")) classes++
    else if (token === "]") classes = Math.max(0, classes - 1)
    else if (classes === 0 && token === "(") groups++
    else if (classes === 0 && token === ")" && --groups < 0) return true
  }
  return false
}
