import { expect, it } from "vitest"

import { forScreen } from "./terminal.ts"

const hostile =
  "\u001B[31mred\u001B[0m\u001B]52;c;c3RvbGVu\u0007 a\tb\r\n10%\rdone\u0008\u009B2J \u202Etxt.exe ⚠️ ünd 👨‍👩‍👧\n"

it("keeps a tool's text from doing anything to a person's screen", () => {
  expect(forScreen({ isTTY: true }, hostile)).toBe(
    "red\\u{1b}]52;c;c3RvbGVu\\u{7} a\tb\n10%\\rdone\\u{8}\\u{9b}2J \\u{202e}txt.exe ⚠️ ünd 👨‍👩‍👧\n"
  )
})

it("leaves a tool's text as it is for everybody else", () => {
  expect(forScreen({ isTTY: false }, hostile)).toBe(hostile)
})
