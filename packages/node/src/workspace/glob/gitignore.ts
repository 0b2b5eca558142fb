import { findCostlyPart } from "./pattern.ts"

/** Combined `.gitignore` rules from the workspace down to a directory. */
export interface IgnoreRules {
  /** The path is relative to the workspace and ends with the name; nothing above it is ignored. */
  readonly ignores: (path: string, name: string, isDirectory: boolean) => boolean
}

export const noRules: IgnoreRules = { ignores: () => false }

/** Adds the `.gitignore` of one directory, given as the prefix of the paths in it; the nearest file has the last word. */
export const withIgnoreFile = (outer: IgnoreRules, prefix: string, content: Uint8Array): IgnoreRules => {
  const file = new IgnoreFile(content)
  return {
    ignores: (path, name, isDirectory) =>
      file.ignores(path, prefix.length, name, isDirectory) ?? outer.ignores(path, name, isDirectory)
  }
}

/** Longer lines count as none. */
const maximumLength = 4096

interface Rule {
  readonly order: number
  readonly isNegated: boolean
}

interface PatternRule extends Rule {
  readonly expression: RegExp
  /** True: for the name alone, in every directory. */
  readonly isForNames: boolean
  readonly isForDirectories: boolean
}

/**
 * The rules of one file; the last one that matches decides. Almost all are plain names or endings, which are looked
 * up; the others are tried one after the other.
 */
class IgnoreFile {
  readonly #names = new Lookup()
  readonly #endings = new Lookup()
  /** Last first. */
  readonly #patterns: Array<PatternRule> = []

  constructor(content: Uint8Array) {
    const text = Buffer.from(content).toString("latin1").replace(byteOrderMark, "")
    for (const [order, line] of text.split(/\r?\n|\r$/u).entries()) this.#add(line, order)
    this.#patterns.reverse()
  }

  /** Undefined when no rule matches. */
  ignores(path: string, prefixLength: number, givenName: string, isDirectory: boolean): boolean | undefined {
    const name = bytesOf(givenName)
    let last = this.#names.isEmpty ? undefined : this.#names.find(name, isDirectory)
    if (!this.#endings.isEmpty) last = later(last, this.#endings.find(endingOf(name), isDirectory))
    for (const rule of this.#patterns) {
      if (last !== undefined && last.order > rule.order) break
      if (rule.isForDirectories && !isDirectory) continue
      if (rule.expression.test(rule.isForNames ? name : bytesOf(path.slice(prefixLength)))) {
        last = rule
        break
      }
    }
    return last === undefined ? undefined : !last.isNegated
  }

  #add(line: string, order: number): void {
    // A line that could take hours to match is as good as none, and the workspace may be hostile.
    if (line.startsWith("#") || line.length > maximumLength || findCostlyPart(line) !== undefined) return
    const trimmed = withoutSpacesAtEnd(line)
    const isNegated = trimmed.startsWith("!")
    const whole = isNegated ? trimmed.slice(1) : trimmed
    const isForDirectories = whole.endsWith("/")
    const pattern = isForDirectories ? whole.slice(0, -1) : whole
    const plain = pattern.replace(/^\//u, "")
    if (plain === "") return
    const isForNames = !pattern.includes("/")
    if (isForNames && !/[*?[\\]/u.test(plain)) {
      this.#names.add(plain, { order, isNegated }, isForDirectories)
    } else if (isForNames && /^\*\.[^*?[\\.]+$/u.test(plain)) {
      this.#endings.add(plain.slice(1), { order, isNegated }, isForDirectories)
    } else {
      const source = sourceOf(plain)
      if (source === undefined) return
      const expression = new RegExp(`^${source}$`, "su")
      this.#patterns.push({ order, isNegated, expression, isForNames, isForDirectories })
    }
  }
}

const byteOrderMark = /^\u00EF\u00BB\u00BF/u

// git knows bytes, not characters: `?` is one byte. So every byte is a character here.
const bytesOf = (text: string): string =>
  /[\u0080-\u{10FFFF}]/u.test(text) ? Buffer.from(text).toString("latin1") : text

// Not by a regular expression: one that is anchored only at the end is tried anew at every space.
const withoutSpacesAtEnd = (line: string): string => {
  let end = line.length
  while (end > 0 && (line[end - 1] === " " || line[end - 1] === "\t")) end--
  let start = end
  while (start > 0 && line[start - 1] === "\\") start--
  return (end - start) % 2 === 1 && end < line.length ? line.slice(0, end + 1) : line.slice(0, end)
}

const later = (one: Rule | undefined, other: Rule | undefined): Rule | undefined =>
  one === undefined || (other !== undefined && other.order > one.order) ? other : one

const endingOf = (name: string): string => name.slice(Math.max(0, name.lastIndexOf(".")))

/** The last rule for each text, for directories and for everything else. */
class Lookup {
  readonly #forFiles = new Map<string, Rule>()
  readonly #forDirectories = new Map<string, Rule>()

  get isEmpty(): boolean {
    return this.#forDirectories.size === 0
  }

  add(text: string, rule: Rule, isForDirectories: boolean): void {
    this.#forDirectories.set(text, rule)
    if (!isForDirectories) this.#forFiles.set(text, rule)
  }

  find(text: string, isDirectory: boolean): Rule | undefined {
    return (isDirectory ? this.#forDirectories : this.#forFiles).get(text)
  }
}

/** A pattern of git's as the source of an expression; undefined when it means nothing. */
const sourceOf = (pattern: string): string | undefined => {
  let source = ""
  const tokens = pattern.matchAll(
    /(?<=^|\/)\*\*\/(?:\*\*\/)*|^\*\*$|\/\*\*$|\*+|\?|\[[!^]?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|\\?./gsu
  )
  for (const [token] of tokens) {
    if (token.startsWith("**/")) source += "(?:.*/)?"
    else if (token === "**" && pattern === "**") source += ".*"
    else if (token === "/**") source += "/.*"
    else if (token.startsWith("*")) source += "[^/]*"
    else if (token === "?") source += "[^/]"
    else if (token === "[" || token === "\\") return undefined
    else if (token.length > 1 && token.startsWith("[")) {
      const members = classOf(token)
      if (members === undefined) return undefined
      source += members
    } else source += exactly(token)
  }
  return source
}

/** One character, perhaps behind a backslash. */
const exactly = (token: string): string => {
  const isEscaped = token.startsWith("\\") && token.length > 1
  return `\\u{${(token.codePointAt(isEscaped ? 1 : 0) ?? 0).toString(16)}}`
}

const posixClasses: Readonly<Record<string, string>> = {
  alpha: "a-zA-Z",
  digit: "0-9",
  alnum: "a-zA-Z0-9",
  upper: "A-Z",
  lower: "a-z",
  space: String.raw`\s`,
  blank: String.raw` \t`,
  punct: String.raw`!-\/:-@\[-\x60\{-~`,
  xdigit: "0-9A-Fa-f",
  cntrl: String.raw`\x00-\x1f\x7f`,
  print: String.raw`\x20-\x7e`,
  graph: String.raw`\x21-\x7e`
}

const classOf = (token: string): string | undefined => {
  const [, negation, inside = ""] = /^\[([!^]?)(.*)\]$/su.exec(token) ?? []
  let members = ""
  for (const [member, posix] of inside.matchAll(/\[:(\w+):\]|\\?./gsu)) {
    if (posix !== undefined) {
      if (posixClasses[posix] === undefined) return undefined
      members += posixClasses[posix]
    } else if (member === "-" && members !== "") members += "-"
    else members += exactly(member)
  }
  if (members.endsWith("-")) members = `${members.slice(0, -1)}\\-`
  const source = negation === "" ? `(?!/)[${members}]` : `[^/${members}]`
  try {
    return new RegExp(source, "u").source
  } catch {
    // A range that ends before it begins.
    return undefined
  }
}
