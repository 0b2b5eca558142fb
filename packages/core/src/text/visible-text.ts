// Everything that moves the cursor, changes the direction of writing or is not seen at all: control and format
// characters (bidirectional overrides, zero-width, tags), lone surrogates, private use, unassigned, line separators,
// and letters that look like nothing.
// A function, because compiling so many properties takes most of a millisecond, which a start should not pay for.
const hidden = (): RegExp => /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu

/** Text that can be shown to a person as one line: what is hidden is spelled out, everything else is itself. */
export const visibleText = (text: string): string => text.replace(hidden(), spelledOut)

/** The same for text of several lines: line ends and tabs stay. */
export const visibleLines = (text: string): string =>
  text.replace(hidden(), (character) => (character === "\n" || character === "\t" ? character : spelledOut(character)))

const short: Readonly<Record<string, string>> = { "\n": String.raw`\n`, "\r": String.raw`\r`, "\t": String.raw`\t` }

const spelledOut = (character: string): string =>
  short[character] ?? `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
