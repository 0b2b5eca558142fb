import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"

import { pathMatcher } from "./path-matcher.ts"

const matches = (pattern: string, path: string, options?: { readonly caseSensitive: boolean }): boolean =>
  Effect.runSync(pathMatcher(pattern, options))(path)

it.each([
  ["*.ts", "a.ts", true],
  ["*.ts", ".ts", true],
  ["*.ts", "src/a.ts", false],
  ["**/*.ts", "a.ts", true],
  ["**/*.ts", "src/deep/a.ts", true],
  ["./src/*", "src/a", true],
  ["src/**", "src", false],
  ["src/**", "src/a/b", true],
  ["**/deep/**", "src/deep/a", true],
  ["a/**/b/**/c", "a/x/b/b/y/c", true],
  ["a/**/b", "a/b", true],
  ["?.txt", "é.txt", true],
  ["?.txt", "ab.txt", false],
  ["[a-c]x", "bx", true],
  ["[!a-c]x", "bx", false],
  ["[^a-c]x", "dx", true],
  ["[]x]", "]", true],
  ["[x", "[x", true],
  ["\\*", "*", true],
  ["\\*", "a", false],
  ["{a,b}/*.{ts,js}", "b/x.js", true],
  ["{a,{b,c}}d", "cd", true],
  ["{a}", "{a}", true],
  ["{a", "{a", true],
  ["node_modules", "node_modules", true]
])("pathMatcher of %j on %j is %j", (pattern, path, expected) => {
  expect(matches(pattern, path)).toBe(expected)
})

it("pathMatcher ignores case when told to", () => {
  expect(matches("*.TS", "a.ts", { caseSensitive: false })).toBe(true)
  expect(matches("*.TS", "a.ts", { caseSensitive: true })).toBe(false)
})

it("pathMatcher matches many stars in bounded time", () => {
  const pattern = `${"*a".repeat(50)}b`
  const began = performance.now()
  expect(matches(pattern, "a".repeat(2_000))).toBe(false)
  expect(performance.now() - began).toBeLessThan(5_000)
})

it("pathMatcher refuses a pattern with too many alternatives", () => {
  const failure = Effect.runSync(Effect.flip(pathMatcher("{a,b}".repeat(9))))
  expect(failure.code).toBe("invalid_pattern")
})
