import { expect, it } from "@effect/vitest"
import { cliagent } from "@haft/dialects"

import { callIn } from "../../test/hosts.ts"

it("finds the first thousand of many files and warns", async () => {
  const files = Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`f${index}`, ""]))
  const reply = await callIn(cliagent, files, "file_search", { pattern: "*" })
  expect(reply.text.split("\n").slice(0, 3)).toEqual([
    "Warning: Found 1001 matches, showing first 1000",
    "Found 1001 files matching '*':",
    "  f0"
  ])
})
