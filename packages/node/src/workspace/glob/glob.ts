import type { GlobOptions, GlobResult, ToolError, WalkEntry, WalkStep } from "@haft/core"
import * as Effect from "effect/Effect"

import { repeatUntilDone } from "../content.ts"
import type { Held } from "../paths/handles.ts"
import type { ReadLock } from "../read-lock.ts"
import type { EnteredDirectory, Walk, WalkVisitor } from "../walk.ts"
import { type IgnoreRules, noRules, withIgnoreFile } from "./gitignore.ts"
import { compileGlob, enterDirectory, matchesFile, type Reached } from "./matcher.ts"
import { checkPattern, normalizedPattern } from "./pattern.ts"

/** How a glob reads the workspace: contained, synchronous, following no link. Paths are relative to the workspace. */
export interface GlobSource {
  readonly walk: (directory: string, visitor: WalkVisitor) => Walk
  /** A file's content, or undefined when there is none to read. */
  readonly read: (directory: Held, name: string) => Uint8Array | undefined
  readonly readAt: (directory: string, name: string) => Uint8Array | undefined
  readonly isThere: (path: string) => boolean
  /** Reads under the read lock. */
  readonly shared: ReadLock["shared"]
}

/** The regular files, and symbolic links if so asked, below `directory` whose path, relative to it, matches. */
export const globFiles = Effect.fnUntraced(function* (
  source: GlobSource,
  directory: string,
  pattern: string,
  options: GlobOptions = {}
): Effect.fn.Return<GlobResult, ToolError<"invalid_pattern">> {
  const problem = checkPattern(pattern)
  if (problem !== undefined) return yield* problem
  const visitor = new GlobVisitor(
    source,
    directory,
    yield* Effect.promise(() => compileGlob(normalizedPattern(pattern))),
    options
  )
  if (directory.split("/").includes(".git")) return visitor.result()
  const until = performance.now() + (options.timeLimitMs ?? Number.POSITIVE_INFINITY)
  let isDone = false
  yield* Effect.acquireUseRelease(
    Effect.sync(() => source.walk(directory, visitor)),
    (walk) =>
      repeatUntilDone(source.shared(Effect.sync(() => (isDone = walk.advance(20)) || performance.now() > until))),
    (walk) => Effect.sync(walk.close)
  )
  return isDone ? visitor.result() : { ...visitor.result(), timedOut: true }
})

/** Sees no `.git`, nothing through a link, nothing too deep, nothing ignored if so asked. */
class GlobVisitor implements WalkVisitor {
  readonly #source: GlobSource
  readonly #prefix: string
  readonly #limit: number
  readonly #maxDepth: number
  readonly #respectIgnore: boolean
  readonly #includeLinks: boolean
  readonly #paths: Array<string> = []
  readonly #links: Array<string> = []
  #total = 0
  #unreadable = 0
  #unnameable = 0
  #tooDeep = 0
  /** By depth, on the way to where the walk is. */
  readonly #reached: Array<Reached>
  readonly #rules: Array<IgnoreRules>
  /** Tests directories that the walk will enter, by path. */
  readonly #ahead = new Map<string, { readonly reached: Reached; readonly rules: IgnoreRules }>()

  constructor(
    source: GlobSource,
    directory: string,
    reached: Reached,
    { limit = 1000, maxDepth = Number.POSITIVE_INFINITY, respectIgnore = false, includeLinks = false }: GlobOptions
  ) {
    this.#source = source
    this.#prefix = directory === "." ? "" : `${directory}/`
    this.#limit = limit
    this.#maxDepth = maxDepth
    this.#respectIgnore = respectIgnore
    this.#includeLinks = includeLinks
    this.#reached = [reached]
    this.#rules = [this.#rulesAbove(directory)]
  }

  enter({ path, entries, depth, held }: EnteredDirectory): void {
    const ahead = this.#ahead.get(path)
    if (ahead !== undefined) {
      this.#ahead.delete(path)
      this.#reached[depth] = ahead.reached
      this.#rules[depth] = ahead.rules
    }
    if (!this.#respectIgnore || !entries.some(({ name }) => name === ".gitignore")) return
    const content = this.#source.read(held, ".gitignore")
    if (content === undefined) return
    this.#rules[depth] = withIgnoreFile(this.#rules[depth] ?? noRules, this.#prefix + path, content)
  }

  skip(path: string): void {
    this.#ahead.delete(path)
    this.#unreadable++
  }

  visit({ path, name, kind, depth }: WalkEntry): WalkStep {
    if (name === ".git") return "skip"
    const reached = this.#reached[depth] ?? []
    if (kind === "file" || (kind === "symlink" && this.#includeLinks)) {
      if (matchesFile(reached, path, name) && !this.#isIgnored(path, name, depth, false)) this.#found(path, name, kind)
      return "continue"
    }
    if (kind !== "directory") return "skip"
    const below = enterDirectory(reached, name)
    if (below.length === 0 || this.#isIgnored(path, name, depth, true)) return "skip"
    if (depth >= this.#maxDepth) {
      this.#tooDeep++
      return "skip"
    }
    this.#ahead.set(`${path}/`, { reached: below, rules: this.#rules[depth] ?? noRules })
    return "continue"
  }

  result(): GlobResult {
    return {
      paths: this.#paths,
      total: this.#total,
      unreadable: this.#unreadable,
      ...(this.#includeLinks && { links: this.#links }),
      ...(this.#tooDeep > 0 && { tooDeep: this.#tooDeep }),
      ...(this.#unnameable > 0 && { unnameable: this.#unnameable })
    }
  }

  #isIgnored(path: string, name: string, depth: number, isDirectory: boolean): boolean {
    const rules = this.#rules[depth]
    return rules !== undefined && rules !== noRules && rules.ignores(this.#prefix + path, name, isDirectory)
  }

  #found(path: string, name: string, kind: "file" | "symlink"): void {
    // Node puts this character where a name is not UTF-8, and then there is nothing of the name it gives.
    if (name.includes("\uFFFD") && !this.#source.isThere(this.#prefix + path)) {
      this.#unnameable++
      return
    }
    if (this.#total++ >= this.#limit) return
    this.#paths.push(path)
    if (kind === "symlink") this.#links.push(path)
  }

  #rulesAbove(start: string): IgnoreRules {
    if (!this.#respectIgnore || start === "." || start === "") return noRules
    const names = start.split("/")
    let rules = noRules
    for (const [depth, name] of names.entries()) {
      const above = names.slice(0, depth)
      const content = this.#source.readAt(above.join("/") || ".", ".gitignore")
      if (content !== undefined) rules = withIgnoreFile(rules, above.map((outer) => `${outer}/`).join(""), content)
      // A directory that is ignored itself was asked for by name, so the rules above it do not count.
      if (rules.ignores([...above, name].join("/"), name, true)) rules = noRules
    }
    return rules
  }
}
