import { join } from "node:path"

import {
  parseRules,
  type Rule,
  type RuleSet,
  RuleStore,
  type RuleStoreService,
  type Simulation,
  simulate,
  stateRules,
  Rule as RuleShape
} from "@haft/approval"
import { plainIssues, reasonOf, type RecordedCall, recordedCalls } from "@haft/core"
import { fileState, readNamedFile } from "@haft/node"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { ConfigError, type HaftConfig } from "../config/config.ts"
import { dialectNamed } from "../host/dialects.ts"
import { rootOf, stateOf } from "../host/standard-host.ts"
import { openHost } from "../promise.ts"
import { readRun } from "./record.ts"

/** The approval rules of a workspace, without a host. */
export interface Rules {
  readonly list: () => Promise<ReadonlyArray<Rule>>
  /** Adds a rule. One that is malformed, or fails its own examples, is refused. */
  readonly add: (rule: unknown) => Promise<Rule>
  /** Puts a rule in the place of another, in one step. False when there is no such rule. */
  readonly replace: (id: string, rule: unknown) => Promise<boolean>
  readonly remove: (id: string) => Promise<boolean>
  readonly setEnabled: (id: string, enabled: boolean) => Promise<boolean>
  /** What these rules, or those proposed in a file like `rules.json`, would have decided about the calls of a record. */
  readonly test: (record: {
    readonly run?: string
    readonly file?: string
    readonly proposed?: string
  }) => Promise<Simulation>
}

export const openRules = async (config: HaftConfig = {}): Promise<Rules> => {
  const directory = await Effect.runPromise(stateOf(config))
  const store = stateRules.pipe(Layer.provide(fileState({ directory })))
  return rulesIn(config, await Effect.runPromise(RuleStore.pipe(Effect.provide(store))))
}

/** The rules in a store that is open already. */
export const rulesIn = (config: HaftConfig, store: RuleStoreService): Rules => {
  const run = <A, E>(use: (store: RuleStoreService) => Effect.Effect<A, E>): Promise<A> =>
    Effect.runPromise(use(store)).catch(asConfigError)
  const current = async () => {
    const rules = await run((store) => store.current)
    if ("unreadable" in rules) {
      const file = join(await Effect.runPromise(stateOf(config)), "rules.json")
      throw new ConfigError(`the rules in ${file} can't be read: ${rules.unreadable}`)
    }
    return rules
  }
  return {
    list: async () => (await current()).rules,
    add: async (written) => {
      const rule = checked(written)
      await run((store) => store.add(rule))
      return rule
    },
    replace: async (id, written) => {
      const rule = checked(written)
      return run((store) => store.replace(id, rule))
    },
    remove: (id) => run((store) => store.remove(id)),
    setEnabled: (id, enabled) => run((store) => store.setEnabled(id, enabled)),
    test: async ({ proposed, ...record }) => {
      const events = await readRun(config, record)
      const rules = proposed === undefined ? await current() : await proposedIn(proposed)
      const decoded = await decodedCalls(config, recordedCalls(events))
      const { approval: answers = "ask", mode = "ask", approvalOptions = {} } = config
      const { alsoAsk: ask = [], deletedFiles } = approvalOptions
      return simulate(events, {
        rules,
        answers,
        mode,
        ...(deletedFiles !== undefined && { modeLimits: { deletedFiles } }),
        ask,
        workspace: rootOf(config),
        decode: ({ step }) => decoded.get(step)?.input,
        defaults: ({ step }) => decoded.get(step)?.defaults
      })
    }
  }
}

type Fields = Readonly<Record<string, unknown>>

/** The decoded arguments of calls and their defaults, by step. Calls of tools that this configuration does not have are missing. */
const decodedCalls = async (config: HaftConfig, calls: ReadonlyArray<RecordedCall>) => {
  const decoded = new Map<number, { readonly input: Fields; readonly defaults: Fields | undefined }>()
  for (const [dialect, own] of Map.groupBy(calls, (call) => call.dialect)) {
    const spoken = dialectNamed(dialect, config.dialect)
    if (spoken === undefined) continue
    await using host = await openHost({ ...config, dialect: spoken })
    for (const { step, tool, editedParams, params } of own) {
      const input = await host.decode(tool, editedParams ?? params).catch(() => undefined)
      if (input !== undefined) decoded.set(step, { input, defaults: host.defaults(tool) })
    }
  }
  return decoded
}

const checked = (written: unknown): Rule => {
  const parsed = RuleShape.safeParse(written)
  if (parsed.success) return parsed.data
  const problems = plainIssues(parsed.error).map(({ path, message }) => `${path.join(".") || "it"}: ${message}`)
  throw new ConfigError(`this is not a rule: ${problems.join("; ")}`)
}

const proposedIn = async (file: string): Promise<RuleSet> => {
  try {
    return parseRules(await readNamedFile(file))
  } catch (cause) {
    throw new ConfigError(`the rules in ${file} can't be read: ${reasonOf(cause)}`, { cause })
  }
}

const asConfigError = (cause: unknown): never => {
  throw new ConfigError(reasonOf(cause), { cause })
}
