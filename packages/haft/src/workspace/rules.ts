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
import { Host, type PluginError, reasonOf, type ToolError } from "@haft/core"
import { plainIssues, type RecordedCall, recordedCalls } from "@haft/core/internal"
import { fileState } from "@haft/node"
import { readNamedFile } from "@haft/node/internal"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { ConfigError, type HaftConfig } from "../config/config.ts"
import { dialectNamed } from "../host/dialects.ts"
import { rootOf, standardHost, stateOf } from "../host/standard-host.ts"
import { readRun } from "./record.ts"

/** The approval rules of a workspace, without a host. */
export interface Rules {
  readonly list: Effect.Effect<ReadonlyArray<Rule>, RulesError>
  /** Adds a rule. One that is malformed, or fails its own examples, is refused. */
  readonly add: (rule: unknown) => Effect.Effect<Rule, RulesError>
  /** Puts a rule in the place of another, in one step. False when there is no such rule. */
  readonly replace: (id: string, rule: unknown) => Effect.Effect<boolean, RulesError>
  readonly remove: (id: string) => Effect.Effect<boolean, RulesError>
  readonly setEnabled: (id: string, enabled: boolean) => Effect.Effect<boolean, RulesError>
  /** Replays the calls of a record against these rules, or those proposed in a file like `rules.json`. */
  readonly test: (record: RecordToTest) => Effect.Effect<Simulation, RulesError | PluginError>
}

/** Rules that are malformed or can't be read, or a state directory that can't be used. */
export type RulesError = ConfigError | ToolError

export interface RecordToTest {
  /** The last one when absent. */
  readonly run?: string
  readonly file?: string
  /** A file of rules to try instead of those in force. */
  readonly proposed?: string
  /** A rule to try together with those in force, in the place of one of them where `replaces` names it. */
  readonly candidate?: { readonly rule: unknown; readonly replaces?: string }
}

export const openRules = Effect.fnUntraced(function* (config: HaftConfig = {}): Effect.fn.Return<Rules, RulesError> {
  const directory = yield* stateOf(config)
  return rulesIn(config, yield* RuleStore.pipe(Effect.provide(Layer.provide(stateRules, fileState({ directory })))))
})

/** The rules in a store that is open already. */
export const rulesIn = (config: HaftConfig, store: RuleStoreService): Rules => {
  const current = Effect.gen(function* () {
    const rules = yield* store.current
    if (!("unreadable" in rules)) return rules
    const file = join(yield* stateOf(config), "rules.json")
    return yield* Effect.fail(new ConfigError(`the rules in ${file} can't be read: ${rules.unreadable}`))
  })
  const add = (rule: Rule) => Effect.as(store.add(rule), rule).pipe(Effect.mapError(asConfigError))
  return {
    list: Effect.map(current, ({ rules }) => rules),
    add: (written) => Effect.flatMap(checked(written), add),
    replace: (id, written) =>
      Effect.flatMap(checked(written), (rule) => Effect.mapError(store.replace(id, rule), asConfigError)),
    remove: (id) => Effect.mapError(store.remove(id), asConfigError),
    setEnabled: (id, enabled) => Effect.mapError(store.setEnabled(id, enabled), asConfigError),
    test: Effect.fnUntraced(function* ({ proposed, candidate, ...record }) {
      const events = yield* readRun(config, record)
      const inForce = proposed === undefined ? yield* current : yield* proposedIn(proposed)
      const rules = candidate === undefined ? inForce : yield* withCandidate(inForce, candidate)
      const decoded = yield* decodedCalls(config, recordedCalls(events))
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
    })
  }
}

type Fields = Readonly<Record<string, unknown>>

/** The decoded arguments of calls and their defaults, by step. Calls of tools that this configuration does not have are missing. */
const decodedCalls = Effect.fnUntraced(function* (config: HaftConfig, calls: ReadonlyArray<RecordedCall>) {
  const decoded = new Map<number, { readonly input: Fields; readonly defaults: Fields | undefined }>()
  for (const [dialect, own] of Map.groupBy(calls, (call) => call.dialect)) {
    const spoken = dialectNamed(dialect, config.dialect)
    if (spoken === undefined) continue
    const decodeOwn = Host.use(
      Effect.fnUntraced(function* (host) {
        for (const { step, tool, editedParams, params } of own) {
          const input = yield* host.decode(tool, editedParams ?? params).pipe(Effect.catch(() => Effect.void))
          if (input !== undefined) decoded.set(step, { input, defaults: host.defaults(tool) })
        }
      })
    )
    yield* decodeOwn.pipe(Effect.provide(standardHost({ ...config, dialect: spoken })))
  }
  return decoded
})

const checked = (written: unknown): Effect.Effect<Rule, ConfigError> => {
  const parsed = RuleShape.safeParse(written)
  if (parsed.success) return Effect.succeed(parsed.data)
  const problems = plainIssues(parsed.error).map(({ path, message }) => `${path.join(".") || "it"}: ${message}`)
  return Effect.fail(new ConfigError(`this is not a rule: ${problems.join("; ")}`))
}

const withCandidate = Effect.fnUntraced(function* (
  { rules }: RuleSet,
  { rule, replaces }: NonNullable<RecordToTest["candidate"]>
): Effect.fn.Return<RuleSet, ConfigError> {
  const tried = yield* checked(rule)
  const others = rules.filter(({ id }) => id !== replaces && id !== tried.id)
  return yield* Effect.try({
    try: () => parseRules(JSON.stringify({ version: 1, rules: [...others, tried] })),
    catch: asConfigError
  })
})

const proposedIn = (file: string): Effect.Effect<RuleSet, ConfigError> =>
  Effect.tryPromise({
    try: async () => parseRules(await readNamedFile(file)),
    catch: (cause) => new ConfigError(`the rules in ${file} can't be read: ${reasonOf(cause)}`, { cause })
  })

const asConfigError = (cause: unknown): ConfigError => new ConfigError(reasonOf(cause), { cause })
