import type Micromatch from "micromatch"

import { hasOnlyStars } from "./pattern.ts"

/**
 * How far into the patterns a directory has come. What is asked next is whether a file in it matches, or how far a
 * directory in it comes.
 */
export type Reached = ReadonlyArray<Step>

type NameTest = Pick<RegExp, "test">

/** One part of a pattern, between its slashes. */
interface Step {
  readonly kind: "name" | "any directories" | "whole path"
  readonly expression: NameTest | undefined
  /** Undefined when it is the last. */
  readonly next: Step | undefined
}

/**
 * Patterns as fast-glob reads them, matched name by name on the way down: what a directory's own path has to do with
 * a pattern is found out once, not again for every file in it, and where nothing can match nobody looks.
 */
export const compileGlob = async (pattern: string): Promise<Reached> => {
  // Loaded by the first glob: most short-lived hosts never see one.
  const [{ default: fastGlob }, { default: micromatch }] = await Promise.all([
    import("fast-glob"),
    import("micromatch")
  ])
  const expanded = fastGlob.generateTasks(pattern, { dot: true }).flatMap(({ patterns }) => patterns)
  const isWild = (one: string): boolean => fastGlob.isDynamicPattern(one.replaceAll(/\\./gsu, "x"))
  // A `**` at the end can be nothing at all, unless a `*` or a directory's own name is before it.
  const ended = expanded
    .map((one) => one.replace(/(?:\/\*\*)+$/u, ""))
    .filter((one) => one !== "" && !/(?<!\\)\*$/u.test(one) && isWild(one))
  return closed([...new Set([...expanded, ...ended])].map((one) => firstStep(micromatch, one)))
}

/** True when a file of that name in the directory matches. */
export const matchesFile = (reached: Reached, path: string, name: string): boolean =>
  reached.some(({ kind, expression, next }) => {
    if (kind === "whole path") return expression?.test(path)
    return kind === "name" && next === undefined && (expression === undefined || expression.test(name))
  })

/** How far the patterns come in a directory of that name; nothing can match below when there is no step. */
export const enterDirectory = (reached: Reached, name: string): Reached =>
  closed(
    reached.flatMap((step) => {
      if (step.kind !== "name") return [step]
      if (step.next === undefined) return []
      return step.expression === undefined || step.expression.test(name) ? [step.next] : []
    })
  )

/** Any directories can also be none. */
const closed = (steps: ReadonlyArray<Step>): Reached => {
  const all = new Set<Step>()
  for (const first of steps) {
    let step: Step | undefined = first
    while (step !== undefined && !all.has(step)) {
      all.add(step)
      step = step.kind === "any directories" ? step.next : undefined
    }
  }
  return [...all]
}

/** Options that fast-glob passes to micromatch, which decides the meaning of a part. */
const options = {
  dot: true,
  matchBase: false,
  nobrace: false,
  nocase: false,
  noext: false,
  noglobstar: false,
  posix: true,
  strictSlashes: false
}

const firstStep = (micromatch: typeof Micromatch, pattern: string): Step => {
  const expressionOf = (text: string): RegExp => {
    // After a slash at the end: the pattern is for directories, and only files are looked for.
    if (text === "") return /(?!)/u
    const { source, flags } = micromatch.makeRe(text, options) || /(?!)/u
    // A name may hold a line break.
    return new RegExp(source, `${flags}s`)
  }
  const parts = partsOf(pattern)
  if (parts === undefined) return { kind: "whole path", expression: expressionOf(pattern), next: undefined }
  let step: Step | undefined
  for (const part of parts.toReversed()) {
    if (part === "**" && step === undefined) step = { kind: "name", expression: undefined, next: undefined }
    if (part === "**") step = { kind: "any directories", expression: undefined, next: step }
    // At the beginning of a part, but not of a pattern, `!` means itself.
    else
      step = {
        kind: "name",
        expression: part === "*" ? undefined : (manyStars(part) ?? expressionOf(part.replace(/^!(?!\()/u, "\\!"))),
        next: step
      }
  }
  return step ?? { kind: "whole path", expression: expressionOf(pattern), next: undefined }
}

/** Parts between the slashes; undefined when a slash is inside of brackets, or a `**` beside other characters crosses them. */
const partsOf = (pattern: string): ReadonlyArray<string> | undefined => {
  const plain = pattern.replaceAll(/\\./gsu, "xx")
  return /\[[^\]]*\/|\([^)]*\/|\*\*[^/]|[^/]\*\*/u.test(plain) ? undefined : pattern.split("/")
}

/** Stars that an expression takes in good time, see pattern.ts. */
const fewStars = 3

/** Matches a part with many `*` and nothing else but `?`: each text between two stars is found at its first place. */
const manyStars = (part: string): NameTest | undefined => {
  if (part.split("*").length - 1 <= fewStars || !hasOnlyStars(part)) return undefined
  const [first = "", ...middle] = part.split("*")
  const last = middle.pop() ?? ""
  const isAt = (name: string, text: string, place: number): boolean => {
    for (let at = 0; at < text.length; at++) if (text[at] !== "?" && text[at] !== name[place + at]) return false
    return true
  }
  return {
    test: (name) => {
      const end = name.length - last.length
      if (first.length > end || !isAt(name, first, 0) || !isAt(name, last, end)) return false
      let place = first.length
      for (const text of middle) {
        while (place + text.length <= end && !isAt(name, text, place)) place++
        place += text.length
        if (place > end) return false
      }
      return true
    }
  }
}
