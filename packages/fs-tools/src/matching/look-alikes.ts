/** Characters that look the same in an editor, each group with the plain one first. */
const groups: ReadonlyArray<readonly [plain: string, others: string]> = [
  ["-", "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"],
  ["'", "\u2018\u2019\u201A\u201B"],
  ['"', "\u201C\u201D\u201E\u201F"],
  [" ", "\u00A0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200A\u202F\u205F\u3000"]
]

const plainOf: ReadonlyMap<string, string> = new Map(
  groups.flatMap(([plain, others]) => Array.from(others, (other) => [other, plain] as const))
)

/** Characters that are typed with the same habit: who types curly double quotes types curly single ones, too. */
const families: ReadonlyArray<ReadonlyArray<string>> = [["-"], ["'", '"'], [" "]]

/** The plain form of a look-alike character, and all plain forms of its family; undefined for any other character. */
export const plainLookAlike = (
  character: string
): { readonly plain: string; readonly family: ReadonlyArray<string> } | undefined => {
  const plain = plainOf.get(character)
  const family = families.find((one) => one.includes(plain ?? ""))
  return plain === undefined || family === undefined ? undefined : { plain, family }
}

const anyOther = new RegExp(`[${groups.map(([, others]) => others).join("")}]`, "g")

/** Dashes, quotes and spaces by their plain form. Every character stays where it is. */
export const foldLookAlikes = (text: string): string => text.replace(anyOther, (other) => plainOf.get(other) ?? other)
