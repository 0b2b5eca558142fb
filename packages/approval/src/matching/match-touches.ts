import type { Facts } from "@haft/core"

import type { TouchConditions } from "../rules/rule.ts"
import { directoryAbove, pathGlob, textGlob } from "./glob.ts"
import { allFit, anyFits, type Fit, InvalidExpression } from "./linear-expression.ts"
import { programOf, type ReadCommand, runsOthers } from "./parse-command.ts"

export interface Touched {
  readonly facts: Facts
  readonly command: () => ReadCommand
}

/** Whether a call touches what a rule names. */
export type TouchTest = (touched: Touched) => Fit

/** Compiled conditions on what a call touches. */
export interface TouchMatcher {
  /** For rules that allow: everything that is written, fetched, run and typed is covered. */
  readonly covers: TouchTest
  /** For rules that ask or deny: something of every kind that is named is hit, or may be. */
  readonly hits: TouchTest
}

export const touchMatcher = (conditions: TouchConditions): TouchMatcher => {
  const reads = compiled(conditions.reads, pathCondition)
  const writes = compiled(conditions.writes, pathCondition)
  const fetches = compiled(conditions.fetches, urlCondition)
  const runs = compiled(conditions.runs, commandCondition)
  const hitting: ReadonlyArray<TouchTest> = [
    ({ facts }) => reads?.hits(facts.reads) ?? "yes",
    ({ facts }) => writes?.hits(pathsOf(facts)) ?? "yes",
    ({ facts }) => fetches?.hits(facts.fetches === undefined ? [] : [urlOf(facts.fetches)]) ?? "yes",
    ({ facts, command }) =>
      runs === undefined ? "yes" : facts.runs === undefined ? "no" : hitsCommand(runs, command()),
    ({ facts }) => (conditions.network === true && facts.network !== true ? "no" : "yes")
  ]
  const covers = ({ facts, command }: Touched): Fit => {
    const { fetches: fetched, runs: line } = facts
    if (facts.types !== undefined || (facts.network === true && conditions.network !== true)) return "no"
    // A rule that speaks of touches speaks of all that do something: what it does not name, it does not allow.
    const isCovered =
      (reads === undefined
        ? runs === undefined || facts.reads.every((path) => path === ".")
        : facts.reads.length > 0 && coversAll(reads, facts.reads)) &&
      coversAll(writes, pathsOf(facts)) &&
      coversAll(fetches, fetched === undefined ? [] : [urlOf(fetched)]) &&
      coversAll(runs, line === undefined ? [] : [command().words])
    return isCovered ? "yes" : "no"
  }
  return { covers, hits: (touched) => allFit(hitting, touched) }
}

/** One thing that a rule names. What can't be read is undefined: nothing covers it, and anything may hit it. */
interface Condition<A> {
  readonly covers: (value: A) => boolean
  readonly hits: (value: A) => Fit
}

interface Conditions<A> {
  readonly covers: (value: A) => boolean
  readonly hits: (values: ReadonlyArray<A | undefined>) => Fit
}

const compiled = <A>(
  given: string | ReadonlyArray<string> | undefined,
  compile: (condition: string) => Condition<A>
): Conditions<A> | undefined => {
  if (given === undefined) return undefined
  const conditions = [given].flat().map(compile)
  return {
    covers: (value) => conditions.some(({ covers }) => covers(value)),
    hits: (values) =>
      anyFits(values, (value) => (value === undefined ? "unknown" : anyFits(conditions, ({ hits }) => hits(value))))
  }
}

const coversAll = <A>(conditions: Conditions<A> | undefined, values: ReadonlyArray<A | undefined>): boolean =>
  conditions === undefined
    ? values.length === 0
    : values.length > 0 && values.every((value) => value !== undefined && conditions.covers(value))

const pathsOf = ({ writes }: Facts): ReadonlyArray<string> => writes.map(({ path }) => path)

// Who searches, moves or deletes a directory does so to what is in it.
const pathCondition = (glob: string): Condition<string> => {
  const covers = pathGlob(glob)
  const directory = directoryAbove(glob)
  const isAll = glob === `${directory}/**`
  return {
    covers,
    hits: (path) => {
      if (covers(path) || (isAll && path === directory)) return "yes"
      return path === "." || path === directory || directory.startsWith(`${path}/`) ? "unknown" : "no"
    }
  }
}

const urlOf = (text: string): URL | undefined => {
  const url = URL.parse(text)
  return url !== null && url.username === "" && url.password === "" ? url : undefined
}

// `example.com`, `*.example.com`, `example.com:8080`, `https://example.com/v1/**`
const urlCondition = (condition: string): Condition<URL> => {
  const parts =
    /^(?:(?<scheme>https?):\/\/)?(?<below>\*\.)?(?<host>[^/:*]+|\[[^\]]+\])(?::(?<port>\d+))?(?<path>\/.*)?$/.exec(
      condition
    )
  const { scheme, below, host = "", port, path } = parts?.groups ?? {}
  // Read as the URL will be: in another script, in other digits, with a dot at the end.
  const read = parts === null ? null : URL.parse(`http://${host}`)
  if (read === null || read.hostname === "" || /[@?#\\\s]/.test(host)) {
    throw new InvalidExpression(`${condition} is neither a host nor a URL; * stands for whole labels at the front`)
  }
  const name = hostOf(read)
  const isHost = (url: URL): boolean =>
    (scheme === undefined ? /^https?:$/.test(url.protocol) : url.protocol === `${scheme}:`) &&
    (below === undefined ? hostOf(url) === name : hostOf(url).endsWith(`.${name}`)) &&
    (port === undefined || portOf(url) === Number(port))
  const fitsPath = path === undefined ? undefined : pathGlob(path)
  return {
    covers: (url) =>
      isHost(url) &&
      (port !== undefined || url.port === "") &&
      (fitsPath === undefined || (!/%(?:2f|5c)/i.test(url.pathname) && fitsPath(url.pathname + url.search))),
    hits: (url) => {
      if (!isHost(url)) return "no"
      if (fitsPath === undefined || fitsPath(url.pathname + url.search) || fitsPath(url.pathname)) return "yes"
      // There are many ways to write the same path, and only the server knows which it takes.
      return /%|\/\/|;/.test(url.pathname) ? "unknown" : "no"
    }
  }
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/\.$/, "")

const portOf = ({ port, protocol }: URL): number => (port === "" ? (protocol === "https:" ? 443 : 80) : Number(port))

// `npm test`, `git diff **`, `eslint src/*.ts`
const commandCondition = (condition: string): Condition<ReadonlyArray<string>> => {
  const expected = condition.trim().split(/\s+/)
  const isOpen = expected.at(-1) === "**"
  const tests = (isOpen ? expected.slice(0, -1) : expected).map(textGlob)
  const [program = ""] = expected
  if (/^$|\*/.test(program)) throw new InvalidExpression(`${condition} must begin with a program's name, without *`)
  const covers = (words: ReadonlyArray<string>): boolean =>
    (isOpen ? words.length >= tests.length : words.length === tests.length) &&
    tests.every((test, place) => test(words[place] ?? ""))
  return {
    covers,
    // To forbid `rm` is to forbid `/bin/rm`.
    hits: (words) => (covers(words) || covers([programOf(words), ...words.slice(1)]) ? "yes" : "no")
  }
}

const hitsCommand = (runs: Conditions<ReadonlyArray<string>>, command: ReadCommand): Fit =>
  runs.hits(command.inside) === "yes" ? "yes" : isUnclear(command) ? "unknown" : "no"

/** Whether it may run something that it does not show. */
const isUnclear = ({ words, inside }: ReadCommand): boolean =>
  words === undefined || inside.some((command) => runsOthers(command) !== undefined)
