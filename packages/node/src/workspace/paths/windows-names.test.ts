import { isToolError } from "@haft/core"
import { expect, it } from "vitest"

import { checkWindowsName } from "./windows-names.ts"

const refusalOf = (name: string): string | undefined => {
  try {
    checkWindowsName(`dir/${name}`, name)
    return undefined
  } catch (error) {
    if (!isToolError(error)) throw error
    expect(error).toMatchObject({ code: "invalid_params", details: { path: `dir/${name}` } })
    return error.message
  }
}

it.each([
  [
    ["NUL", "nul.txt", "nul .txt", "Con", "prn", "AUX.c", "COM1", "com9.log", "COM¹", "LPT³", "CONIN$", "conout$"],
    "device"
  ],
  [["a.txt:stream", "dir::$INDEX_ALLOCATION", ":"], "stream"],
  [["a.txt.", "a.txt ", ".. ", "...", ".git."], "dot or a space"],
  [["x?y", "a*", "<", ">", 'a"b', "a|b"], "contains '"],
  [["a\tb", "\u0001", "a\nb"], "control character"]
])("refuses %j on Windows, with the reason", (names, reason) => {
  for (const name of names) expect(refusalOf(name), name).toContain(reason)
})

it("takes names that only look like those", () => {
  for (const name of ["nullable.ts", "console", "COM", "com10", "lpt", ".git", "a.b.c", "auxiliary.c", "nul_.txt"]) {
    expect(refusalOf(name), name).toBeUndefined()
  }
})
