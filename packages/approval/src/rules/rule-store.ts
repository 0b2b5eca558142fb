import { type StateError, StateFiles } from "@haft/core"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Semaphore from "effect/Semaphore"

import { noRules, type RuleSet, RulesUnreadable } from "./rule-set.ts"
import type { Rule } from "./rule.ts"
import type * as Compiler from "./rules.ts"

export interface RuleStoreService {
  /** The rules as they are now, also when another process has changed them; or why they can't be read. */
  readonly current: Effect.Effect<RuleSet | { readonly unreadable: string }>
  /** Stores a rule. One that can't be compiled, fails its examples or has a name that is taken is refused. */
  readonly add: (rule: Rule) => Effect.Effect<void, RulesUnreadable>
  /** Keeps a rule until this host ends, in memory. Refused like one that is stored. */
  readonly addForRun: (rule: Rule) => Effect.Effect<void, RulesUnreadable>
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
    const compiled: Compiler.KnownRules = new WeakMap()

    // The version is asked for before the content: a change in between is then seen the next time.
    const loadWith = <E, R>(read: (version: string) => Effect.Effect<RuleSet, E, R>) =>
      Effect.flatMap(files.version(document), (version) =>
        known?.version === version ? Effect.succeed(known.rules) : read(version)
      )
    // One at a time: calls that come while rules are compiled wait for these, and do not compile them too.
    const reading = yield* Semaphore.make(1)
    const load = loadWith(() =>
      reading.withPermits(1)(
        loadWith(
          Effect.fnUntraced(function* (version) {
            const content = yield* files.read(document)
            const rules =
              content === undefined ? noRules : yield* compile(yield* rulesIn(content, known?.rules), compiled)
            known = { version, rules }
            return rules
          })
        )
      )
    ).pipe(Effect.mapError(unreadable))

    const change = <A>(edit: (rules: ReadonlyArray<Rule>) => readonly [ReadonlyArray<Rule> | undefined, A]) =>
      files
        .exclusively(
          document,
          Effect.gen(function* () {
            const before = yield* load
            const [rules, answer] = edit(before.rules)
            if (rules === undefined) return answer
            const after = yield* compile(rules, compiled)
            const printed = yield* withCompiler(({ printRules }) => new TextEncoder().encode(printRules(rules)))
            const version = yield* files.write(document, printed)
            known = { version, rules: after }
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

    /** Rules of this run, and those stored together with them as they were last compiled. */
    let ofRun: ReadonlyArray<Rule> = []
    let together: { readonly stored: RuleSet; readonly ofRun: ReadonlyArray<Rule>; readonly all: RuleSet } | undefined
    const withRun = Effect.fnUntraced(function* (stored: RuleSet, run: ReadonlyArray<Rule>) {
      if (run.length === 0) return stored
      if (together?.stored !== stored || together.ofRun !== run) {
        together = { stored, ofRun: run, all: yield* compile([...stored.rules, ...run], compiled) }
      }
      return together.all
    })
    const setOfRun = Effect.fnUntraced(function* (rules: ReadonlyArray<Rule>) {
      yield* withRun(yield* load, rules)
      ofRun = rules
    })
    const editEither = (id: string, how: (rule: Rule) => Rule | undefined) => {
      const isOfRun = ofRun.some((rule) => rule.id === id)
      if (!isOfRun) return edit(id, how)
      const edited = ofRun.flatMap((rule) => (rule.id === id ? (how(rule) ?? []) : [rule]))
      return Effect.as(setOfRun(edited), true)
    }

    return {
      current: load.pipe(
        Effect.flatMap((stored) => withRun(stored, ofRun)),
        Effect.catch((error) => Effect.succeed({ unreadable: error.message }))
      ),
      add: (rule) => change((rules) => [[...rules, rule], undefined]),
      addForRun: (rule) => Effect.suspend(() => setOfRun([...ofRun, rule])),
      replace: (id, rule) => editEither(id, ({ uses }) => ({ ...rule, uses: Math.max(uses, rule.uses) })),
      remove: (id) => editEither(id, () => undefined),
      setEnabled: (id, enabled) => editEither(id, (rule) => ({ ...rule, enabled })),
      use: (id) =>
        editEither(id, (rule) =>
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

const rulesIn = (content: Uint8Array, { rules: before }: RuleSet = noRules) =>
  withCompiler(({ readRules }) => readRules(textOf(content), before))

/** So many rules are compiled in some milliseconds; then it is somebody else's turn. */
const rulesInATurn = 50

const compile = Effect.fnUntraced(function* (rules: ReadonlyArray<Rule>, known: Compiler.KnownRules) {
  const compiling = yield* withCompiler(({ compileOneByOne }) => compileOneByOne(rules, known))
  const compileSome = () => {
    let step = compiling.next()
    for (let count = 1; count < rulesInATurn && step.done !== true; count++) step = compiling.next()
    return step
  }
  for (;;) {
    const step = yield* Effect.try({ try: compileSome, catch: unreadable })
    if (step.done === true) return step.value
    yield* Effect.yieldNow
  }
})

// Loaded when there are rules: a host without any starts without the expression engine and the command parser.
const withCompiler = <A>(use: (compiler: typeof Compiler) => A): Effect.Effect<A, RulesUnreadable> =>
  Effect.tryPromise({ try: async () => use(await import("./rules.ts")), catch: unreadable })

const unreadable = (cause: unknown): RulesUnreadable => {
  if (cause instanceof RulesUnreadable) return cause
  return new RulesUnreadable((cause as StateError | Error).message, { cause })
}
