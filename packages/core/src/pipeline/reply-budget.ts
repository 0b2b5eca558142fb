import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

import { whyNoData } from "../schema/reply-limits.ts"
import { artifactAddress, artifactLink, Artifacts } from "../services/artifacts.ts"
import { clipText } from "../text/clip.ts"
import { makeToolError, type ToolError } from "../tool-error.ts"
import type { Executed } from "../tool.ts"
import type { CallContext, ContentBlock } from "./call.ts"

/** Bytes of a reply's output, and of its text, by default. */
export const standardReplyBytes: number = 512 * 1024

/** A part of an output that was shortened. */
export interface ShortenedPart {
  /** The field, such as `deleted` or `files.3.content`. */
  readonly field: string
  /** Entries of a list or bytes of a text, all of them and those that are left. */
  readonly total: number
  readonly shown: number
}

/** Note on the parts left out of a reply beyond the budget, and the artifact that has all of it. */
export interface Shortened {
  readonly parts: ReadonlyArray<ShortenedPart>
  readonly bytes: number
  /** Its address, for tools that read. */
  readonly artifact?: string
}

export interface ReplyBudget {
  readonly bytes: number
  /**
   * False for a contract that says that texts are returned whole: then only lists are shortened, and texts that have a
   * field `truncated` beside them.
   */
  readonly clipsTexts: boolean
}

/**
 * Holds an answer to a budget. One that is larger keeps the first and last entries of its lists and the beginning and
 * end of its texts; the whole of it becomes an artifact that the reply names.
 */
export const holdToBudget = (executed: Executed, call: CallContext, budget: ReplyBudget): Effect.Effect<Executed> => {
  const { output, text } = executed
  if (text.length <= budget.bytes && !exceeds(output, budget.bytes)) return Effect.succeed(executed)
  // Output beyond the limits of data is a bug of the tool, and ends the call as one.
  if (whyNoData(output) !== undefined || whyNoData(text) !== undefined) return Effect.succeed(executed)
  const clipping = shorten(output, budget)
  const clippedText = clipText(text, keptBytes(budget))
  const isTextKept = !budget.clipsTexts && clipping.parts.length === 0
  if (isTextKept || (clipping.parts.length === 0 && !clippedText.truncated)) return Effect.succeed(executed)
  // By lines, so that it can be searched and read in parts.
  const whole = JSON.stringify(output, null, 1)
  const path = `replies/step_${String(call.step).padStart(4, "0")}.json`
  return Effect.serviceOption(Artifacts).pipe(
    Effect.flatMap(
      Option.match({
        onNone: () => Effect.succeed(undefined),
        onSome: (artifacts) =>
          artifacts.save(path, whole).pipe(
            Effect.map(() => artifactAddress(call.run ?? "", path)),
            Effect.catch(() => Effect.succeed(undefined))
          )
      })
    ),
    Effect.map((artifact): Executed => {
      const shortened = { parts: clipping.parts, bytes: whole.length, ...(artifact !== undefined && { artifact }) }
      const noted = `${clippedText.text.trimEnd()}\n${noteOn(shortened)}`
      const blocks: ReadonlyArray<ContentBlock> = [
        ...executed.blocks.map((block) => (block.type === "text" ? { ...block, text: noted } : block)),
        ...(artifact === undefined ? [] : [artifactLink(artifact, "application/json")])
      ]
      return { output: clipping.value as Executed["output"], text: noted, blocks, shortened }
    })
  )
}

/**
 * Holds a failure to the same budget: messages quote arguments, which may be megabytes. What was left out is not kept,
 * because the caller sent it.
 */
export const holdErrorToBudget = (error: ToolError, budget: ReplyBudget): ToolError => {
  const { code, message, suggestion, details, retryable, output } = error
  const told = { message, suggestion, details }
  if (!exceeds([told, output], budget.bytes) || whyNoData([told, output]) !== undefined) return error
  const kept = shorten(told, { ...budget, clipsTexts: true }).value as typeof told
  return makeToolError(code, kept.message, {
    ...(kept.suggestion !== undefined && { suggestion: kept.suggestion }),
    ...(kept.details !== undefined && { details: kept.details }),
    ...(retryable !== undefined && { retryable }),
    ...(output !== undefined && { output: shorten(output, budget).value })
  })
}

const noteOn = ({ parts, bytes, artifact }: Shortened): string => {
  const told = parts.slice(0, 5).map(({ field, total, shown }) => `${field}: ${shown} of ${total} shown`)
  const where = artifact === undefined ? "The rest was not kept" : `All of it is in ${artifact}`
  return `[The reply was too large (${bytes} bytes)${told.length === 0 ? "" : `; ${told.join(", ")}`}. ${where}.]`
}

/** Shortened form of a reply beyond the budget: enough to see what it is about. */
const keptBytes = ({ bytes }: ReplyBudget): number => Math.max(1_024, Math.floor(bytes / 8))

interface Clipping {
  readonly value: unknown
  readonly parts: Array<ShortenedPart>
}

// Lists and texts are cut to a share of what may be kept. Where they are many, the shares get smaller until all fit.
const shorten = (output: unknown, budget: ReplyBudget): Clipping => {
  for (let share = keptBytes(budget); ; share = Math.floor(share / 4)) {
    const parts: Array<ShortenedPart> = []
    const value = new Shortener(share, budget.clipsTexts, parts).of(output, "", false)
    if (share < 64 || !exceeds(value, budget.bytes)) return { value, parts }
  }
}

class Shortener {
  readonly #share: number
  readonly #clipsTexts: boolean
  readonly #parts: Array<ShortenedPart>

  constructor(share: number, clipsTexts: boolean, parts: Array<ShortenedPart>) {
    this.#share = share
    this.#clipsTexts = clipsTexts
    this.#parts = parts
  }

  of(value: unknown, field: string, tellsTruncation: boolean): unknown {
    if (typeof value === "string") return this.#clips(value, tellsTruncation) ? this.#text(value, field) : value
    if (typeof value !== "object" || value === null) return value
    return Array.isArray(value) ? this.#list(value, field) : this.#object(value, field)
  }

  #clips(text: string, tellsTruncation: boolean): boolean {
    return text.length > this.#share && (this.#clipsTexts || tellsTruncation || text.length > longestContractText)
  }

  #text(text: string, field: string): string {
    const clipped = clipText(text, this.#share)
    this.#parts.push({ field, total: clipped.totalBytes, shown: clipped.totalBytes - clipped.omittedBytes })
    return clipped.text
  }

  #list(values: ReadonlyArray<unknown>, field: string): unknown {
    const each = (value: unknown, at: number): unknown => this.of(value, `${field}.${at}`, false)
    if (!exceeds(values, this.#share)) return values
    const half = Math.floor(this.#share / 2)
    const first = entriesWithin(values, half)
    const last = entriesWithin(values.slice(first.length).toReversed(), half).toReversed()
    const shown = first.length + last.length
    if (shown === values.length) return values.map(each)
    // One entry that is too large by itself is shortened in turn.
    const kept = shown === 0 ? values.slice(0, 1) : [...first, ...last]
    this.#parts.push({ field, total: values.length, shown: kept.length })
    return kept.map(each)
  }

  #object(fields: object, field: string): unknown {
    const entries = Object.entries(fields)
    const tells = entries.some(([key, value]) => key === "truncated" && typeof value === "boolean")
    const before = this.#parts.length
    const shortened = entries.map(([key, value]) => [
      key,
      this.of(value, field === "" ? key : `${field}.${key}`, tells)
    ])
    if (tells && this.#parts.length > before) shortened.push(["truncated", true])
    return Object.fromEntries(shortened)
  }
}

/** The largest text that a contract returns whole. */
const longestContractText = 10 * 1024 * 1024

const entriesWithin = (values: ReadonlyArray<unknown>, bytes: number): ReadonlyArray<unknown> => {
  let left = bytes
  let count = 0
  while (count < values.length && left > 0) {
    left -= sizeOf(values[count], left)
    if (left >= 0) count++
  }
  return values.slice(0, count)
}

const exceeds = (value: unknown, bytes: number): boolean => sizeOf(value, bytes) > bytes

const deepest = 1_000

// About the length of the JSON. Ends as soon as it is beyond the limit.
const sizeOf = (value: unknown, limit: number, level = 0): number => {
  if (typeof value === "string") return value.length + 3
  if (typeof value !== "object" || value === null) return 6
  if (level > deepest) return Number.POSITIVE_INFINITY
  let sum = 2
  if (Array.isArray(value)) {
    for (const inner of value) {
      sum += sizeOf(inner, limit - sum, level + 1)
      if (sum > limit) return sum
    }
    return sum
  }
  for (const key in value) {
    sum += key.length + 4 + sizeOf((value as Readonly<Record<string, unknown>>)[key], limit - sum, level + 1)
    if (sum > limit) return sum
  }
  return sum
}
