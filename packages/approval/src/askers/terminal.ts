import type { Readable, Writable } from "node:stream"
import { setTimeout } from "node:timers/promises"
import { styleText } from "node:util"

import { type Answer, type Remembering, visibleText } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Semaphore from "effect/Semaphore"

import { Asker, type Question } from "./asker.ts"
import { describeRequest, printRequest, printRule, promptOf } from "./describe-request.ts"

export interface TerminalOptions {
  readonly input: Readable & { readonly isTTY?: boolean }
  readonly output: Writable & { readonly isTTY?: boolean; readonly rows?: number }
  /** True if a person sits at the terminal; by default if both streams are terminals. If not, every answer is no. */
  readonly interactive?: boolean
  readonly color?: boolean
}

/** Asks at a terminal, one question at a time: y, n, always, edit. */
export const askInTerminal = (options: TerminalOptions): Layer.Layer<Asker> =>
  Layer.sync(Asker, () => {
    const oneAtATime = Semaphore.makeUnsafe(1)
    return {
      ask: (question) => {
        // Not before there is a question: standard input is opened by looking at it.
        const { input, output } = options
        const isInteractive = options.interactive ?? (input.isTTY === true && output.isTTY === true)
        if (!isInteractive) return Effect.succeed(refusal)
        const lines = Effect.acquireUseRelease(
          Effect.sync(() => openLines(options)),
          (lines) => Effect.promise(() => converse(question, lines, options)),
          (lines) => Effect.sync(lines.close)
        )
        return oneAtATime.withPermits(1)(lines)
      }
    }
  })

const refusal: Answer = {
  approved: false,
  unanswered: true,
  reason: "there is no terminal to ask at; allow the call by a rule, or approve everything explicitly"
}

/** How long to look for lines that were typed before there was a question. */
const typedAheadMs = 30

interface Lines {
  /** Forgets what was typed before the question was shown: it was not meant for it. */
  readonly forgetTypedAhead: () => Promise<void>
  /** The next line, or undefined when there will be none. */
  readonly next: () => Promise<string | undefined>
  readonly show: (text: string) => void
  readonly close: () => void
}

const openLines = ({ input, output }: TerminalOptions): Lines => {
  // Loaded here, because most calls ask nobody.
  const { createInterface } = process.getBuiltinModule("node:readline")
  const reader = createInterface({ input, terminal: false })
  const arrived: Array<string> = []
  const waiting: Array<(line: string | undefined) => void> = []
  let isOver = false
  const end = (): void => {
    isOver = true
    for (const resolve of waiting.splice(0)) resolve(undefined)
  }
  reader.on("line", (line) => {
    const resolve = waiting.shift()
    if (resolve === undefined) arrived.push(line)
    else resolve(line)
  })
  // readline passes its input's errors on, but not its end without one.
  reader.on("close", end).on("error", end)
  input.once("close", end)
  return {
    forgetTypedAhead: async () => {
      if (input.isTTY !== true) return
      await setTimeout(typedAheadMs)
      arrived.length = 0
    },
    next: () => {
      const line = arrived.shift()
      if (line !== undefined || isOver) return Promise.resolve(line)
      return new Promise((resolve) => waiting.push(resolve))
    },
    show: (text) => void output.write(text),
    close: () => {
      input.off("close", end)
      reader.close()
    }
  }
}

const converse = async (question: Question, lines: Lines, options: TerminalOptions): Promise<Answer> => {
  const description = describeRequest(question)
  await lines.forgetTypedAhead()
  if (description.detail !== undefined) await showDetail(description.detail, lines, options)
  lines.show(`${printRequest(description, question)}\n\n`)
  if (question.whyNoOffer !== undefined) {
    lines.show(`(always is not on offer: ${visibleText(question.whyNoOffer)})\n`)
  }
  for (;;) {
    lines.show(`${promptOf(question)} `)
    const typed = (await lines.next())?.trim()
    if (typed === undefined) return { approved: false, unanswered: true, reason: "the terminal was closed" }
    const said = /^(?:(?<yes>y|yes)|n|no)(?:\s*[:,]\s*(?<comment>.+))?$/i.exec(typed)
    if (said !== null) {
      const { yes, comment } = said.groups ?? {}
      const told = comment === undefined ? {} : { comment }
      return yes === undefined
        ? { approved: false, reason: "the person said no", ...told }
        : { approved: true, ...told }
    }
    const answer = typed.toLowerCase()
    if ((answer === "a" || answer === "always") && question.offers.length > 0) {
      const remember = await chooseRule(question, lines)
      if (remember !== undefined) return { approved: true, remember }
      continue
    }
    if (answer === "e" || answer === "edit") {
      const modifiedArgs = await editArguments(question, lines)
      if (modifiedArgs !== undefined) return { approved: true, modifiedArgs }
    }
  }
}

const scopeLetters = { r: "run", w: "workspace", a: "always" } as const
const scopeNames = { run: "for this run", workspace: "for this workspace", always: "for every workspace" } as const

/**
 * Lets the person choose what is allowed and for how long, and shows the rule before it is stored: at first the one for
 * exactly these arguments, in this workspace.
 */
const chooseRule = async ({ offers }: Question, lines: Lines): Promise<Remembering | undefined> => {
  const listed = offers.map(({ label }, index) => `  ${index + 1}) ${visibleText(label)}`)
  lines.show(
    "What can be allowed; 1r is the first for this run, 1w for this workspace, 1a always, " +
      `and 1w 8h or 1w 30d for some hours or days:\n${listed.join("\n")}\n`
  )
  let offer = offers.at(-1)
  let scope: Remembering["scope"] = "workspace"
  let expires: string | undefined
  while (offer !== undefined) {
    const until = expires === undefined ? "" : `, until ${expires}`
    lines.show(`This rule would be stored ${scopeNames[scope]}${until}:\n${printRule(offer.rule)}\n`)
    lines.show("Store it? (y/n): ")
    const answer = (await lines.next())?.trim().toLowerCase() ?? ""
    if (/^y(?:es)?$/.test(answer)) {
      return { offer: offer.id, scope, ...(expires !== undefined && { expires }) }
    }
    const chosen = /^(\d{1,2})\s*([rwa]?)(?:\s+([1-9]\d{0,2})([hd]))?$/.exec(answer)
    if (chosen === null) return undefined
    offer = offers[Number(chosen[1]) - 1]
    scope = scopeLetters[(chosen[2] || "w") as keyof typeof scopeLetters]
    const hours = Number(chosen[3]) * (chosen[4] === "d" ? 24 : 1)
    expires = chosen[3] === undefined ? undefined : new Date(Date.now() + hours * 3_600_000).toISOString()
  }
  return undefined
}

const showDetail = async (detail: string, lines: Lines, { output, color }: TerminalOptions): Promise<void> => {
  const isColored = color ?? output.isTTY === true
  const shown = detail.split("\n").map((line) => (isColored ? colored(line) : line))
  const page = Math.max(5, (output.rows || 24) - 4)
  for (let from = 0; from < shown.length; from += page) {
    lines.show(`${shown.slice(from, from + page).join("\n")}\n`)
    const left = shown.length - from - page
    if (left <= 0) break
    lines.show(`-- ${left} more lines; Enter goes on, s skips to the question -- `)
    const answer = (await lines.next())?.trim().toLowerCase()
    if (answer === undefined || answer === "s") break
  }
  lines.show("\n")
}

const colored = (line: string): string => {
  const color = line.startsWith("+")
    ? "green"
    : line.startsWith("-")
      ? "red"
      : line.startsWith("@@")
        ? "cyan"
        : undefined
  return color === undefined ? line : styleText(color, line, { validateStream: false })
}

const editArguments = async (
  question: Question,
  lines: Lines
): Promise<Readonly<Record<string, unknown>> | undefined> => {
  lines.show(`Now: ${visibleText(JSON.stringify(question.input))}\n`)
  for (;;) {
    lines.show("New parameters as one line of JSON, empty to go back: ")
    const line = (await lines.next())?.trim()
    if (line === undefined || line === "") return undefined
    const edited = objectIn(line)
    if (edited !== undefined) return edited
    lines.show("That is not a JSON object.\n")
  }
}

const objectIn = (text: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}
