/** A part of a line, with what it is in the file's language. */
export interface Token {
  readonly text: string
  /** Absent for what is nothing special. */
  readonly kind?: TokenKind
}

export type TokenKind = "keyword" | "string" | "comment" | "number" | "title" | "type"

const kinds: Readonly<Record<string, TokenKind>> = {
  attr: "title",
  attribute: "title",
  built_in: "type",
  bullet: "keyword",
  class: "type",
  code: "string",
  comment: "comment",
  doctag: "comment",
  function: "title",
  keyword: "keyword",
  link: "string",
  literal: "number",
  meta: "comment",
  name: "keyword",
  number: "number",
  operator: "keyword",
  property: "title",
  quote: "comment",
  regexp: "string",
  section: "title",
  selector: "keyword",
  string: "string",
  symbol: "number",
  tag: "keyword",
  title: "title",
  type: "type"
}

const entities: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#x27;": "'"
}

/**
 * The lines of highlighted HTML as tokens: nested `<span class="hljs-…">` elements and text. Undefined where their text is
 * not the text that was highlighted, so that no diff ever shows something else than it says.
 */
export const tokenLines = (html: string, text: string): ReadonlyArray<ReadonlyArray<Token>> | undefined => {
  const lines: Array<Array<Token>> = [[]]
  const open: Array<TokenKind | undefined> = []
  let seen = ""
  for (const [part, kind, isEnd] of partsOf(html)) {
    if (isEnd) open.pop()
    else if (kind !== undefined) open.push(kinds[kind] ?? open.at(-1))
    else {
      const plain = part.replaceAll(/&(?:amp|lt|gt|quot|#x27);/g, (entity) => entities[entity] ?? entity)
      seen += plain
      for (const [index, piece] of plain.split("\n").entries()) {
        if (index > 0) lines.push([])
        const own = open.at(-1)
        if (piece !== "") lines.at(-1)?.push({ text: piece, ...(own !== undefined && { kind: own }) })
      }
    }
  }
  return seen === text ? lines : undefined
}

/** Text, beginnings of elements with the first word of their class, and ends of elements. */
function* partsOf(html: string): Generator<readonly [text: string, kind: string | undefined, isEnd: boolean]> {
  for (const [part, , kind, end] of html.matchAll(/(<span class="(?:hljs-)?([\w]+)[^"]*">)|(<\/span>)|[^<]+/g)) {
    yield [part, kind, end !== undefined]
  }
}

/** A piece of a line between the borders of its tokens and of its changed part. */
export interface Piece extends Token {
  readonly isMarked: boolean
}

/** Splits tokens where the changed part of their line begins and ends. */
export const markedPieces = (
  tokens: ReadonlyArray<Token>,
  { start, end }: { readonly start: number; readonly end: number }
): ReadonlyArray<Piece> => {
  const pieces: Array<Piece> = []
  let at = 0
  for (const { text, ...token } of tokens) {
    const borders = [0, start - at, end - at, text.length].map((border) => Math.min(text.length, Math.max(0, border)))
    for (let index = 0; index < 3; index++) {
      const piece = text.slice(borders[index], borders[index + 1])
      if (piece !== "") pieces.push({ ...token, text: piece, isMarked: index === 1 })
    }
    at += text.length
  }
  return pieces
}
