import { type ListError, makeToolError, type ToolError, toolError, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"

import { fitOneList, maximumArguments } from "./ripgrep.ts"

/** Which files of a directory a search looks at. */
export interface FileFilter {
  /** Where to look; undefined when there can't be any file that fits. */
  readonly directory: string | undefined
  /** For ripgrep, so that it passes over what does not fit. */
  readonly options: ReadonlyArray<string>
  readonly accepts: (path: string) => boolean
  /** How many files fit, when that is known beforehand. */
  readonly files?: number
  /** True when there was no time to find all files that fit. */
  readonly timedOut?: boolean
  /** Directories that could not be read when files were looked for. */
  readonly unreadable?: number
  /** Each pattern as the caller wrote it, by the pattern that was made of it: errors quote the former. */
  readonly written?: ReadonlyMap<string, string>
}

/**
 * Turns glob patterns into a filter. ripgrep's own --glob would bring back what `.gitignore` leaves out, so a
 * pattern for names becomes a file type, and one with directories a list of files that ripgrep's answer must be in,
 * with a type that spares it most others.
 */
export const filterFiles = Effect.fnUntraced(function* (
  directory: string,
  patterns: ReadonlyArray<string>,
  { includeIgnored, timeLimitMs }: { readonly includeIgnored: boolean; readonly timeLimitMs: number }
): Effect.fn.Return<FileFilter, ListError | ToolError<"invalid_pattern">, Workspace> {
  const workspace = yield* Workspace
  for (const pattern of patterns) {
    const problem = problemOf(pattern)
    if (problem !== undefined) {
      return yield* toolError("invalid_pattern", `invalid glob pattern '${pattern}': ${problem}`, {
        suggestion: "Give a pattern for paths below the directory, such as *.ts or src/**/*.ts."
      })
    }
  }
  const wanted = patterns.filter((pattern) => !isExclusion(pattern)).map((pattern) => parsed(pattern))
  const unwanted = patterns.filter(isExclusion).map((pattern) => parsed(pattern.slice(1)))
  const below = directory === "." ? "" : `${directory}/`
  const written = new Map([
    ...wanted.map(({ glob, text }) => [glob, text] as const),
    ...unwanted.map((pattern) => [exclusion(below, fromDirectory(pattern)), `!${pattern.text}`] as const)
  ])
  const exclusions = unwanted.map((pattern) => excluding(below, fromDirectory(pattern)))
  if (wanted.length === 0 || wanted.some(({ glob, isAnchored }) => glob === "*" && !isAnchored)) {
    return { directory, options: yield* checked(exclusions), accepts: () => true, written }
  }
  const isForNames = wanted.every(isName)
  const names = isForNames ? wanted.map(({ glob }) => glob) : namesIn(wanted)
  const options = yield* checked([...ofType(names), ...exclusions])
  if (isForNames) return { directory, options, accepts: () => true, written }

  const found = new Set<string>()
  const until = Date.now() + timeLimitMs
  let timedOut = false
  let unreadable = 0
  for (const pattern of wanted) {
    const glob = fromDirectory(pattern)
    const { paths, ...walked } = yield* workspace
      .glob(directory, glob, {
        limit: Number.POSITIVE_INFINITY,
        respectIgnore: !includeIgnored,
        timeLimitMs: Math.max(1, until - Date.now())
      })
      .pipe(Effect.mapError((error) => asWritten(error, new Map([[glob, pattern.text]]))))
    for (const path of paths) found.add(below + path)
    timedOut ||= walked.timedOut === true
    unreadable = Math.max(unreadable, walked.unreadable ?? 0)
  }
  return {
    directory: found.size === 0 ? undefined : unwanted.length > 0 ? directory : aboveAll(found, directory),
    options,
    accepts: (path) => found.has(path),
    files: found.size,
    timedOut,
    unreadable,
    written
  }
})

const problemOf = (pattern: string): string | undefined => {
  if (pattern.includes("\0") || pattern === "" || pattern === "!") return "it is empty or contains NUL"
  return pattern.split(/[/!]/u).includes("..") ? "it leads out of the directory with '..'" : undefined
}

const isExclusion = (pattern: string): boolean => pattern.startsWith("!") && pattern[1] !== "("

/** An error about a pattern, with the pattern as the caller wrote it. */
export const asWritten = <E extends ToolError>(error: E, written: ReadonlyMap<string, string> = new Map()): E => {
  const { code, message, suggestion, details } = error
  for (const [pattern, text] of code === "invalid_pattern" ? written : []) {
    const start = `invalid glob pattern '${pattern}': `
    if (!message.startsWith(start)) continue
    return makeToolError(code, `invalid glob pattern '${text}': ${message.slice(start.length)}`, {
      ...(suggestion !== undefined && { suggestion }),
      ...(details !== undefined && { details: { ...details, pattern: text } })
    }) as E
  }
  return error
}

interface Pattern {
  /** As the caller wrote it. */
  readonly text: string
  readonly glob: string
  /** False for names at any depth. */
  readonly isAnchored: boolean
}

// A pattern without a slash is for names at any depth, and so is one whose only directories are any. A slash at its
// end says that it is for directories.
const parsed = (pattern: string): Pattern => {
  const plain = pattern.replace(/^(?:\.?\/)+/u, "")
  const glob = plain === pattern ? plain.replace(/^(?:\*\*\/)+/u, "") : plain
  if (glob === "**") return { text: pattern, glob: "*", isAnchored: false }
  return glob.slice(0, -1).includes("/")
    ? { text: pattern, glob: plain, isAnchored: true }
    : { text: pattern, glob, isAnchored: plain !== pattern }
}

const fromDirectory = ({ glob, isAnchored }: Pattern): string => (isAnchored ? glob : `**/${glob}`)

// A colon means something in the definition of a type.
const isName = ({ glob, isAnchored }: Pattern): boolean => !isAnchored && !/[/:]/u.test(glob)

/** Names that every wanted file fits, to spare ripgrep the others. None where ripgrep and we may read them differently. */
const namesIn = (patterns: ReadonlyArray<Pattern>): ReadonlyArray<string> => {
  const names = patterns.map(({ glob }) => glob.slice(glob.lastIndexOf("/") + 1))
  return names.every((name) => plainName.test(name) && name !== "*") ? names : []
}

const plainName = /^(?!.*\*\*)(?:[\w.*-]|\{[\w-]+(?:,[\w-]+)+\})+$/u

const ofType = (names: ReadonlyArray<string>): ReadonlyArray<string> =>
  names.length === 0 ? [] : [...names.map((name) => `--type-add=wanted:${name}`), "--type=wanted"]

const checked = (options: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<string>, ToolError<"invalid_pattern">> =>
  fitOneList(options)
    ? Effect.succeed(options)
    : toolError("invalid_pattern", `the glob patterns are too many, or too long: over ${maximumArguments} bytes`, {
        suggestion: "Give fewer of them, or search a directory further down."
      })

/** The deepest directory that all of these are below. */
const aboveAll = (paths: ReadonlySet<string>, directory: string): string => {
  let common: ReadonlyArray<string> | undefined
  for (const path of paths) {
    const names = path.split("/").slice(0, -1)
    const length = common?.findIndex((name, depth) => name !== names[depth]) ?? -1
    common = length < 0 ? (common ?? names) : common?.slice(0, length)
  }
  return common === undefined || common.length === 0 ? directory : common.join("/")
}

/** An option that keeps ripgrep away from what a pattern below a directory means. */
export const excluding = (below: string, pattern: string): string => `--glob=${exclusion(below, pattern)}`

const exclusion = (below: string, pattern: string): string => `!/${literally(below)}${pattern}`

/** A pattern that means exactly this text. ripgrep takes white space away from the end of one, whatever kind it is. */
export const literally = (text: string): string => text.replaceAll(/[*?[{}\\\s\u0085]/gu, "[$&]")
