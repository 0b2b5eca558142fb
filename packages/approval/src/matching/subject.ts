import { createHash } from "node:crypto"
import { posix } from "node:path"

import type { ApprovalRequest } from "@haft/core"

import { markQuotes, type PatternSubject } from "./argument-pattern.ts"
import { Effort } from "./match-budget.ts"
import { type ReadCommand, readCommand } from "./parse-command.ts"
import { jsonPieces } from "./stable-json.ts"

/** A call as rules see it. What is costly is worked out once, and only when a rule needs it. */
export interface Subject extends Pick<ApprovalRequest, "input" | "facts">, PatternSubject {
  readonly dialect: string
  /** The values of fields that a caller leaves out; undefined where that is not known. */
  readonly defaults: () => Readonly<Record<string, unknown>> | undefined
  readonly workspace: string
  /** Milliseconds since the epoch. */
  readonly now: number
  readonly json: () => string
  /** The ways in which a path that the caller wrote can be meant: as it is, without detours, from the workspace. */
  readonly spellings: (path: string) => ReadonlyArray<string>
  readonly sha256: () => string
  readonly command: () => ReadCommand
}

export const subjectOf = (
  request: ApprovalRequest,
  at: { readonly workspace: string; readonly now: number }
): Subject => {
  const { input, facts } = request
  const pieces = once(() => jsonPieces(input))
  const json = once(() => pieces().whole())
  return {
    input,
    facts,
    dialect: request.call.dialect,
    defaults: request.defaults ?? (() => undefined),
    ...at,
    effort: new Effort(),
    pieces,
    json,
    spellings: remembering((path) => {
      const plain = posix.normalize(path.replaceAll("\\", "/"))
      return [...new Set([path, plain, posix.relative(at.workspace, posix.resolve(at.workspace, plain))])]
    }),
    marked: once(() => markQuotes(pieces())),
    sha256: once(() => createHash("sha256").update(json()).digest("hex")),
    command: once(() => readCommand(facts.runs ?? ""))
  }
}

/** A field of decoded arguments, by its name or by a path of names with dots between. */
export const fieldOf = (input: unknown, field: string): unknown => {
  if (typeof input !== "object" || input === null) return undefined
  if (Object.hasOwn(input, field)) return (input as Readonly<Record<string, unknown>>)[field]
  const dot = field.indexOf(".")
  return dot < 0 ? undefined : fieldOf(fieldOf(input, field.slice(0, dot)), field.slice(dot + 1))
}

/** The texts of a field: itself, or those of a list. */
export const textsOf = (input: unknown, field: string): ReadonlyArray<string> =>
  [fieldOf(input, field)].flat().filter((value) => typeof value === "string")

const once = <A>(make: () => A): (() => A) => {
  let made: { readonly value: A } | undefined
  return () => (made ??= { value: make() }).value
}

const remembering = <A>(make: (key: string) => A): ((key: string) => A) => {
  const made = new Map<string, A>()
  return (key) => {
    const known = made.get(key)
    if (known !== undefined) return known
    const value = make(key)
    made.set(key, value)
    return value
  }
}
