import { expect, it } from "vitest"

import { decodeText } from "./charset.ts"

const bytes = (...parts: ReadonlyArray<string | ReadonlyArray<number>>) =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : Buffer.from(part))))

it.each([
  ["the header, in any case", "text/html; Charset=ISO-8859-1", bytes([0xe9]), "é"],
  ["the header, quoted", 'text/html; charset="shift_jis"', bytes([0x93, 0xfa]), "日"],
  ["the header before the mark", "text/plain; charset=windows-1252", bytes([0xef, 0xbb, 0xbf]), "ï»¿"],
  [
    "the UTF-8 mark before meta",
    "text/html",
    bytes([0xef, 0xbb, 0xbf], '<meta charset="gbk">', [0xc3, 0xa9]),
    '<meta charset="gbk">é'
  ],
  ["the UTF-16 little-endian mark", "", bytes([0xff, 0xfe, 0x41, 0x00]), "A"],
  ["the UTF-16 big-endian mark", "", bytes([0xfe, 0xff, 0x00, 0x41]), "A"],
  ["meta", "text/html", bytes("<meta charset=koi8-r>", [0xc1]), "<meta charset=koi8-r>а"],
  [
    "meta in its older form",
    "text/html",
    bytes('<META http-equiv="Content-Type" content="text/html; charset=gb2312">', [0xd6, 0xd0]),
    '<META http-equiv="Content-Type" content="text/html; charset=gb2312">中'
  ],
  [
    "an XML declaration",
    "text/xml",
    bytes('<?xml version="1.0" encoding="euc-kr"?>', [0xc7, 0xd1]),
    '<?xml version="1.0" encoding="euc-kr"?>한'
  ],
  ["meta that lies about UTF-16", "text/html", bytes("<meta charset=utf-16>", [0xc3, 0xa9]), "<meta charset=utf-16>é"],
  ["UTF-8 when nobody says anything", "text/plain", bytes([0xc3, 0xa9]), "é"],
  ["windows-1252 when that does not fit", "text/plain", bytes([0x93, 0xe9, 0x94]), "“é”"],
  [
    "the next best when a charset is unknown",
    "text/html; charset=klingon",
    bytes("<meta charset=latin1>", [0xe9]),
    "<meta charset=latin1>é"
  ],
  ["replacement characters for what does not fit", "text/plain; charset=utf-8", bytes("a", [0xff], "b"), "a\uFFFDb"],
  ["a character cut in two at the end", "text/plain", bytes("a", [0xc3]), "a\uFFFD"],
  ["nothing at all", "", bytes(), ""],
  [
    "the mark where the header leaves the order open",
    "text/plain; charset=UTF-16",
    bytes([0xfe, 0xff, 0x00, 0x41]),
    "A"
  ],
  [
    "what it is, not what it speaks of",
    "text/plain",
    bytes([0xc3, 0xa9], '<meta charset="shift_jis">'),
    'é<meta charset="shift_jis">'
  ]
])("decodes by %s", (_name, contentType, content, expected) => {
  expect(decodeText(content, contentType)).toBe(expected)
})
