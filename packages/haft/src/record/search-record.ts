import { setImmediate as otherWork } from "node:timers/promises"

import { recordedCalls, type RecordedCall } from "@haft/core/internal"
import type { JournalPages } from "@haft/node/internal"

/** Which calls to find. What is absent does not matter. */
export interface RecordQuery {
  /** Words that all occur somewhere in the call's events, in upper or lower case. */
  readonly text?: string
  /** A path that the call has changed, with a directory above it, or by a command that was committed. */
  readonly changed?: string
  readonly tool?: string
  readonly agent?: string
  /** Only runs before this one: the cursor of an earlier answer. */
  readonly before?: string
  readonly limit: number
}

/** A call that fits a query. */
export interface FoundCall {
  readonly run: string
  readonly step: number
  readonly requestId: string
  readonly tool: string
  readonly agent?: string
  readonly startedAt: number
  readonly status: RecordedCall["status"]
  readonly error?: string
  readonly touches?: RecordedCall["touches"]
}

export interface FoundCalls {
  /** The newest first. */
  readonly calls: ReadonlyArray<FoundCall>
  /** Where to go on; absent when all runs were looked at. */
  readonly before?: string
}

/** A search goes on in another request after so long. */
const longestMs = 4_000

/** Finds calls in all runs, the newest run first. Whole runs are looked at, so an answer may have more than `limit`. */
export const searchRecord = async (
  runs: ReadonlyArray<string>,
  recordOf: (run: string) => JournalPages | undefined,
  query: RecordQuery
): Promise<FoundCalls> => {
  const began = performance.now()
  const { before } = query
  const left = (before === undefined ? runs : runs.filter((run) => run < before)).toReversed()
  const calls: Array<FoundCall> = []
  for (const [index, run] of left.entries()) {
    const pages = recordOf(run)
    if (pages !== undefined) calls.push(...(await searchRun(run, pages, query)))
    const isLast = index === left.length - 1
    if (!isLast && (calls.length >= query.limit || performance.now() - began > longestMs)) return { calls, before: run }
  }
  return { calls }
}

const searchRun = async (run: string, pages: JournalPages, query: RecordQuery): Promise<ReadonlyArray<FoundCall>> => {
  const words = wordsIn(query.text)
  const paths = query.changed === undefined ? undefined : quotedPaths(query.changed)
  const agent = query.agent === undefined ? undefined : `"caller":{"name":${JSON.stringify(query.agent)}`
  const tool = query.tool === undefined ? undefined : `"tool":${JSON.stringify(query.tool)}`
  // A call fits when its events together have all the words.
  const found = new Map<number, Set<string>>()
  const wanted = [...words, ...[agent, tool, paths && changedMark].filter((mark) => mark !== undefined)]
  await eachLine(pages, (line) => {
    const step = stepOf(line)
    if (step === undefined) return
    const text = line.toLowerCase()
    const own = found.get(step) ?? new Set()
    for (const word of wanted) if (text.includes(word.toLowerCase())) own.add(word)
    if (paths?.some((path) => line.includes(path)) === true) own.add(changedMark)
    if (own.size > 0 || wanted.length === 0) found.set(step, own)
  })
  const steps = new Set([...found].filter(([, own]) => own.size === new Set(wanted).size).map(([step]) => step))
  if (steps.size === 0) return []
  const lines: Array<string> = []
  await eachLine(pages, (line) => {
    const step = stepOf(line)
    if (step !== undefined && steps.has(step)) lines.push(withoutReply(line))
  })
  const events = lines.map((line) => JSON.parse(line) as { readonly type: string; readonly step: number })
  const callers = new Map(
    events.flatMap((event) => {
      const name = callerIn(event)
      return name === undefined ? [] : [[event.step, name] as const]
    })
  )
  const { changed } = query
  const byCommands = new Set(
    changed === undefined ? [] : events.filter((event) => hasCommitted(event, changed)).map(({ step }) => step)
  )
  return recordedCalls(events)
    .filter((call) => changed === undefined || isChanged(call, changed) || byCommands.has(call.step))
    .map((call) => foundCall(run, call, callers.get(call.step)))
    .toReversed()
}

/** The events of one call in full, as JSON. `from` is the number of an event that none of them stands before. */
export const eventsOfCall = async (pages: JournalPages, step: number, from = 1): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  let isOver = false
  await eachLine(
    pages,
    (line) => {
      if (stepOf(line) !== step) return
      found.push(line)
      isOver ||= line.slice(0, 1_000).includes('"type":"tool_call_finished"')
    },
    { after: Math.max(0, from - 1), isOver: () => isOver }
  )
  return found
}

/** Texts that the lines of a call must contain, as JSON spells them. */
const wordsIn = (text = ""): ReadonlyArray<string> =>
  text
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => JSON.stringify(word).slice(1, -1))

/** Stands for a line that names the path, or a directory above it. No line contains it. */
const changedMark = "\n"

/** A path and the directories above it, each as JSON spells it. */
const quotedPaths = (path: string): ReadonlyArray<string> => {
  const names = path.split("/")
  return names.map((_, index) => JSON.stringify(names.slice(0, index + 1).join("/")))
}

const isAtOrAbove = (written: string, path: string): boolean => path === written || path.startsWith(`${written}/`)

/** Tests whether the call itself has changed a path: a call that failed or was denied has not. */
const isChanged = ({ status, touches }: RecordedCall, path: string): boolean =>
  status === "success" && touches?.writes?.some((write) => isAtOrAbove(write.path, path)) === true

/** Tests whether a command has changed a path on its overlay, and that was committed. */
const hasCommitted = (event: object, path: string): boolean => {
  const { type, outcome, paths = [] } = event as CommandEffectsEvent
  return type === "command_effects" && outcome === "committed" && paths.some((one) => isAtOrAbove(one.path, path))
}

interface CommandEffectsEvent {
  readonly type: string
  readonly outcome?: string
  readonly paths?: ReadonlyArray<{ readonly path: string }>
}

const foundCall = (run: string, call: RecordedCall, agent: string | undefined): FoundCall => {
  const { step, requestId, tool, startedAt, status, error, touches } = call
  return {
    run,
    step,
    requestId,
    tool,
    ...(agent !== undefined && { agent }),
    startedAt,
    status,
    ...(error !== undefined && { error }),
    ...(touches !== undefined && { touches })
  }
}

const callerIn = (event: object): string | undefined => {
  const { caller } = event as { readonly caller?: { readonly name?: string } }
  return caller?.name
}

const stepOf = (line: string): number | undefined => {
  const step = /"step":(\d+)/.exec(line.slice(0, 1_000))?.[1]
  return step === undefined ? undefined : Number(step)
}

// A reply may have megabytes, and nothing here needs it.
const withoutReply = (line: string): string => {
  const event = JSON.parse(line) as Readonly<Record<string, unknown>>
  return JSON.stringify({ ...event, reply: null })
}

const eachLine = async (
  pages: JournalPages,
  see: (line: string) => void,
  { after: first = 0, isOver = () => false }: { readonly after?: number; readonly isOver?: () => boolean } = {}
): Promise<void> => {
  for (let after = first; ;) {
    const lines = await pages.read(after, 1_000)
    if (lines.length === 0 || isOver()) return
    for (const line of lines) see(line)
    after += lines.length
    await otherWork()
  }
}
