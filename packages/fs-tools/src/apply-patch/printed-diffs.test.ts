import { unifiedDiff } from "@haft/core"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

import { TextFile } from "../text-file.ts"
import { parseUnifiedDiff } from "./parse/parse-unified-diff.ts"
import { placeHunks } from "./place/place-hunk.ts"

const text = fc
  .array(fc.constantFrom("a", "b", "c", "d", "", "--- x", "+++ y", "@@ z", "e\r"), { maxLength: 30 })
  .chain((lines) => fc.boolean().map((last) => lines.join("\n") + (last && lines.length > 0 ? "\n" : "")))

const applied = (before: TextFile, diff: string): string =>
  Effect.runSync(
    Effect.gen(function* () {
      const [section] = yield* parseUnifiedDiff(diff)
      if (section?.kind !== "update") return "no update"
      const { replacements } = yield* placeHunks("f", before, section.hunks)
      return before.replace(replacements).text
    })
  )

const diffOf = (before: string, after: string): string =>
  Effect.runSync(unifiedDiff({ oldPath: "f", newPath: "f", before: Buffer.from(before), after: Buffer.from(after) })) ??
  "binary"

describe("parseUnifiedDiff", () => {
  it("reads what unifiedDiff prints, and placing it gives the new text", () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        fc.pre(before !== after)
        expect(applied(TextFile.of(before), diffOf(before, after))).toBe(after)
      }),
      { numRuns: 1000, seed: 1 }
    )
  })
})
