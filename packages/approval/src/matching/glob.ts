import { InvalidExpression, linearExpression } from "./linear-expression.ts"

/**
 * Compiles a glob for paths with `/`: `*` and `?` stay within one name, `**` spans directories, `[…]` is a choice of
 * characters, `{a,b}` a choice of texts.
 */
export const pathGlob = (glob: string): ((path: string) => boolean) => {
  if (!/[*?[\]{}\\]/.test(glob)) return (path) => path === glob
  // `directory/**` is the usual one, and needs no expression.
  const [, below] = /^([^*?[\]{}\\]*\/)\*\*$/.exec(glob) ?? []
  if (below !== undefined) return (path) => path.startsWith(below)
  const matches = linearExpression(expressionOf(glob))
  return (path) => matches(path) === "yes"
}

/** Tells whether something below a directory can match a glob. Where that is hard to tell, it can. */
export const mayMatchBelow = (glob: string): ((directory: string) => boolean) => {
  if (/\{[^}]*\//.test(glob)) return () => true
  const segments = glob.split("/").map((segment) => (segment.includes("**") ? "any" : pathGlob(segment)))
  return (directory) => {
    const names = directory === "." ? [] : directory.split("/")
    for (const [place, name] of names.entries()) {
      const segment = segments[place]
      if (segment === "any") return true
      if (segment?.(name) !== true) return false
    }
    return segments.length > names.length
  }
}

/** A glob without directories: `*` stands for any text. */
export const textGlob = (glob: string): ((text: string) => boolean) => {
  if (!glob.includes("*")) return (text) => text === glob
  const matches = linearExpression(
    glob
      .split("*")
      .map(quoted)
      .join(String.raw`[\s\S]*`)
  )
  return (text) => matches(text) === "yes"
}

const expressionOf = (glob: string): string => {
  let depth = 0
  const expression = glob.replaceAll(
    /(?<=^|\/)\*\*\/|\*+|\?|\[(?<negated>[!^]?)(?<members>\]?[^\]/]+)\]|[[\]{},\\]|[^*?[\]{},\\]+/gs,
    (part, ...rest) => {
      const { negated, members } = rest.at(-1) as { readonly negated?: string; readonly members?: string }
      if (members !== undefined)
        return `[${negated === "" ? "" : "^/"}${members.replaceAll(/[\\[\]^]/g, String.raw`\$&`)}]`
      if (part === "**/") return "(?:[^/]+/)*"
      if (part.startsWith("*")) return part.length === 1 ? "[^/]*" : String.raw`[\s\S]*`
      if (part === "?") return "[^/]"
      if (part === "{") {
        depth += 1
        return "(?:"
      }
      if (part === "}" && depth > 0) {
        depth -= 1
        return ")"
      }
      if (part === "," && depth > 0) return "|"
      if (part === "[" || part === "]" || part === "}")
        throw new InvalidExpression(`the glob ${glob} has a lone ${part}`)
      if (part === "\\") throw new InvalidExpression(`the glob ${glob} contains a backslash; paths use /`)
      return quoted(part)
    }
  )
  if (depth > 0) throw new InvalidExpression(`the glob ${glob} has an unclosed {`)
  return expression
}

const quoted = (text: string): string => text.replaceAll(/[\\.^$*+?()[\]{}|]/g, String.raw`\$&`)
