import {
  type ConfiguredPlugin,
  type Dialect,
  Host,
  type JsonSchema,
  reasonOf,
  type RoadServices,
  type ToolDescription
} from "@haft/core"
import { openHost, type OpenHost } from "@haft/core/promise"
import * as Layer from "effect/Layer"

import { type Fixture, temporaryWorkspace, type TemporaryWorkspace } from "../temporary-workspace.ts"
import { secret } from "./escapes.ts"
import { attached, heldBesides, leftovers } from "./leftovers.ts"
import type { PluginProblem, PluginReport, PluginRule } from "./report.ts"
import { rules } from "./rules.ts"
import { sampleArguments } from "./sample-arguments.ts"
import { type Watch, watched } from "./watch-workspace.ts"

/** A call that succeeds, to test a tool with. */
export interface ExampleCall {
  readonly tool: string
  /** The dialect of the call; absent for all that have such a tool. */
  readonly dialect?: string
  readonly args: Readonly<Record<string, unknown>>
  /** Files that the workspace needs besides those of all calls. */
  readonly files?: Readonly<Record<string, Fixture>>
  /** Calls that have to be made before, such as the one that opens what this one closes. */
  readonly after?: ReadonlyArray<{ readonly tool: string; readonly args: Readonly<Record<string, unknown>> }>
  /** Set if what the call starts, such as a terminal, should outlive it, even when it is cancelled. */
  readonly lasts?: boolean
}

/** A plugin to be tested, and how. */
export interface PluginUnderTest<R> {
  readonly plugin: ConfiguredPlugin<R>
  /** The dialects in which its tools are called. */
  readonly dialects: ReadonlyArray<Dialect>
  /** The services of a host, with an approver that allows everything. */
  readonly services: (workspace: TemporaryWorkspace) => Layer.Layer<R | RoadServices, unknown>
  /** Why model APIs would refuse a tool. */
  readonly refusals: (tool: ToolDescription) => ReadonlyArray<string>
  /** Files of every workspace. */
  readonly files?: Readonly<Record<string, Fixture>>
  /** At least one for each tool. Without one the kit makes up arguments, and the call will often fail. */
  readonly calls?: ReadonlyArray<ExampleCall>
  /** How long a reply may be; 4 million characters by default. */
  readonly mostCharacters?: number
  /** A call that takes longer counts as hung; a minute by default. */
  readonly callTimeoutMs?: number
}

/** No model reads longer replies, and no host should have to keep them. */
const usualCharacters = 4_000_000

/** One tool, with one call to test it. */
export interface ToolUnderTest {
  readonly tool: ToolDescription
  /** The tool's own input schema; what its dialect publishes may be different. */
  readonly own: JsonSchema
  readonly mostCharacters: number
  readonly example: ExampleCall
  /** Runs `use` with a new host on a new workspace. */
  readonly trial: <A>(use: (trial: Trial) => Promise<A>, files?: Readonly<Record<string, Fixture>>) => Promise<A>
  readonly refusals: ReadonlyArray<string>
}

export interface Trial {
  readonly host: OpenHost
  readonly workspace: TemporaryWorkspace
  readonly watch: Watch
  /** Closes the host, and returns what it has left behind, without what is `known` already. */
  readonly close: (known?: ReadonlyArray<string>) => Promise<ReadonlyArray<string>>
}

/** Tests every tool of a plugin by all rules, on real directories, and reports what failed and why. */
export const testPlugin = async <R>(subject: PluginUnderTest<R>): Promise<PluginReport> => {
  const { plugin, dialects, calls: examples = [], mostCharacters = usualCharacters } = subject
  const problems: Array<PluginProblem> = []
  const notTried: Array<PluginReport["notTried"][number]> = []
  const tools = new Set<string>()
  let calls = 0
  for (const dialect of dialects) {
    const trial = trialsOf(subject, dialect, () => calls++)
    for (const tool of await trial({}, async ({ host }) => host.tools)) {
      tools.add(tool.name)
      const given = examples.filter((one) => one.tool === tool.name && (one.dialect ?? dialect.name) === dialect.name)
      const made = given.length > 0 ? given : [{ tool: tool.name, args: sampleArguments(tool.inputSchema) }]
      for (const example of made) {
        const under: ToolUnderTest = {
          tool,
          own: ownInput(subject, dialect, tool),
          mostCharacters,
          example,
          refusals: subject.refusals(tool),
          trial: (use, files) => trial({ ...example.files, ...files }, (one) => prepared(one, example, use))
        }
        for (const [rule, found] of await applyRules(under)) {
          const where = { tool: tool.name, dialect: dialect.name }
          if (rule !== "untried") problems.push({ ...where, rule, problem: found })
          else if (given.length > 0) problems.push({ ...where, rule: "errors", problem: found })
          else notTried.push({ ...where, why: `${found}. Give an example call` })
        }
      }
    }
  }
  return {
    plugin: plugin.name,
    version: plugin.version,
    contract: plugin["~haft/Plugin"],
    ok: problems.length === 0,
    tools: [...tools],
    calls,
    problems,
    notTried
  }
}

const ownInput = <R>({ plugin }: PluginUnderTest<R>, dialect: Dialect, { name }: ToolDescription): JsonSchema => {
  const own = plugin.tools.find((one) => one.name === name && [dialect.name, "any"].includes(one.dialect))
  return own?.inputSchema ?? {}
}

type Findings = ReadonlyArray<readonly [PluginRule | "untried", string]>

const applyRules = async (under: ToolUnderTest): Promise<Findings> => {
  const always = await finding(() => rules.always(under))
  if (always.some(([rule]) => rule === "errors")) return always
  const whenItWorks = await finding(async () => {
    const failure = await under.trial(async ({ host }) => {
      const reply = await host.call(under.tool.name, under.example.args)
      return reply.ok ? undefined : `its call fails with ${reply.error.code}: ${reply.error.message}`
    })
    return failure === undefined ? rules.whenItWorks(under) : [["untried", failure]]
  })
  return [...always, ...whenItWorks]
}

// A tool can make a test itself fail, for example by never ending. That is reported like any other problem.
const finding = async (look: () => Promise<Findings>): Promise<Findings> => {
  try {
    return await look()
  } catch (cause) {
    return [["errors", `it can't be tested: ${reasonOf(cause)}`]]
  }
}

type Trials = <A>(files: Readonly<Record<string, Fixture>>, use: (trial: Trial) => Promise<A>) => Promise<A>

const trialsOf =
  <R>(subject: PluginUnderTest<R>, dialect: Dialect, counted: () => void): Trials =>
  async (files, use) => {
    using workspace = temporaryWorkspace({ ...subject.files, ...files })
    workspace.put("../outside/secret.txt", `${secret}\n`)
    workspace.put("link-to-file", { symlink: "../outside/secret.txt" })
    workspace.put("link-to-directory", { symlink: "../outside" })
    const before = heldBesides(workspace.root)
    const watch: Watch = { reads: new Set(), runs: [] }
    // Replies as the tool makes them: a host would shorten those that are too large, and the kit could not tell.
    const replyBytes = Number.MAX_SAFE_INTEGER
    const layer = Host.layer({ dialect, plugins: [subject.plugin], replyBytes }).pipe(
      Layer.provide(watched(subject.services(workspace), watch))
    )
    await using host = await openHost(layer)
    const ended = endedWithin(subject.callTimeoutMs ?? 60_000)
    const call: OpenHost["call"] = (tool, ...rest) => {
      counted()
      return ended(host.call(tool, ...rest), `a call of ${tool}`)
    }
    const preview: OpenHost["preview"] = (tool, args) => ended(host.preview(tool, args), `what ${tool} says it touches`)
    const close: Trial["close"] = async (known = []) => {
      await host.dispose()
      return leftovers(() => [...attached(workspace.root), ...heldBesides(workspace.root)], [...before, ...known])
    }
    return await use({ host: { ...host, call, preview }, workspace, watch, close })
  }

const endedWithin =
  (timeoutMs: number) =>
  async <A>(work: Promise<A>, what: string): Promise<A> => {
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      late.reject(new Error(`${what} did not end within ${timeoutMs / 1000} seconds: give the tool a timeout`))
    }, timeoutMs)
    try {
      return await Promise.race([work, late.promise])
    } finally {
      clearTimeout(timer)
    }
  }

const prepared = async <A>(
  trial: Trial,
  { after = [] }: ExampleCall,
  use: (trial: Trial) => Promise<A>
): Promise<A> => {
  for (const { tool, args } of after) await trial.host.call(tool, args)
  trial.watch.reads.clear()
  trial.watch.runs.length = 0
  return use(trial)
}
