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

/** A call that shows a tool at work. */
export interface ExampleCall {
  readonly tool: string
  /** The dialect it is spoken in; every dialect that has such a tool when absent. */
  readonly dialect?: string
  readonly args: Readonly<Record<string, unknown>>
  /** Files the workspace needs besides those of the subject. */
  readonly files?: Readonly<Record<string, Fixture>>
  /** Calls that have to come before, such as the one that opens what this one closes. */
  readonly after?: ReadonlyArray<{ readonly tool: string; readonly args: Readonly<Record<string, unknown>> }>
  /** What it starts, such as a terminal, is meant to outlive the call, cancelled or not, but never the host. */
  readonly lasts?: boolean
}

/** A plugin to be put to the test, and where. */
export interface PluginUnderTest<R> {
  readonly plugin: ConfiguredPlugin<R>
  /** The contracts to speak to it in. */
  readonly dialects: ReadonlyArray<Dialect>
  /** What a host lends on the machine of the test, approving everything. */
  readonly services: (workspace: TemporaryWorkspace) => Layer.Layer<R | RoadServices, unknown>
  /** What readers of schemas, such as the APIs of models, have against a tool. */
  readonly refusals: (tool: ToolDescription) => ReadonlyArray<string>
  /** Files of every workspace. */
  readonly files?: Readonly<Record<string, Fixture>>
  /** One for each tool at least: without one the kit makes up arguments, which seldom mean anything. */
  readonly calls?: ReadonlyArray<ExampleCall>
  /** What a reply may have, where a contract allows more than the 4 million characters that are usual. */
  readonly mostCharacters?: number
  /** A call that takes longer has hung: a minute by default. */
  readonly callTimeoutMs?: number
}

/** No model reads more than this, and no host should have to hold it. */
const usualCharacters = 4_000_000

/** One tool of it, with one call. */
export interface ToolUnderTest {
  readonly tool: ToolDescription
  /** The input as the tool itself has it; its dialect may publish it in other words. */
  readonly own: JsonSchema
  readonly mostCharacters: number
  readonly example: ExampleCall
  /** Opens a host on a workspace of its own for as long as `use` takes. */
  readonly trial: <A>(use: (trial: Trial) => Promise<A>, files?: Readonly<Record<string, Fixture>>) => Promise<A>
  readonly refusals: ReadonlyArray<string>
}

export interface Trial {
  readonly host: OpenHost
  readonly workspace: TemporaryWorkspace
  readonly watch: Watch
  /** Closes the host, and says what is left of it besides what is `known` already. */
  readonly close: (known?: ReadonlyArray<string>) => Promise<ReadonlyArray<string>>
}

/** Puts every tool of a plugin to every test there is, on real directories, and says what failed and why. */
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
          if (rule === "untried") {
            if (given.length > 0)
              problems.push({ tool: tool.name, dialect: dialect.name, rule: "errors", problem: found })
            else notTried.push({ tool: tool.name, dialect: dialect.name, why: `${found}. Give an example call` })
          } else problems.push({ tool: tool.name, dialect: dialect.name, rule, problem: found })
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

// A tool can break the test itself, by never ending for example. That is a finding too.
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
    const layer = Host.layer({ dialect, plugins: [subject.plugin] }).pipe(
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
