/** Words of identifiers and prose: `readHTTPFile2` is read, http, file. */
const word = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d{2,}|[\u0080-\uFFFF]+/g

/** Index terms of a text: words of identifiers and prose, in lower case and stemmed. */
export const termsOf = (text: string): Array<string> => {
  const terms: Array<string> = []
  for (const [found] of text.matchAll(word)) {
    if (found.length > 1 && found.length <= longestWord) terms.push(stem(found.toLowerCase()))
  }
  return terms
}

/** Longer runs of letters are data, such as base64. */
const longestWord = 40

/** Terms of a name: its words, and the name as a whole, for those who write it without its capitals. */
export const nameTerms = (name: string): Array<string> => {
  const words = termsOf(name)
  const whole = wholeName(name)
  return words.length > 1 && whole.length <= 2 * longestWord ? [...words, whole] : words
}

const wholeName = (name: string): string => name.toLowerCase().replaceAll(/[^a-z\d]/g, "")

/**
 * Terms of a query, each with the word it comes from, without words that say nothing about code. All of them, where
 * nothing else is left.
 */
export const queryTerms = (query: string): ReadonlyMap<string, string> => {
  const words = query.match(/[\w$]+|[\u0080-\uFFFF]+/g) ?? []
  const telling = words.filter((word) => !stopWords.has(word.toLowerCase()))
  const terms = (telling.length > 0 ? telling : words).flatMap((word) =>
    nameTerms(word).map((term) => [term, word] as const)
  )
  return new Map(terms.slice(0, mostTerms).toReversed())
}

/** More words don't make a query clearer, only slower. */
const mostTerms = 32

const stopWords = new Set(
  (
    "a about all an and any are as at be been being but by can could do does doing done each either every for from had " +
    "has have having he her his how i if in into is it its just may me might must my no nor not of on one only or other our " +
    "out over own per please same she should so some such than that the their them then there these they this those through " +
    "thus to too under up us use used uses using very via was we were what when where whether which while who whom whose why " +
    "will with within without would you your code find show"
  ).split(" ")
)

/** How often a term counts in one row: the ranking hardly rewards more. */
const mostRepeats = 4

/** Terms for a row of the index, each at most four times, at most `most` in all. */
export const rowText = (terms: Iterable<string>, most = 20_000): string => {
  const counts = new Map<string, number>()
  const kept: Array<string> = []
  for (const term of terms) {
    const count = counts.get(term) ?? 0
    if (count === mostRepeats) continue
    counts.set(term, count + 1)
    kept.push(term)
    if (kept.length === most) break
  }
  return kept.join(" ")
}

const stems = new Map<string, string>()

/** A light English stemmer: `parse`, `parses`, `parsed`, `parsing` and `parser` are one term. */
export const stem = (word: string): string => {
  if (word.length <= 3) return word
  const known = stems.get(word)
  if (known !== undefined) return known
  // Words of code repeat; a map that is emptied now and then is a cache of bounded size.
  if (stems.size > 50_000) stems.clear()
  const stemmed = stripped(word)
  stems.set(word, stemmed)
  return stemmed
}

const stripped = (word: string): string => {
  const singular = word.endsWith("ies")
    ? `${word.slice(0, -3)}y`
    : /(?:ss|x|ch|sh)es$/.test(word)
      ? word.slice(0, -2)
      : /[^sui]s$/.test(word)
        ? word.slice(0, -1)
        : word
  const base =
    /^(.{3,}?)(?:ations?|ators?|ating|ated?|ing|ed|ers?|ors?|ions?|ment|able|ly)$/.exec(singular)?.[1] ?? singular
  const single = base !== singular && /([^aeiouls])\1$/.test(base) ? base.slice(0, -1) : base
  return single.length > 3 && single.endsWith("e") ? single.slice(0, -1) : single
}
