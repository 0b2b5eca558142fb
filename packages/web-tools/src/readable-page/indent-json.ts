/** A few characters deep inside many lists would take gigabytes; what grows beyond this is better read as it is. */
const maxCharacters = 4_000_000

/**
 * JSON with every entry on a line of its own. Numbers and strings stay as they are written, to the last digit; what is
 * not JSON stays as it is altogether.
 */
export const indentJson = (json: string): string => {
  if (json.length > maxCharacters || !isJson(json)) return json
  const pieces: Array<string> = []
  let length = 0
  let depth = 0
  let before = ""
  for (let at = skipSpace(json, 0); at < json.length; at = skipSpace(json, at)) {
    const token = tokenAt(json, at)
    at += token.length
    const isClosing = token === "}" || token === "]"
    if (isClosing) depth--
    const isFirst = before === "{" || before === "["
    const gap = (isFirst ? !isClosing : isClosing || before === ",") ? `\n${"  ".repeat(depth)}` : ""
    const piece = `${gap}${token}${token === ":" ? " " : ""}`
    length += piece.length
    if (length > maxCharacters) return json
    pieces.push(piece)
    if (token === "{" || token === "[") depth++
    before = token
  }
  return pieces.join("")
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const skipSpace = (json: string, from: number): number => {
  let at = from
  while (" \t\r\n".includes(json[at] ?? "end")) at++
  return at
}

const tokenAt = (json: string, at: number): string => {
  if (json[at] === '"') return json.slice(at, endOfString(json, at))
  let end = at + 1
  if (!marks.includes(json[at] ?? "")) while (end < json.length && !ends.includes(json[end] ?? "")) end++
  return json.slice(at, end)
}

const marks = "{}[],:"
const ends = `${marks} \t\r\n`

const endOfString = (json: string, start: number): number => {
  let quote = json.indexOf('"', start + 1)
  while (isEscaped(json, quote)) quote = json.indexOf('"', quote + 1)
  return quote + 1
}

const isEscaped = (json: string, quote: number): boolean => {
  let first = quote
  while (json[first - 1] === "\\") first--
  return (quote - first) % 2 === 1
}
