import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

import { expect, it } from "@effect/vitest"
import { isToolError } from "@haft/core"
import * as Effect from "effect/Effect"
import fastGlob from "fast-glob"

import { closeRoot, openRoot } from "../paths/containment.ts"
import { globSource } from "./directory-source.ts"
import { globFiles } from "./glob.ts"

const isLong = process.env["HAFT_LONG"] === "1"

/** Deterministic random numbers. */
const randomFrom = (seed: number) => {
  let state = seed
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
  const oneOf = (items: ReadonlyArray<string>): string => items[below(items.length)] ?? ""
  const several = (most: number, make: () => string): ReadonlyArray<string> =>
    Array.from({ length: 1 + below(most) }, make)
  return { oneOf, several }
}

type Random = ReturnType<typeof randomFrom>

const names = ["a", "b", "ab", "abc", "a.ts", "b.ts", "a.js", ".a", ".b.ts", "x1", "x2", "A", "a b", "!a", "a+b", "(a)"]

/** A few directories deep, a few files wide; whether a name is a file or a directory is decided by who is first. */
const makeTree = (random: Random): string => {
  const root = mkdtempSync(join(tmpdir(), "haft-oracle-"))
  for (const path of random.several(24, () => random.several(4, () => random.oneOf(names)).join("/"))) {
    try {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), "")
    } catch {
      // There is something else of that name.
    }
  }
  return root
}

const pieces = [
  "a b",
  ...String.raw`* ** ? a b ab *.ts a* *b .* [ab] [!a]* [a-c]* x[0-9] {a,b} {a,b,ab}.ts *.{ts,js}`.split(" "),
  ...String.raw`x{1..2} {a,} @(a|b) !(a) ?(a)b a? ** (a|b) a+b \!a`.split(" ")
]

const makePattern = (random: Random): string => random.several(3, () => random.oneOf(pieces)).join("/")

const ours = (root: string, pattern: string, respectIgnore = false) => {
  const opened = openRoot(root)
  return globFiles(globSource(opened), ".", pattern, { limit: Number.POSITIVE_INFINITY, respectIgnore }).pipe(
    Effect.map(({ paths }) => paths),
    Effect.ensuring(Effect.sync(() => closeRoot(opened)))
  )
}

/**
 * Where we mean to differ, see the decision about globs. `!( )` is about one name, not about the rest of the path. A
 * directory with a `?` and no other wild card in its name is looked for, where fast-glob looks into one that is called
 * so. What expands to a pattern with a slash at its beginning leads out of the directory, and with one at its end to
 * no file.
 */
const isMeantToDiffer = (pattern: string): boolean =>
  pattern.includes("!(") || /(?:^|\/)[^/*[({]*\?[^/*[({]*\//u.test(pattern) || /^\{a,\}\/|\/\{a,\}$/u.test(pattern)

it.live(
  "finds what fast-glob itself finds",
  () =>
    Effect.gen(function* () {
      const random = randomFrom(1)
      const differences: Array<unknown> = []
      let compared = 0
      let withResults = 0
      for (let tree = 0; tree < (isLong ? 500 : 25); tree++) {
        const root = makeTree(random)
        for (let round = 0; round < 20; round++) {
          const pattern = makePattern(random)
          const found = yield* ours(root, pattern).pipe(Effect.catchIf(isToolError, () => Effect.succeed(undefined)))
          if (found === undefined || isMeantToDiffer(pattern)) continue
          const options = { cwd: root, dot: true, followSymbolicLinks: false, suppressErrors: true }
          const expected = fastGlob.sync(pattern, options).toSorted()
          compared++
          if (expected.length > 0) withResults++
          if (found.join("\n") !== expected.join("\n")) differences.push({ pattern, found, expected })
        }
        rmSync(root, { recursive: true, force: true })
      }
      if (isLong) process.stderr.write(`fast-glob: ${compared} compared, ${withResults} with results\n`)
      expect(differences).toEqual([])
      expect(withResults).toBeGreaterThan(compared / 10)
    }),
  600_000
)

const rules = [
  "# a",
  "a b",
  "",
  ...String.raw`a b/ /a /b/ a/b **/a a/** a/**/b *.ts !a.ts !*.ts !b/ .* !.a ? x[12] [!a] [a-b]* *`.split(" "),
  ...String.raw`!*/ /* !/a \!a a+b (a) ab* *b a*c **/b/** A`.split(" ")
]

it.live(
  "leaves out what git leaves out",
  () =>
    Effect.gen(function* () {
      const random = randomFrom(2)
      const differences: Array<unknown> = []
      let ignored = 0
      for (let tree = 0; tree < (isLong ? 1500 : 40); tree++) {
        const root = makeTree(random)
        const all = fastGlob.sync("**", { cwd: root, dot: true })
        const directories = [".", ...new Set(all.map(dirname))]
        const texts: Record<string, string> = {}
        for (const directory of random.several(3, () => random.oneOf(directories))) {
          const text = random.several(5, () => random.oneOf(rules)).join("\n")
          writeFileSync(join(root, directory, ".gitignore"), text)
          texts[directory] = text
        }
        const expected = listedByGit(root)
        const found = yield* ours(root, "**", true)
        ignored += all.length + Object.keys(texts).length - expected.length
        if (found.join("\n") !== expected.join("\n")) differences.push({ texts, all, found, expected })
        rmSync(root, { recursive: true, force: true })
      }
      if (isLong) process.stderr.write(`git: ${ignored} files ignored\n`)
      expect(differences).toEqual([])
      expect(ignored).toBeGreaterThan(0)
    }),
  600_000
)

const listedByGit = (root: string): ReadonlyArray<string> => {
  execFileSync("git", ["init", "--quiet", "--template="], { cwd: root })
  const args = ["-c", "core.excludesFile=/dev/null", "ls-files", "--others", "--exclude-per-directory=.gitignore", "-z"]
  return execFileSync("git", args, { cwd: root, encoding: "utf8" }).split("\0").slice(0, -1).toSorted()
}
