/** One element of an expression in RE2's syntax. `source` is what it looks like in the pattern. */
export type PatternToken =
  | { readonly kind: "character"; readonly source: string; readonly character: string }
  | {
      readonly kind: "any" | "class" | "anchor" | "open" | "close" | "flags" | "alternative" | "repeat" | "unknown"
      readonly source: string
    }

const single: Readonly<Record<string, "any" | "anchor" | "close" | "alternative">> = {
  ".": "any",
  "^": "anchor",
  $: "anchor",
  ")": "close",
  "|": "alternative"
}

const controls: Readonly<Record<string, string>> = { a: "\u0007", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" }

/**
 * Cuts an expression into its elements. It does not check the syntax: an expression is compiled afterwards,
 * and what this reads differently does not change what is compiled, only how it is set apart.
 */
export const readPattern = (pattern: string): ReadonlyArray<PatternToken> => {
  const tokens: Array<PatternToken> = []
  let place = 0
  const take = (expression: RegExp): string | undefined => {
    expression.lastIndex = place
    const found = expression.exec(pattern)?.[0]
    if (found !== undefined) place += found.length
    return found
  }
  const addCharacter = (source: string, character: string): void =>
    void tokens.push({ kind: "character", source, character })

  while (place < pattern.length) {
    const quoted = take(/\\Q[^]*?(?:\\E|$)/y)
    if (quoted !== undefined) {
      for (const character of quoted.slice(2).replace(/\\E$/, "")) addCharacter(literally(character), character)
      continue
    }
    const code = take(/\\x\{[0-9a-fA-F]+\}|\\x[0-9a-fA-F]{2}|\\0[0-7]{0,2}|\\[1-7][0-7]{1,2}/y)
    if (code !== undefined) {
      addCharacter(code, characterOf(code))
      continue
    }
    const charClass = take(/\\[pP](?:\{[^}]*\}|.)|\\[dDsSwW]|\[\^?\]?(?:\[:\^?\w+:\]|\\[^]|[^\]\\])*\]/y)
    if (charClass !== undefined) {
      tokens.push({ kind: "class", source: charClass })
      continue
    }
    const anchor = take(/\\[bBAz]/y)
    if (anchor !== undefined) {
      tokens.push({ kind: "anchor", source: anchor })
      continue
    }
    const escape = take(/\\[^]/uy)
    if (escape !== undefined) {
      const character = controls[escape.slice(1)] ?? escape.slice(1)
      // Only punctuation may be escaped for nothing. What other escapes mean is the compiler's to say.
      if (character <= "\u007F" && !/[A-Za-z0-9]/.test(character)) addCharacter(escape, character)
      else tokens.push({ kind: "unknown", source: escape })
      continue
    }
    const repeat = take(/(?:[*+?]|\{\d+(?:,\d*)?\})\??/y)
    if (repeat !== undefined) {
      tokens.push({ kind: "repeat", source: repeat })
      continue
    }
    const flags = take(/\(\?[a-zA-Z-]+\)/y)
    if (flags !== undefined) {
      tokens.push({ kind: "flags", source: flags })
      continue
    }
    const open = take(/\(\?P?<\w*>|\(\?[a-zA-Z-]*:|\(/y)
    if (open !== undefined) {
      // Flags that hold inside a group may change what a character means there, as `(?i)` does.
      tokens.push({ kind: /\(\?[a-zA-Z-]+:/.test(open) ? "flags" : "open", source: open })
      continue
    }
    const character = take(/[^]/uy) ?? ""
    const kind = /[[\\]/.test(character) ? "unknown" : single[character]
    if (kind === undefined) addCharacter(character, character)
    else tokens.push({ kind, source: character })
  }
  return tokens
}

/** The choices at the top of an expression, what stands between its `|`. */
export const alternativesOf = (tokens: ReadonlyArray<PatternToken>): ReadonlyArray<ReadonlyArray<PatternToken>> => {
  const alternatives: Array<Array<PatternToken>> = [[]]
  let depth = 0
  for (const token of tokens) {
    if (token.kind === "open") depth += 1
    if (token.kind === "close") depth -= 1
    if (token.kind === "alternative" && depth === 0) alternatives.push([])
    else alternatives.at(-1)?.push(token)
  }
  return alternatives
}

const literally = (character: string): string => character.replace(/[\\.^$*+?()[\]{}|]/, String.raw`\$&`)

const characterOf = (code: string): string => {
  const digits = code.replace(/^\\x?\{?/, "").replace("}", "")
  const value = Number.parseInt(digits, code.startsWith(String.raw`\x`) ? 16 : 8)
  return value <= 0x10ffff ? String.fromCodePoint(value) : ""
}
