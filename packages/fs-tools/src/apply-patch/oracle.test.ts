import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { afterAll, beforeAll, expect, it } from "vitest"

import { TextFile } from "../text-file.ts"
import { parseUnifiedDiff } from "./parse/parse-unified-diff.ts"
import { placeHunks } from "./place/place-hunk.ts"

const isLong = process.env["HAFT_LONG"] === "1"
const runs = isLong ? 20_000 : 400

let directory = ""
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "haft-oracle-"))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** Some lines come often, so that hunks fit in several places; others have numbers, so that they fit in one. */
const repeated = fc.constantFrom("a", "b", "c", "", "  x", "foo bar", "-- dashes", "++ plus", "\\ back", "@@ at", "é ü")
const line = fc.oneof(
  repeated,
  fc.nat({ max: 40 }).map((number) => `line ${number}`)
)
const file = fc.record({
  lines: fc.array(line, { maxLength: 24 }),
  ending: fc.constantFrom("\n", "\n", "\n", "\r\n"),
  lastNewline: fc.boolean()
})
/** Lines taken out and put in at a place, given as a fraction of the file. */
const edit = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  removed: fc.nat({ max: 3 }),
  added: fc.array(line, { maxLength: 3 })
})
const example = fc.record({
  base: file,
  edits: fc.array(edit, { minLength: 1, maxLength: 3 }),
  /** Changes that the target has and the patch knows nothing of. */
  drift: fc.array(edit, { maxLength: 2 }),
  context: fc.constantFrom(1, 2, 3, 3, 3)
})
type Example = typeof example extends fc.Arbitrary<infer A> ? A : never
type Edit = typeof edit extends fc.Arbitrary<infer A> ? A : never

const edited = (lines: ReadonlyArray<string>, edits: ReadonlyArray<Edit>): ReadonlyArray<string> =>
  edits.reduce<ReadonlyArray<string>>((now, { at, removed, added }) => {
    const start = Math.floor(at * (now.length + 1))
    return [...now.slice(0, start), ...added, ...now.slice(start + removed)]
  }, lines)

const textOf = (lines: ReadonlyArray<string>, ending: string, lastNewline: boolean): string =>
  lines.join(ending) + (lines.length > 0 && (lastNewline || lines.at(-1) === "") ? ending : "")

const execute = (program: string, args: ReadonlyArray<string>, input = ""): string => {
  const { stdout, stderr } = spawnSync(program, args, { cwd: directory, encoding: "utf8", input, maxBuffer: 1e9 })
  return stdout + stderr
}

interface Case {
  readonly target: string
  readonly diff: string
}

/** Result of each program for each case: the new content, or undefined where it refuses. One run for all of them. */
const patchAll = (cases: ReadonlyArray<Case>): Record<"git" | "patch", ReadonlyArray<string | undefined>> => {
  const diff = cases.map((one) => one.diff).join("")
  const results = (program: "git" | "patch", args: ReadonlyArray<string>, refused: RegExp) => {
    for (const [index, { target }] of cases.entries()) writeFileSync(join(directory, `f${index}`), target)
    const refusals = new Set([...execute(program, args, diff).matchAll(refused)].map(([, name]) => name))
    return cases.map((_, index) =>
      refusals.has(`f${index}`) ? undefined : readFileSync(join(directory, `f${index}`), "utf8")
    )
  }
  return {
    git: results("git", ["apply", "--reject", "--whitespace=nowarn", "-"], /Applying patch (\S+) with \d+ reject/g),
    patch: results("patch", ["-p1", "--force", "--no-backup-if-mismatch"], /saving rejects to file (\S+)\.rej/g)
  }
}

/** Cases whose diffs are made by diff itself. */
const casesOf = (examples: ReadonlyArray<Example>): ReadonlyArray<Case> => {
  for (const side of ["before", "after"]) mkdirSync(join(directory, side), { recursive: true })
  const written = examples.map(({ base, edits, drift, context }, index) => {
    const text = (lines: ReadonlyArray<string>) => textOf(lines, base.ending, base.lastNewline)
    const side = (name: string) => join(directory, name, `f${index}`)
    writeFileSync(side("before"), text(base.lines))
    writeFileSync(side("after"), text(edited(base.lines, edits)))
    return { target: text(edited(base.lines, drift)), context }
  })
  const byContext = new Map(
    [1, 2, 3].map((context) => [context, diffsByFile(execute("diff", ["-r", `-U${context}`, "before", "after"]))])
  )
  return written
    .flatMap(({ target, context }, index) => {
      const diff = byContext.get(context)?.get(`f${index}`)
      return diff === undefined || target === "" ? [] : [{ target, diff }]
    })
    .map(({ target, diff }, index) => ({ target, diff: `--- a/f${index}\n+++ b/f${index}\n${diff}` }))
}

/** The hunks of each file in the output of `diff -r`. */
const diffsByFile = (output: string): ReadonlyMap<string, string> =>
  new Map(
    output
      .split(/^diff -r .*\n/m)
      .slice(1)
      .map((part) => {
        const [, name = "", hunks = ""] = /^--- before\/(\S+).*\n\+\+\+ .*\n([^]*)$/.exec(part) ?? []
        return [name, hunks] as const
      })
  )
interface Ours {
  readonly result: string | undefined
  readonly passes: ReadonlyArray<string>
  readonly isPartial: boolean
  readonly refusal: string
}

const ours = (target: string, diff: string): Ours => {
  const text = TextFile.decode(Buffer.from(target))
  const refused: Ours = { result: undefined, passes: [], isPartial: false, refusal: "not an update" }
  const outcome = Effect.runSync(
    Effect.result(
      Effect.gen(function* () {
        const [section] = yield* parseUnifiedDiff(diff)
        if (section?.kind !== "update" || text === undefined) return refused
        const { replacements, hunks } = yield* placeHunks("f", text, section.hunks)
        const result = Buffer.concat([...text.replace(replacements).encode()]).toString("utf8")
        const isPartial = hunks.some(({ fuzz }) => fuzz > 0)
        return { result, passes: hunks.map(({ pass }) => pass), isPartial, refusal: "" }
      })
    )
  )
  return outcome._tag === "Success" ? outcome.success : { ...refused, refusal: outcome.failure.message }
}

/** Reasons to refuse what git or patch applies: see docs/patches.md. */
const refusals =
  /fits \d+ places|is applied already|another hunk changes them|too far from the stated line|identify no place|no context to be placed by/

/** Where we differ on purpose: see docs/patches.md. */
const isOnPurpose = ({ diff }: Case, mine: Ours, git: string | undefined, patch: string | undefined): boolean => {
  if (mine.result === undefined) {
    // A line marked as the file's last is only ever its last. git takes it for one in the middle, and joins two lines.
    if (refusals.test(mine.refusal) || /^ .*\n\\ No newline/m.test(diff)) return true
    // git never leaves context out; patch leaves out more of it than we do, and does so anywhere.
    return git === undefined
  }
  const isNear = mine.isPartial || hasUnevenContext(diff)
  // Refused by both: spacing that differs, context that differs, or context that says that the file ends there.
  if (git === undefined && patch === undefined) return isNear || mine.passes.some((pass) => pass !== "exact")
  // Line ends and a missing last newline are kept as the file has them.
  if ([git, patch].some((other) => other !== undefined && lineTexts(other) === lineTexts(mine.result ?? "")))
    return true
  // patch leaves out context that stands elsewhere, and all of it where a file begins or ends.
  return git === undefined && isNear
}

/** A text without regard to how its lines end. */
const lineTexts = (text: string): string => text.replaceAll("\r\n", "\n").replace(/\n$/, "")

/** True when a hunk has less context after its changes than before them, or the other way round. */
const hasUnevenContext = (diff: string): boolean =>
  diff
    .split(/^@@ .*\n/m)
    .slice(1)
    .some((hunk) => {
      const signs = hunk.split("\n").filter((text) => /^[-+ ]/.test(text))
      const before = signs.findIndex((text) => !text.startsWith(" "))
      const after = signs.length - 1 - signs.findLastIndex((text) => !text.startsWith(" "))
      return before !== after
    })

it(
  "gives bytes that git apply or patch gives, and differs only for the documented reasons",
  { timeout: isLong ? 3_600_000 : 600_000 },
  () => {
    const disagreements: Array<string> = []
    const tally = { cases: 0, applied: 0, refused: 0, onPurpose: 0 }
    for (let seed = 1; tally.cases < runs; seed++) {
      const cases = casesOf(fc.sample(example, { numRuns: 500, seed }))
      const theirs = patchAll(cases)
      for (const [index, one] of cases.entries()) {
        const mine = ours(one.target, one.diff)
        const git = theirs.git[index]
        const patch = theirs.patch[index]
        tally.cases++
        if (mine.result === git || mine.result === patch) tally[mine.result === undefined ? "refused" : "applied"]++
        else if (isOnPurpose(one, mine, git, patch)) tally.onPurpose++
        else disagreements.push(JSON.stringify({ ...one, git, patch, ours: mine }))
      }
    }
    expect(disagreements.slice(0, 3)).toEqual([])
    expect(tally.applied).toBeGreaterThan(tally.cases / 3)
    expect(tally.refused).toBeGreaterThan(tally.cases / 10)
    expect(tally.onPurpose).toBeLessThan(tally.cases / 10)
  }
)
