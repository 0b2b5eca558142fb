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

/** The directory that a glob spells out, everything it matches is below; empty where it begins with a wildcard. */
export const directoryAbove = (glob: string): string => {
  const [plain = ""] = /^[^*?[\]{}]*/.exec(glob) ?? []
  return plain.slice(0, Math.max(plain.lastIndexOf("/"), 0))
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
