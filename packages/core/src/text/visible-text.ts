/**
 * The one escaping function for everything that a person reads: questions, the CLI, the console, logs. Returns text of
 * one line in which nothing is hidden and nothing can be taken for something else; what would be is spelled out as
 * `\n` or `\u{202e}`.
 */
export const visibleText = (text: string): string =>
  plainAscii.test(text) ? text : spellLookAlikes(replaceHidden(text, spelledOut))

/** As {@link visibleText}, for text of several lines: line feeds and tabs stay. */
export const visibleLines = (text: string): string =>
  plainLines.test(text)
    ? text
    : spellLookAlikes(
        replaceHidden(text, (character) =>
          character === "\n" || character === "\t" ? character : spelledOut(character)
        )
      )

/**
 * A name for text of several lines: line breaks and control characters are spelled out, so that it can't forge a line.
 * The rest is left to {@link visibleLines}, as a model has to be able to use the name.
 */
export const singleLine = (name: string): string =>
  plainAscii.test(name) ? name : name.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, spelledOut)

/** JSON text with the same characters escaped as JSON has them, so that it still means the same. */
export const visibleJson = (json: string): string =>
  plainLines.test(json)
    ? json
    : replaceHidden(json, (characters) =>
        characters === "\n"
          ? characters
          : [...Array(characters.length).keys()]
              .map((at) => `\\u${characters.charCodeAt(at).toString(16).padStart(4, "0")}`)
              .join("")
      )

const plainAscii = /^[ -~]*$/
const plainLines = /^[ -~\n\t]*$/

// Everything that moves the cursor, changes the direction of writing or is not seen at all: control and format
// characters (bidirectional overrides, zero-width, tags), lone surrogates, private use, unassigned, line separators,
// letters that look like nothing, and spaces that are not the space (U+00A0 and its like).
// Emoji of several characters are matched as a whole, and left alone.
// A function, because compiling so many properties takes most of a millisecond, which a start should not pay for.
const hidden = (): RegExp =>
  /\p{ExtPict}\p{EMod}?\uFE0F?(?:\u200D\p{ExtPict}\p{EMod}?\uFE0F?)*|[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu

const replaceHidden = (text: string, spell: (character: string) => string): string =>
  text.replace(hidden(), (found) => (startsEmoji.test(found) ? found : spell(found)))

const startsEmoji = /^\p{ExtPict}/u

const short: Readonly<Record<string, string>> = { "\n": String.raw`\n`, "\r": String.raw`\r`, "\t": String.raw`\t` }

const spelledOut = (character: string): string =>
  short[character] ?? `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`

// Latin letters in disguise (full width, mathematical), and signs that pass for the slash, the dot or the colon of a path.
const disguised = (): RegExp =>
  /[\u{FF01}-\u{FF5E}\u{1D400}-\u{1D7FF}\u2024\u2044\u2215\u2216\u29F5\u29F8\u29F9\uA789\u02D0\u0589\u2236\uFE52\uFE55\uFE68]/gu

// A word of Latin letters and those of a script with letters that look the same: the others are spelled out. Words of one
// script are left alone, so that names in Greek or Russian can be read.
const word = (): RegExp => /[\p{L}\p{M}\p{N}_]+/gu
const latin = (): RegExp => /\p{Script=Latin}/u
const lookAlike = (): RegExp =>
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}]/gu

const spellLookAlikes = (text: string): string =>
  text
    .replace(disguised(), spelledOut)
    .replace(word(), (letters) => (latin().test(letters) ? letters.replace(lookAlike(), spelledOut) : letters))
