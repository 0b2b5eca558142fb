import { type ListError, type ToolError, toolError, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"

/** Which files of a directory a search looks at. */
export interface FileFilter {
  /** Where to look; undefined when there can't be any file that fits. */
  readonly directory: string | undefined
  /** For ripgrep, so that it passes over what does not fit. */
  readonly options: ReadonlyArray<string>
  readonly accepts: (path: string) => boolean
}

/**
 * Turns glob patterns into a filter. ripgrep's own --glob would bring back what `.gitignore` leaves out, so a
 * pattern for names becomes a file type, and one with directories a list of files that ripgrep's answer must be in.
 */
export const filterFiles = Effect.fnUntraced(function* (
  directory: string,
  patterns: ReadonlyArray<string>,
  { includeIgnored }: { readonly includeIgnored: boolean }
): Effect.fn.Return<FileFilter, ListError | ToolError<"invalid_pattern">, Workspace> {
  const workspace = yield* Workspace
  for (const pattern of patterns) {
    if (pattern.includes("\0") || pattern === "" || pattern === "!") {
      return yield* toolError("invalid_pattern", `invalid glob pattern '${pattern}': it is empty or contains NUL`)
    }
  }
  const wanted = patterns.filter((pattern) => !isExclusion(pattern)).map(simplified)
  const unwanted = patterns.filter(isExclusion).map((pattern) => simplified(pattern.slice(1)))
  const exclusions = unwanted.filter(isTypeName).map((name) => typeOption("unwanted", name))
  const below = directory === "." ? "" : `${directory}/`
  const negated = unwanted
    .filter((pattern) => !isTypeName(pattern))
    .map((pattern) => excluding(below, anyDepth(pattern)))
  const options = [...exclusions, ...(exclusions.length > 0 ? ["--type-not=unwanted"] : []), ...negated]
  if (wanted.length === 0 || wanted.includes("*")) return { directory, options, accepts: () => true }
  if (wanted.every(isTypeName)) {
    return {
      directory,
      options: [...wanted.map((name) => typeOption("wanted", name)), "--type=wanted", ...options],
      accepts: () => true
    }
  }

  const [only = ""] = wanted
  const deep = wanted.length === 1 ? /^([^*?[\]{}\\!()]+\/)\*\*\/([^/]+)$/u.exec(only) : null
  if (deep !== null && isTypeName(deep[2] ?? "")) {
    const start = below + (deep[1] ?? "").slice(0, -1)
    return {
      directory: (yield* isPlainDirectory(start)) ? start : undefined,
      options: [typeOption("wanted", deep[2] ?? ""), "--type=wanted", ...options],
      accepts: () => true
    }
  }

  const found = new Set<string>()
  for (const pattern of wanted) {
    const { paths } = yield* workspace.glob(directory, anyDepth(pattern), {
      limit: Number.POSITIVE_INFINITY,
      respectIgnore: !includeIgnored
    })
    for (const path of paths) found.add(below + path)
  }
  return { directory: found.size === 0 ? undefined : directory, options, accepts: (path) => found.has(path) }
})

const isExclusion = (pattern: string): boolean => pattern.startsWith("!") && pattern[1] !== "("

// A pattern without a slash is for names at any depth, and so is one whose only directories are any.
const simplified = (pattern: string): string => {
  const plain = pattern.replace(/^(?:\.\/+)+/u, "")
  const name = plain.replace(/^(?:\*\*\/)+/u, "")
  if (name === "**" || name === "*") return "*"
  return isName(name) ? name : plain.replace(/^\/+/u, "")
}

const isName = (pattern: string): boolean => !pattern.includes("/")

const anyDepth = (pattern: string): string => (isName(pattern) ? `**/${pattern}` : pattern)

// A colon means something in the definition of a type.
const isTypeName = (pattern: string): boolean => !/[/:]/u.test(pattern)

/** An option that keeps ripgrep away from what a pattern below a directory means. */
export const excluding = (below: string, pattern: string): string => `--glob=!/${literally(below)}${pattern}`

/** A pattern that means exactly this text. */
export const literally = (text: string): string => text.replaceAll(/[*?[{}\\]/gu, "[$&]")

const typeOption = (type: string, name: string): string => `--type-add=${type}:${name}`

const isPlainDirectory = Effect.fnUntraced(function* (path: string) {
  const workspace = yield* Workspace
  const info = yield* Effect.option(workspace.info(path))
  return info._tag === "Some" && info.value.kind === "directory" && info.value.path === path
})
