import { unifiedDiff } from "@haft/core"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

import { TextFile } from "../text-file.ts"
import { parsePatch } from "./apply-patch.ts"
import { placeHunks } from "./place/place-hunk.ts"

const runs = process.env["HAFT_LONG"] === "1" ? 2000 : 60

/** Functions that look alike, as in real code: most lines tell them apart, some stand in each of them. */
const sourceOf = (count: number, indent: string): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, index) => [
    `export function handle${index}(request, options) {`,
    `${indent}const value${index} = request.read(${index})`,
    `${indent}if (value${index} === undefined) {`,
    `${indent}${indent}return options.fallback`,
    `${indent}}`,
    "",
    `${indent}log("handled ${index}")`,
    `${indent}return value${index}`,
    "}",
    ""
  ]).flat()

const edit = fc.record({
  at: fc.double({ min: 0, max: 0.999, noNaN: true }),
  what: fc.constantFrom("replace", "replace", "insert", "remove", "replace two"),
  number: fc.nat({ max: 10_000 })
})
const example = fc.record({
  functions: fc.integer({ min: 3, max: 40 }),
  indent: fc.constantFrom("  ", "    ", "\t"),
  edits: fc.array(edit, { minLength: 1, maxLength: 4 }),
  numbers: fc.array(fc.nat({ max: 1_000_000 }), { minLength: 20, maxLength: 20 })
})
type Example = typeof example extends fc.Arbitrary<infer A> ? A : never

interface Hunk {
  readonly old: number
  readonly now: number
  readonly lines: ReadonlyArray<string>
}

interface Case {
  readonly before: string
  readonly after: string
  readonly hunks: ReadonlyArray<Hunk>
  readonly indent: string
  /** The next of some numbers that the example brings along, from `least` to `most`. */
  readonly next: (least: number, most: number) => number
}

const caseOf = ({ functions, indent, edits, numbers }: Example): Case | undefined => {
  const lines = sourceOf(functions, indent)
  const after = [...lines]
  for (const { at, what, number } of edits) {
    const line = Math.floor(at * after.length)
    const depth = /^\s*/.exec(after[line] ?? "")?.[0] ?? ""
    const added = [`${depth}changed(${number})`, `${depth}and(${number})`]
    if (what === "replace") after.splice(line, 1, added[0] ?? "")
    else if (what === "replace two") after.splice(line, 2, ...added)
    else if (what === "insert") after.splice(line, 0, ...added)
    else after.splice(line, 1)
  }
  const [old, now] = [`${lines.join("\n")}\n`, `${after.join("\n")}\n`]
  if (old === now) return undefined
  const versions = { oldPath: "f", newPath: "f", before: Buffer.from(old), after: Buffer.from(now) }
  const diff = Effect.runSync(unifiedDiff(versions))
  let taken = 0
  return {
    before: old,
    after: now,
    hunks: hunksOf(diff ?? ""),
    indent,
    next: (least, most) => least + ((numbers[taken++ % numbers.length] ?? 0) % (most - least + 1))
  }
}

const hunksOf = (diff: string): ReadonlyArray<Hunk> =>
  [...diff.matchAll(/^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@.*\n((?:[-+ ].*\n)*)/gm)].map(
    ([, old, now, body = ""]) => ({ old: Number(old), now: Number(now), lines: body.replace(/\n$/, "").split("\n") })
  )

const counts = ({ lines }: Hunk) => ({
  old: lines.filter((line) => !line.startsWith("+")).length,
  now: lines.filter((line) => !line.startsWith("-")).length
})

const numbered = (hunk: Hunk): string => `@@ -${hunk.old},${counts(hunk).old} +${hunk.now},${counts(hunk).now} @@`

const print = (hunks: ReadonlyArray<Hunk>, header: (hunk: Hunk) => string = numbered): string =>
  `--- a/f\n+++ b/f\n${hunks.map((hunk) => [header(hunk), ...hunk.lines, ""].join("\n")).join("")}`

const moved = (hunk: Hunk, by: number): Hunk => ({
  ...hunk,
  old: Math.max(1, hunk.old + by),
  now: Math.max(1, hunk.now + by)
})

/** A hunk with at most so many lines of context at each side. */
const withContext = (hunk: Hunk, before: number, after: number): Hunk => {
  const first = hunk.lines.findIndex((line) => !line.startsWith(" "))
  const last = hunk.lines.findLastIndex((line) => !line.startsWith(" "))
  const cut = Math.max(0, first - before)
  const lines = hunk.lines.slice(cut, last + 1 + after)
  const isInsertion = lines.every((line) => line.startsWith("+"))
  return { old: hunk.old + cut - (isInsertion ? 1 : 0), now: hunk.now + cut, lines }
}

/** One context line of a hunk, not a blank one, given something else. */
const withOneContextLine = (hunk: Hunk, number: number, change: (line: string) => ReadonlyArray<string>): Hunk => {
  const context = hunk.lines.flatMap((line, index) => (/^ .*\w/.test(line) ? [index] : []))
  const chosen = context[number % Math.max(1, context.length)] ?? -1
  return { ...hunk, lines: hunk.lines.flatMap((line, index) => (index === chosen ? change(line) : [line])) }
}

const envelope = (hunks: ReadonlyArray<Hunk>): string =>
  `*** Begin Patch\n*** Update File: f\n${hunks.map(({ lines }) => ["@@", ...lines, ""].join("\n")).join("")}*** End Patch\n`

interface Damaged {
  readonly patch: string
  readonly target?: string
  readonly expected?: string
}

/** Kinds of damage, and how much must still be understood, in percent. */
const damages: Readonly<Record<string, readonly [least: number, damage: (one: Case) => Damaged]>> = {
  "line numbers off by 1 to 9": [
    100,
    ({ hunks, next }) => ({
      patch: print(hunks.map((hunk) => moved(hunk, next(0, 1) === 0 ? next(1, 9) : -next(1, 9))))
    })
  ],
  "line numbers off by 10 to 300": [
    98,
    ({ hunks, next }) => ({ patch: print(hunks.map((one) => moved(one, next(10, 300)))) })
  ],
  "line numbers that are all 1": [
    100,
    ({ hunks }) => ({ patch: print(hunks.map((one) => ({ ...one, old: 1, now: 1 }))) })
  ],
  "counts that are too small": [
    100,
    ({ hunks }) => ({
      patch: print(hunks, (one) => `@@ -${one.old},${Math.max(1, counts(one).old - 2)} +${one.now},1 @@`)
    })
  ],
  "counts that are one too large, before context": [
    92,
    ({ hunks }) => ({
      patch: print(hunks, (one) => `@@ -${one.old},${counts(one).old + 1} +${one.now},${counts(one).now + 1} @@`)
    })
  ],
  "no final newline": [100, ({ hunks }) => ({ patch: print(hunks).replace(/\n$/, "") })],
  "LF in the patch, CRLF in the file": [
    100,
    ({ hunks, before, after }) => ({
      patch: print(hunks),
      target: before.replaceAll("\n", "\r\n"),
      expected: after.replaceAll("\n", "\r\n")
    })
  ],
  "CRLF in the patch, LF in the file": [100, ({ hunks }) => ({ patch: print(hunks).replaceAll("\n", "\r\n") })],
  "LF in the patch, lone CR in the file": [
    100,
    ({ hunks, before, after }) => ({
      patch: print(hunks),
      target: before.replaceAll("\n", "\r"),
      expected: after.replaceAll("\n", "\r")
    })
  ],
  "a code fence and prose": [100, ({ hunks }) => ({ patch: `Here:\n\n\`\`\`diff\n${print(hunks)}\`\`\`\nDone.\n` })],
  "uneven context": [
    100,
    ({ hunks, next }) => ({ patch: print(hunks.map((hunk) => withContext(hunk, next(0, 3), next(0, 3)))) })
  ],
  "uneven context with wrong numbers": [
    96,
    ({ hunks, next }) => ({
      patch: print(hunks.map((hunk) => moved(withContext(hunk, next(1, 3), next(1, 3)), next(1, 9))))
    })
  ],
  "no trailing context": [100, ({ hunks }) => ({ patch: print(hunks.map((hunk) => withContext(hunk, 3, 0))) })],
  "no leading context": [100, ({ hunks }) => ({ patch: print(hunks.map((hunk) => withContext(hunk, 0, 3))) })],
  "no context": [100, ({ hunks }) => ({ patch: print(hunks.map((hunk) => withContext(hunk, 0, 0))) })],
  "bare @@": [100, ({ hunks }) => ({ patch: print(hunks, () => "@@") })],
  "@@ ... @@": [100, ({ hunks }) => ({ patch: print(hunks, () => "@@ ... @@ a heading that stands nowhere") })],
  "@@ -N,M +N,M @@": [100, ({ hunks }) => ({ patch: print(hunks, () => "@@ -N,M +N,M @@") })],
  "tabs turned into spaces": [95, ({ hunks }) => ({ patch: print(hunks).replaceAll("\t", "    ") })],
  "blank context lines without their space": [100, ({ hunks }) => ({ patch: print(hunks).replaceAll(/^ $/gm, "") })],
  "context lines without their space": [
    100,
    ({ hunks }) => ({
      patch: print(hunks)
        .replaceAll(/^ (?=.)/gm, "")
        .replaceAll(/^ $/gm, "")
    })
  ],
  "an envelope's context lines without their space": [
    100,
    ({ hunks }) => ({
      patch: envelope(hunks)
        .replaceAll(/^ (?=.)/gm, "")
        .replaceAll(/^ $/gm, "")
    })
  ],
  "one context line mistyped": [
    95,
    ({ hunks, next }) => ({
      patch: print(hunks.map((hunk) => withOneContextLine(hunk, next(0, 9), (line) => [`${line}x`])))
    })
  ],
  "one context line left out": [
    45,
    ({ hunks, next }) => ({ patch: print(hunks.map((hunk) => withOneContextLine(hunk, next(0, 9), () => []))) })
  ],
  "an ellipsis for a context line": [
    95,
    ({ hunks, next }) => ({ patch: print(hunks.map((hunk) => withOneContextLine(hunk, next(0, 9), () => [" ..."]))) })
  ],
  "a file that drifted": [
    85,
    ({ hunks, before, after, next }) => {
      const above = Array.from({ length: next(1, 12) }, (_, index) => `// new ${index}\n`).join("")
      return { patch: print(hunks), target: above + before, expected: above + after }
    }
  ],
  colors: [
    100,
    ({ hunks }) => ({
      patch: print(hunks)
        .replaceAll(/^((?:---|\+\+\+|@@) .*)$/gm, "\u001B[1m$1\u001B[m")
        .replaceAll(/^([-+])(?![-+]{2})(.*)$/gm, "\u001B[32m$1\u001B[m\u001B[32m$2\u001B[m")
    })
  ]
}

const apply = (patch: string, target: string): string | undefined => {
  const text = TextFile.decode(Buffer.from(target))
  const outcome = Effect.runSync(
    Effect.result(
      Effect.gen(function* () {
        const [section] = yield* parsePatch(patch)
        if (section?.kind !== "update" || text === undefined) return undefined
        const { replacements } = yield* placeHunks("f", text, section.hunks)
        return text.replace(replacements).text
      })
    )
  )
  return outcome._tag === "Success" ? outcome.success : undefined
}

const casesFor = (count: number): ReadonlyArray<Case> =>
  fc.sample(example, { numRuns: count, seed: 1 }).flatMap((one) => caseOf(one) ?? [])

describe("a damaged patch", () => {
  it.each(Object.entries(damages))("is applied as it was meant or refused: %s", (name, [least, damage]) => {
    const tally = { right: 0, refused: 0 }
    const wrong: Array<string> = []
    for (const one of casesFor(runs)) {
      const { patch, target = one.before, expected = one.after } = damage(one)
      const result = apply(patch, target)
      if (result === undefined) tally.refused++
      else if (result === expected) tally.right++
      else if (!isIndistinguishable(name, one)) wrong.push(patch)
    }
    expect(wrong.slice(0, 3)).toEqual([])
    expect((100 * tally.right) / (tally.right + tally.refused), JSON.stringify(tally)).toBeGreaterThanOrEqual(least)
  })

  it.each([
    ["with its line numbers", (hunks: ReadonlyArray<Hunk>) => print(hunks)],
    ["without line numbers", (hunks: ReadonlyArray<Hunk>) => print(hunks, () => "@@")],
    ["without trailing context", (hunks: ReadonlyArray<Hunk>) => print(hunks.map((hunk) => withContext(hunk, 3, 0)))],
    ["as an envelope", envelope]
  ])("is not applied twice %s", (_how, spell) => {
    for (const { hunks, before, after } of casesFor(runs)) {
      const patch = spell(hunks)
      if (apply(patch, before) !== after) continue
      const again = apply(patch, after)
      expect(again === undefined || again === after, patch).toBe(true)
    }
  })

  it("is refused when its text ends before its last change", () => {
    const applied = casesFor(runs).flatMap(({ hunks, before }) => {
      const lines = print(hunks).split("\n")
      const last = lines.findLastIndex((line) => /^[-+]/.test(line))
      const cut = lines.slice(0, last).join("\n")
      return (lines[last - 1] ?? "").startsWith("@@") || apply(cut, before) === undefined ? [] : [cut]
    })
    expect(applied.slice(0, 3)).toEqual([])
  })
})

/** Damage that leaves a patch which plainly says something else. */
const isIndistinguishable = (name: string, { hunks, indent }: Case): boolean => {
  // New lines with spaces and nothing that tells of the tabs around them.
  if (name === "tabs turned into spaces") {
    return (
      indent === "\t" && hunks.some(({ lines }) => lines.every((line) => line.startsWith("+") || !line.includes("\t")))
    )
  }
  // Where a file begins or ends there is no context at one side that would tell that a line at the other is missing.
  const hasOneSide = ({ lines }: Hunk): boolean => /^[-+]/.test(lines[0] ?? "") || /^[-+]/.test(lines.at(-1) ?? "")
  return name === "one context line left out" && hunks.some(hasOneSide)
}
