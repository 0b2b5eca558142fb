import { expect, it } from "@effect/vitest"

import { patchText, problemOfForm } from "./patch-form.ts"

it.each([
  [
    "*** Begin Patch\n*** Update File: a\n*** Add File: b\n+1\n*** End Patch",
    "line 2: Update file hunk for path 'a' is empty"
  ],
  [
    "*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch",
    "line 2: Update file hunk for path 'a' is empty"
  ],
  ["*** Begin Patch", "The last line of the patch must be"],
  ["", "The first line of the patch must be"]
])("problemOfForm names what is wrong with %j", (patch, problem) => {
  expect(problemOfForm(patch)).toContain(problem)
})

it("problemOfForm lets a patch pass that haft can read", () => {
  expect(problemOfForm("*** Begin Patch\n*** Update File: a\n@@\n-1\n+2\n*** Delete File: b\n*** End Patch\n")).toBe(
    undefined
  )
})

it("patchText takes a patch out of a here-document", () => {
  expect(patchText("<<EOF\n*** Begin Patch\n*** End Patch\nEOF")).toBe("*** Begin Patch\n*** End Patch")
  expect(patchText("*** Begin Patch\n*** End Patch\n")).toBe("*** Begin Patch\n*** End Patch")
})
