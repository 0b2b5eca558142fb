import { type StateError, StateFiles } from "@haft/core"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { noRules, type RuleSet, RulesUnreadable } from "./rule-set.ts"
import type { Rule } from "./rule.ts"
import type * as Compiler from "./rules.ts"

export interface RuleStoreService {
  /** The rules as they are now, also when another process has changed them; or why they can't be read. */
  readonly current: Effect.Effect<RuleSet | { readonly unreadable: string }>
  /** Stores a rule. One that can't be compiled, fails its examples or has a name that is taken is refused. */
  readonly add: (rule: Rule) => Effect.Effect<void, RulesUnreadable>
  /**
   * Puts a rule in the place of the one with this id, in one step: there is no moment without either. How often the old
   * one was used counts on. False when there is no such rule; what `add` refuses is refused here too.
   */
  readonly replace: (id: string, rule: Rule) => Effect.Effect<boolean, RulesUnreadable>
  /** False when there is no such rule. */
  readonly remove: (id: string) => Effect.Effect<boolean, RulesUnreadable>
  /** False when there is no such rule. */
  readonly setEnabled: (id: string, enabled: boolean) => Effect.Effect<boolean, RulesUnreadable>
  /** Counts one use of a rule with a maximum. False when it has none left: then it does not allow anything. */
  readonly use: (id: string) => Effect.Effect<boolean, RulesUnreadable>
}

/** Where approval rules are kept. */
export class RuleStore extends Context.Service<RuleStore, RuleStoreService>()("@haft/approval/RuleStore") {}

const document = "rules.json"

/** Rules in the host's state, as `rules.json`. */
export const stateRules: Layer.Layer<RuleStore, never, StateFiles> = Layer.effect(
  RuleStore,
  Effect.gen(function* () {
    const files = yield* StateFiles
    let known: { readonly version: string; readonly rules: RuleSet } | undefined

    // The version is asked for before the content: a change in between is then seen the next time.
    const load = Effect.gen(function* () {
      const version = yield* files.version(document)
      if (known?.version === version) return known.rules
      const content = yield* files.read(document)
      const rules = yield* content === undefined
        ? Effect.succeed(noRules)
        : withCompiler(({ parseRules }) => parseRules(textOf(content), known?.rules))
      known = { version, rules }
      return rules
    }).pipe(Effect.mapError(unreadable))

    const change = <A>(edit: (rules: ReadonlyArray<Rule>) => readonly [ReadonlyArray<Rule> | undefined, A]) =>
      files
        .exclusively(
          document,
          Effect.gen(function* () {
            const before = yield* load
            const [rules, answer] = edit(before.rules)
            if (rules === undefined) return answer
            const printed = yield* withCompiler(({ compileRules, printRules }) => {
              compileRules(rules, before)
              return printRules(rules)
            })
            yield* files.write(document, new TextEncoder().encode(printed))
            return answer
          })
        )
        .pipe(Effect.mapError(unreadable))

    const edit = (id: string, how: (rule: Rule) => Rule | undefined) =>
      change((rules) => {
        const changed = rules.map((rule) => (rule.id === id ? how(rule) : rule))
        const kept = changed.filter((rule) => rule !== undefined)
        const isFound = changed.some((rule, place) => rule !== rules[place])
        return [isFound ? kept : undefined, isFound]
      })

    return {
      current: load.pipe(Effect.catch((error) => Effect.succeed({ unreadable: error.message }))),
      add: (rule) => change((rules) => [[...rules, rule], undefined]),
      replace: (id, rule) => edit(id, ({ uses }) => ({ ...rule, uses: Math.max(uses, rule.uses) })),
      remove: (id) => edit(id, () => undefined),
      setEnabled: (id, enabled) => edit(id, (rule) => ({ ...rule, enabled })),
      use: (id) =>
        edit(id, (rule) =>
          rule.enabled && rule.uses < (rule.maximumUses ?? 0) ? { ...rule, uses: rule.uses + 1 } : rule
        )
    }
  })
)

// A text that is not quite what was stored could be other rules.
const textOf = (content: Uint8Array): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(content)
  } catch (cause) {
    throw new RulesUnreadable("it is not UTF-8", { cause })
  }
}

// Loaded when there are rules: a host without any starts without the expression engine and the command parser.
const withCompiler = <A>(use: (compiler: typeof Compiler) => A): Effect.Effect<A, RulesUnreadable> =>
  Effect.tryPromise({ try: async () => use(await import("./rules.ts")), catch: unreadable })

const unreadable = (cause: unknown): RulesUnreadable => {
  if (cause instanceof RulesUnreadable) return cause
  return new RulesUnreadable((cause as StateError | Error).message, { cause })
}
