import { posix } from "node:path"

import type { Endpoint, Facts } from "@haft/core"
import { isWebPort, parseEndpoint, parseHostPattern } from "@haft/core/internal"

import type { TouchConditions } from "../rules/rule.ts"
import { mayMatchBelow, pathGlob, textGlob } from "./glob.ts"
import { allFit, anyFits, type Fit, InvalidExpression } from "./linear-expression.ts"
import { programOf, type ReadCommand, readCommand, runsOthers } from "./parse-command.ts"
import { isUnsafeOption } from "./unsafe-options.ts"

export interface Touched {
  readonly facts: Facts
  readonly command: () => ReadCommand
}

/** Tests whether a call touches what a rule names. */
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
  const connects = compiled(conditions.connects, hostCondition)
  const runs = compiled(conditions.runs, commandCondition)
  const hitting: ReadonlyArray<TouchTest> = [
    (touched) => (reads === undefined ? "yes" : orInCommand(reads.hits(readPaths(touched.facts)), reads, touched)),
    (touched) =>
      writes === undefined ? "yes" : orInCommand(writes.hits(writtenPaths(touched.facts)), writes, touched),
    (touched) => (fetches === undefined ? "yes" : hitsFetch(fetches, touched)),
    // Connections of a command are judged when it makes them.
    ({ facts }) => (connects === undefined ? "yes" : connects.hits(connected(facts))),
    (touched) => (runs === undefined ? "yes" : hitsCommand(runs, touched)),
    ({ facts }) => (conditions.network === true && facts.network !== true ? "no" : "yes")
  ]
  const covers = ({ facts, command }: Touched): Fit => {
    const { fetches: fetched, runs: line } = facts
    if (facts.types !== undefined || (facts.network === true && conditions.network !== true)) return "no"
    // A rule that speaks of touches speaks of all that do something: what it does not name, it does not allow.
    const isCovered =
      (reads === undefined
        ? runs === undefined || facts.reads.every((path) => path === ".")
        : facts.reads.length > 0 && coversAll(reads, facts.reads.map(asFile))) &&
      coversAll(writes, writtenPaths(facts)) &&
      coversAll(fetches, fetched === undefined ? [] : [urlOf(fetched)]) &&
      coversAll(connects, connected(facts)) &&
      coversAll(runs, line === undefined ? [] : [command().words])
    return isCovered ? "yes" : "no"
  }
  return { covers, hits: (touched) => allFit(hitting, touched) }
}

interface TouchedPath {
  readonly path: string
  readonly isDirectory: boolean
}

const asFile = (path: string): TouchedPath => ({ path, isDirectory: false })

const writtenPaths = ({ writes, directories = [] }: Facts): ReadonlyArray<TouchedPath> =>
  writes.map(({ path }) => ({ path, isDirectory: directories.includes(path) }))

// A file that is changed, moved or deleted is read on the way: it is in the diff, and in the place that it is moved to.
const readPaths = (facts: Facts): ReadonlyArray<TouchedPath> => [
  ...facts.reads.flatMap((path, at) =>
    facts.runs !== undefined && at === 0
      ? startOf(path)
      : [{ path, isDirectory: facts.directories?.includes(path) === true }]
  ),
  ...facts.writes
    .filter(({ exists }) => exists)
    .map(({ path }) => ({
      path,
      isDirectory: facts.directories?.includes(path) === true
    }))
]

/**
 * The working directory of a command. That it starts there does not say that it reads all below: a rule about the
 * directory itself, or about any name in it, hits; one about some file below is left to the words of the command.
 */
const startOf = (directory: string): ReadonlyArray<TouchedPath> =>
  directory === "." ? [asFile(anyName)] : [asFile(directory), asFile(`${directory}/${anyName}`)]

/**
 * Which files a command reads and writes is not known before it runs. One whose words name a path that a rule is about
 * hits it; any other may.
 */
const orInCommand = (fit: Fit, paths: Conditions<TouchedPath>, { facts, command }: Touched): Fit => {
  if (fit === "yes" || (facts.runs === undefined && facts.types === undefined)) return fit
  const [directory = "."] = facts.runs === undefined ? [] : facts.reads
  const { inside, redirected = [] } = facts.types === undefined ? command() : readCommand(facts.types.text)
  const named = [...inside.flat(), ...redirected]
    .flatMap((word) => [word, word.slice(word.indexOf("=") + 1)])
    .filter((word) => word !== "")
  const candidates = named.map((word) =>
    asFile(posix.normalize(posix.join(word.startsWith("/") ? "" : directory, word)))
  )
  return paths.hits(candidates) === "yes" ? "yes" : "unknown"
}

const hitsFetch = (fetches: Conditions<URL>, { facts, command }: Touched): Fit => {
  if (facts.fetches !== undefined) return fetches.hits([urlOf(facts.fetches)])
  if (facts.connects !== undefined) return fetches.hits([urlOf(`https://${facts.connects}`)])
  if (facts.types !== undefined) return "unknown"
  if (facts.runs === undefined || facts.network !== true) return "no"
  const urls = command()
    .inside.flat()
    .flatMap((word) => URL.parse(word) ?? URL.parse(`https://${word}`) ?? [])
  return fetches.hits(urls) === "yes" ? "yes" : "unknown"
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

/** A name that no glob spells out: what matches it below a directory matches everything there. */
const anyName = "\uE000"

const pathCondition = (glob: string): Condition<TouchedPath> => {
  const matches = pathGlob(glob)
  // Where a file system ignores case, a path that does not exist yet has no spelling of its own: what forbids one
  // spelling forbids all.
  const hits = hitsPath(glob)
  const hitsAnyCase = hitsPath(folded(glob))
  return {
    // A directory is covered with everything that is in it, or not at all.
    covers: ({ path, isDirectory }) => matches(path) && (!isDirectory || matches(`${path}/${anyName}/${anyName}`)),
    hits: (touched) => (hits(touched) || hitsAnyCase({ ...touched, path: folded(touched.path) }) ? "yes" : "no")
  }
}

// An operation on a directory is one on all that is in it. `docs/**` and `docs/a.md` say that `docs` is one.
const hitsPath = (glob: string): ((touched: TouchedPath) => boolean) => {
  const matches = pathGlob(glob)
  const mayMatch = mayMatchBelow(glob)
  return ({ path, isDirectory }) =>
    matches(path) || glob.startsWith(`${path}/`) || ((isDirectory || path === ".") && mayMatch(path))
}

const folded = (text: string): string => text.normalize("NFC").toLowerCase()

const urlOf = (text: string): URL | undefined => {
  const url = URL.parse(text)
  return url !== null && url.username === "" && url.password === "" ? url : undefined
}

const connected = ({ connects }: Facts): ReadonlyArray<Endpoint | undefined> =>
  connects === undefined ? [] : [parseEndpoint(connects)]

// `example.com`, `*.example.com`, `example.com:22`
const hostCondition = (condition: string): Condition<Endpoint> => {
  const pattern = parseHostPattern(condition)
  if (pattern === undefined) {
    throw new InvalidExpression(
      `touches.connects: '${condition}' is not a host such as example.com or *.example.com:8443`
    )
  }
  return {
    covers: ({ host, port }) =>
      pattern.matchesHost(host) && (pattern.port === undefined ? isWebPort(port) : pattern.port === port),
    hits: ({ host, port }) => (pattern.matchesHost(host) && (pattern.port ?? port) === port ? "yes" : "no")
  }
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
  const named = isOpen ? expected.slice(0, -1) : expected
  const tests = named.map(textGlob)
  const [program = ""] = expected
  if (/^$|\*/.test(program)) throw new InvalidExpression(`${condition} must begin with a program's name, without *`)
  const matches = (words: ReadonlyArray<string>): boolean =>
    (isOpen ? words.length >= tests.length : words.length === tests.length) &&
    tests.every((test, place) => test(words[place] ?? ""))
  // Wildcards stand for harmless words only: an option that runs or writes must be spelled out, and so must a
  // subcommand that runs what its arguments say.
  const isHarmless = (words: ReadonlyArray<string>): boolean =>
    words.every((word, place) => isSpelledOut(named[place], word) || !isUnsafeOption(words, word)) &&
    (!condition.includes("*") || runsOthers(words) === undefined || runsOthers(named) !== undefined)
  return {
    covers: (words) => matches(words) && isHarmless(words),
    // To forbid `rm` is to forbid `/bin/rm`.
    hits: (words) => (matches(words) || matches([programOf(words), ...words.slice(1)]) ? "yes" : "no")
  }
}

/** Tests whether a rule names a word: wholly, or as an option whose value it leaves open, `--output=*`. */
const isSpelledOut = (pattern: string | undefined, word: string): boolean => {
  if (pattern === undefined) return false
  const name = word.split("=")[0] ?? ""
  return !pattern.includes("*") || (name !== word && pattern.startsWith(`${name}=`))
}

const hitsCommand = (runs: Conditions<ReadonlyArray<string>>, { facts, command }: Touched): Fit => {
  if (facts.types !== undefined) {
    const typed = readCommand(facts.types.text)
    return runs.hits(typed.inside) === "yes" ? "yes" : "unknown"
  }
  if (facts.runs === undefined) return "no"
  return runs.hits(command().inside) === "yes" ? "yes" : isUnclear(command()) ? "unknown" : "no"
}

/** Tests for a command that may run something that it does not show. */
const isUnclear = ({ words, parts, inside }: ReadCommand): boolean =>
  (words === undefined && parts === undefined) || inside.some((command) => runsOthers(command) !== undefined)
