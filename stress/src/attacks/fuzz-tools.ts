import { inspect } from "node:util"

import { errorCodes, type Reply, type ToolDescription } from "@haft/core"
import { openHost, type OpenHost } from "@haft/core/promise"
import { gitTools } from "@haft/git-tools"
import { projectTools } from "@haft/project-tools"
import type { TemporaryWorkspace } from "@haft/testing"
import { Resolver } from "@haft/web-tools"
import * as Layer from "effect/Layer"
import * as fc from "fast-check"
import { dialectNames, type DialectName, standardHost } from "haft/internal"
import * as z from "zod"

import { type Attack, none } from "../attack.ts"
import { madeUpArguments } from "../made-up-arguments.ts"
import { fingerprint, oddWorkspace, refill, secret } from "../odd-workspace.ts"
import { descriptorTargets, processesIn, settledState } from "../process-state.ts"

/** A call is cancelled after `patienceMs`, one in eight much sooner, and must then end within `noticeMs`. */
const patienceMs = 3000
const noticeMs = 20_000
const oneInSoManyIsCutShort = 8
/** How many calls of each dialect are made at the same time, as the slow ones mostly wait. */
const atOnce = 4

/** Calls every tool of every dialect with made-up arguments. */
export const attack: Attack = async function* ({ seconds, seed }) {
  const found = { crashes: [], unstructured: [], outside: [], leaks: [], hangs: [], wrong: [] } as Record<
    string,
    Array<string>
  >
  const escaped = (what: string) => (error: unknown) =>
    void found["crashes"]?.push(`${what}: ${inspect(error).slice(0, 400)}`)
  process
    .on("uncaughtException", escaped("uncaught exception"))
    .on("unhandledRejection", escaped("unhandled rejection"))
  let calls = 0
  // The first host of each dialect loads modules, which must not be counted as a leak.
  const workspaces = dialectNames.map((dialect) => ({ dialect, workspace: oddWorkspace() }))
  for (const { dialect, workspace } of workspaces) await (await open(dialect, workspace)).dispose()
  const before = await settledState()
  const targets = new Set(descriptorTargets())
  const until = performance.now() + seconds * 1000
  const tools = await Promise.all(workspaces.map(({ dialect, workspace }) => speak(dialect, workspace)))
  const after = await settledState()
  if (after.descriptors > before.descriptors) {
    const left = descriptorTargets().filter((target) => !targets.has(target))
    found["leaks"]?.push(`${after.descriptors - before.descriptors} descriptors: ${left.join(", ")}`)
  }
  if (after.children > before.children) found["leaks"]?.push(`${after.children - before.children} child processes`)
  for (const { dialect, workspace } of workspaces) {
    const still = processesIn(workspace.root)
    if (still.length > 0) found["leaks"]?.push(`${dialect}: processes ${still.join(", ")} still work there`)
    workspace.remove()
  }

  /** Calls each tool of a dialect at least once, and returns how many tools there are. */
  async function speak(dialect: DialectName, workspace: TemporaryWorkspace): Promise<number> {
    const outside = fingerprint(workspace.outside)
    const host = await open(dialect, workspace)
    const subjects = host.tools.map((tool, index) => subjectOf(tool, seed + index))
    let turn = 0
    const lane = async (): Promise<void> => {
      while (turn < subjects.length || performance.now() < until) {
        if (turn % 100 === 0) refill(workspace)
        const subject = subjects[turn++ % subjects.length]
        if (subject !== undefined) await tryOne(dialect, host, subject)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, lane))
    await host.dispose()
    if (fingerprint(workspace.outside) !== outside) found["outside"]?.push(`${dialect}: something outside changed`)
    return subjects.length
  }

  async function tryOne(dialect: DialectName, host: OpenHost, { tool, fits, next }: Subject): Promise<void> {
    const args = next()
    const shown = `${dialect} ${tool.name} ${show(args)}`
    const isCutShort = ++calls % oneInSoManyIsCutShort === 0
    const outcome = await callWithin(host, tool.name, args, isCutShort ? calls % 50 : patienceMs)
    if (outcome === undefined) return
    if (outcome instanceof Error) {
      found[outcome.name === "Hang" ? "hangs" : "crashes"]?.push(`${shown}: ${inspect(outcome).slice(0, 900)}`)
      return
    }
    const problem = problemOf(outcome, fits)
    if (problem !== undefined) found["unstructured"]?.push(`${shown}: ${problem}`)
    if (`${outcome.text}${JSON.stringify(outcome.wire)}`.includes(secret))
      found["outside"]?.push(`${shown} shows a secret`)
  }

  const tried = `${calls} calls of ${tools.reduce((one, other) => one + other, 0)} tools`
  yield none("crashes, and calls that reject", tried, found["crashes"] ?? [])
  yield none("replies without a code, or against their schema", tried, found["unstructured"] ?? [])
  yield none("calls that do not end when they are cancelled", tried, found["hangs"] ?? [])
  yield none("files outside read or changed", tried, found["outside"] ?? [])
  yield none("descriptors and processes left", tried, found["leaks"] ?? [])
}

// A resolver that knows no host names, so that nothing leaves the machine.
const noNames = Layer.succeed(Resolver, () => Promise.reject(new Error("ENOTFOUND")))

const open = (
  dialect: DialectName,
  { root, state }: { readonly root: string; readonly state: string }
): Promise<OpenHost> =>
  openHost(
    standardHost({ root, state, dialect, approval: "all", plugins: [gitTools, projectTools] }).pipe(
      Layer.provide(noNames)
    )
  )

type Subject = ReturnType<typeof subjectOf>

const subjectOf = (tool: ToolDescription, seed: number) => {
  const batch = 20
  const arbitrary = madeUpArguments(tool.inputSchema)
  const fits = z.fromJSONSchema(tool.replySchema)
  let round = 0
  let made: Array<unknown> = []
  const next = (): unknown => {
    if (made.length === 0) made = fc.sample(arbitrary, { seed: seed + 1000 * round++, numRuns: batch })
    const args = made.pop()
    return typeof args === "function" ? (args as () => unknown)() : args
  }
  return { tool, fits, next }
}

class Hang extends Error {
  override readonly name = "Hang"
}

/**
 * The reply; undefined for a call that was cancelled because it took too long; an Error for one that rejects or hangs.
 */
const callWithin = async (
  host: OpenHost,
  tool: string,
  args: unknown,
  milliseconds: number
): Promise<Reply | Error | undefined> => {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), milliseconds)
  const late = new Promise<Error>((resolve) =>
    controller.signal.addEventListener("abort", () =>
      setTimeout(() => resolve(new Hang(`${tool} went on for ${noticeMs} ms after it was cancelled`)), noticeMs)
    )
  )
  const call = host
    .call(tool, args, { signal: controller.signal })
    .catch((error: unknown) =>
      controller.signal.aborted ? undefined : new Error("the call rejects", { cause: error })
    )
  try {
    return await Promise.race([call, late])
  } finally {
    clearTimeout(timer)
  }
}

const problemOf = ({ ok, error, wire, text }: Reply, fits: z.ZodType): string | undefined => {
  if (typeof text !== "string") return "no text for people"
  if (!ok && (error === undefined || !errorCodes.includes(error.code))) return `no code: ${inspect(wire).slice(0, 300)}`
  if (error?.code === "internal_error") return `internal_error: ${error.message}`
  if (error !== undefined && error.message.trim() === "") return `${error.code} without a message`
  const checked = fits.safeParse(wire)
  if (!checked.success)
    return `against its schema: ${checked.error.message.slice(0, 300)} in ${inspect(wire).slice(0, 300)}`
  return undefined
}

const show = (args: unknown): string =>
  inspect(args, { depth: 3, maxStringLength: 300, breakLength: Infinity }).slice(0, 800)
