import { stripVTControlCharacters } from "node:util"

/** How many columns of a terminal a text takes: escape sequences none, emoji and East Asian characters two each. */
export const widthOf = (text: string): number => {
  const plain = stripVTControlCharacters(text)
  if (isPlain.test(plain)) return plain.length
  let width = 0
  for (const { segment } of signsIn(plain)) width += widthOfSign(segment)
  return width
}

/** The text cut to at most `room` columns. One that is cut loses its colors. */
export const cutTo = (text: string, room: number): string => {
  if (widthOf(text) <= room) return text
  let kept = ""
  let left = room - 1
  for (const { segment } of signsIn(stripVTControlCharacters(text))) {
    left -= widthOfSign(segment)
    if (left < 0) break
    kept += segment
  }
  return `${kept}…`
}

const isPlain = /^[ -~]*$/

// Made when the first text needs them, because they take milliseconds, and most texts are plain ASCII.
const measure = () => ({
  segmenter: new Intl.Segmenter(),
  takesNone: /^[\p{Mark}\p{Cf}\p{Cc}]+$/u,
  // Emoji, Hangul, kana, ideographs and the full-width forms of others.
  takesTwo:
    /\uFE0F|^[\p{Emoji_Presentation}\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97F\uAC00-\uD7A3\uF900-\uFAFF\uFE10-\uFE19\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6\u{1B000}-\u{1B2FF}\u{20000}-\u{3FFFD}]/u
})
let made: ReturnType<typeof measure> | undefined

const signsIn = (text: string): Iterable<Intl.SegmentData> => (made ??= measure()).segmenter.segment(text)

const widthOfSign = (sign: string): number => {
  const { takesNone, takesTwo } = (made ??= measure())
  if (takesNone.test(sign)) return 0
  return takesTwo.test(sign) ? 2 : 1
}
