import type { Facts } from "@haft/core"

import { pathGlob, textGlob } from "./glob.ts"
import { type Fit, InvalidExpression } from "./linear-expression.ts"
import type { TouchConditions } from "./rule.ts"
import type { ReadCommand } from "./shell-words.ts"

export interface Touched {
  readonly facts: Facts
  readonly command: () => ReadCommand
}

/** Compiled conditions on what a call touches. */
export interface TouchMatcher {
  /** For rules that allow: everything that is written, fetched, run and typed is covered. */
  readonly covers: (touched: Touched) => Fit
  /** For rules that ask or deny: something of every kind that is named is hit. */
  readonly hits: (touched: Touched) => Fit
}

export const touchMatcher = (conditions: TouchConditions): TouchMatcher => {
  const reads = anyOf(conditions.reads, pathGlob)
  const writes = anyOf(conditions.writes, pathGlob)
  const fetches = anyOf(conditions.fetches, urlCondition)
  const runs = anyOf(conditions.runs, commandCondition)
  return {
    covers: ({ facts, command }) => {
      if (facts.types !== undefined) return "no"
      if (reads !== undefined && !(facts.reads.length > 0 && facts.reads.every(reads))) return "no"
      // A rule that speaks of touches speaks of all that do something: what it does not name, it does not allow.
      if (
        !isCovered(
          writes,
          facts.writes.map(({ path }) => path)
        )
      )
        return "no"
      if (!isCovered(fetches, listed(urlOf(facts.fetches)))) return "no"
      return isCovered(runs, listed(facts.runs === undefined ? undefined : command().words)) ? "yes" : "no"
    },
    hits: ({ facts, command }) => {
      if (reads !== undefined && !facts.reads.some(reads)) return "no"
      if (writes !== undefined && !facts.writes.some(({ path }) => writes(path))) return "no"
      if (fetches !== undefined && facts.fetches === undefined) return "no"
      if (runs !== undefined && facts.runs === undefined) return "no"
      const url = urlOf(facts.fetches)
      if (fetches !== undefined && url !== undefined && !fetches(url)) return "no"
      const isSure = fetches === undefined || url !== undefined
      if (runs === undefined) return isSure ? "yes" : "unknown"
      if (command().inside.some(runs)) return isSure ? "yes" : "unknown"
      return command().words === undefined ? "unknown" : "no"
    }
  }
}

const anyOf = <A>(
  conditions: string | ReadonlyArray<string> | undefined,
  compile: (condition: string) => (value: A) => boolean
): ((value: A) => boolean) | undefined => {
  if (conditions === undefined) return undefined
  const tests = [conditions].flat().map(compile)
  return (value) => tests.some((test) => test(value))
}

const isCovered = <A>(test: ((value: A) => boolean) | undefined, values: ReadonlyArray<A>): boolean =>
  test === undefined ? values.length === 0 : values.length > 0 && values.every(test)

const listed = <A>(value: A | undefined): ReadonlyArray<A> => (value === undefined ? [] : [value])

const urlOf = (text: string | undefined): URL | undefined => {
  if (text === undefined) return undefined
  const url = URL.parse(text)
  return url !== null && url.username === "" && url.password === "" ? url : undefined
}

// `example.com`, `*.example.com`, `example.com:8080`, `https://example.com/v1/**`
const urlCondition = (condition: string): ((url: URL) => boolean) => {
  const parts = /^(?:(?<scheme>https?):\/\/)?(?<host>[^/:]+|\[[^\]]+\])(?::(?<port>\d+))?(?<path>\/.*)?$/.exec(
    condition
  )
  const { scheme, host = "", port = "", path } = parts?.groups ?? {}
  if (parts === null || !/^(?:\*\.)?[^*]+$/.test(host)) {
    throw new InvalidExpression(`${condition} is neither a host nor a URL; * stands for whole labels at the front`)
  }
  const name = host.toLowerCase()
  const fitsPath = path === undefined ? undefined : pathGlob(path)
  return (url) =>
    (scheme === undefined ? /^https?:$/.test(url.protocol) : url.protocol === `${scheme}:`) &&
    (name.startsWith("*.") ? url.hostname.endsWith(name.slice(1)) : url.hostname === name) &&
    url.port === port &&
    (fitsPath === undefined || fitsPath(url.pathname + url.search))
}

// `npm test`, `git diff **`, `eslint src/*.ts`
const commandCondition = (condition: string): ((words: ReadonlyArray<string>) => boolean) => {
  const expected = condition.trim().split(/\s+/)
  const isOpen = expected.at(-1) === "**"
  const tests = (isOpen ? expected.slice(0, -1) : expected).map(textGlob)
  if (/^$|\*/.test(expected[0] ?? "")) {
    throw new InvalidExpression(`${condition} must begin with a program's name, without *`)
  }
  return (words) =>
    (isOpen ? words.length >= tests.length : words.length === tests.length) &&
    tests.every((test, place) => test(words[place] ?? ""))
}
