import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"

import type { Dialect } from "../dialect.ts"
import { within } from "../pipeline/time-limit.ts"
import type { Tool } from "../tool.ts"
import { checkShape } from "./check-shape.ts"
import { PluginError } from "./plugin-error.ts"
import type { ConfiguredPlugin } from "./plugin.ts"

/** Policy for a plugin that can't be used: start no host, or one without it. */
export type OnPluginError = "refuse" | "skip"

export interface StartPluginsOptions<R> {
  readonly dialect: Dialect
  readonly plugins: ReadonlyArray<ConfiguredPlugin<R>>
  readonly onPluginError: OnPluginError
}

/** A tool and the name of the plugin that brings it. */
export interface HostedTool {
  readonly tool: Tool<unknown>
  readonly plugin: string
}

/**
 * Starts plugins one after the other, in a scope that stops them again. A tool's name belongs to the plugin that comes
 * first; one that is refused is never started.
 */
export const startPlugins = Effect.fnUntraced(function* <R>(
  { dialect, plugins, onPluginError }: StartPluginsOptions<R>,
  services: Context.Context<R>
) {
  const tools = new Map<string, HostedTool>()
  const started: Array<ConfiguredPlugin<R>> = []
  const skipped: Array<PluginError> = []
  let provided = Context.empty() as Context.Context<unknown>
  for (const plugin of plugins) {
    const lent = Context.merge(services, provided)
    const result = yield* Effect.result(startPlugin(plugin, { dialect, tools, lent }))
    if (result._tag === "Success") {
      provided = Context.merge(provided, result.success)
      started.push(plugin)
      continue
    }
    if (onPluginError === "refuse") return yield* Effect.fail(result.failure)
    skipped.push(result.failure)
    yield* Effect.logWarning(`started without ${result.failure.message}`)
  }
  return { started, tools, skipped, provided }
})

/** Services that exist before a plugin starts. */
interface Before {
  readonly dialect: Dialect
  readonly tools: Map<string, HostedTool>
  readonly lent: Context.Context<unknown>
}

const startPlugin = Effect.fnUntraced(function* <R>(plugin: ConfiguredPlugin<R>, { dialect, tools, lent }: Before) {
  yield* Effect.try({ try: () => checkShape(plugin), catch: (cause) => cause as PluginError })
  const refused = (problem: string) => Effect.fail(new PluginError(plugin.name, problem))
  const own = toolsOf(plugin, dialect)
  for (const [at, { name }] of own.entries()) {
    const other = tools.get(name)
    if (other !== undefined) {
      return yield* refused(`its tool '${name}' is also in plugin ${other.plugin}. Use only one of the two.`)
    }
    if (own.findIndex((tool) => tool.name === name) < at) {
      return yield* refused(`it has two tools '${name}'. Rename one of them.`)
    }
  }
  // In a scope of its own, so that a plugin that fails half-way keeps nothing open.
  const scope = yield* Scope.make()
  const provided = yield* Layer.buildWithScope(plugin.layer, scope).pipe(
    within(startTimeout, () =>
      refused(`it did not start within ${startTimeout}. Fix it, or start the host without it.`)
    ),
    // A plugin must not put its own service in the place of the approver, or of another plugin's client.
    Effect.tap((made) => {
      const taken = [...made.mapUnsafe.keys()].find((key) => isTaken(lent, made, key))
      return taken === undefined
        ? Effect.void
        : refused(`it provides ${taken}, which the host or another plugin lends. Give that service a name of its own.`)
    }),
    Effect.onError((cause) => stopped(plugin, scope, Exit.failCause(cause)))
  )
  yield* Effect.addFinalizer((exit) => stopped(plugin, scope, exit))
  for (const tool of own) tools.set(tool.name, { tool, plugin: plugin.name })
  return provided
})

const toolsOf = <R>({ tools }: ConfiguredPlugin<R>, dialect: Dialect): ReadonlyArray<Tool<unknown>> =>
  tools.filter((tool) => tool.dialect === dialect.name || tool.dialect === "any")

/** A plugin that takes longer has hung. */
const startTimeout = "30 seconds"
const stopTimeout = "10 seconds"

/** True for a service that is lent already and that the plugin would replace. Effect's own entries don't count. */
const isTaken = (lent: Context.Context<unknown>, made: Context.Context<unknown>, key: string): boolean =>
  !/^~?effect\//.test(key) && lent.mapUnsafe.has(key) && lent.mapUnsafe.get(key) !== made.mapUnsafe.get(key)

// A plugin that can't stop must not keep the others from stopping.
const stopped = <R>(
  { name }: ConfiguredPlugin<R>,
  scope: Scope.Closeable,
  exit: Exit.Exit<unknown, unknown>
): Effect.Effect<void> =>
  Scope.close(scope, exit).pipe(
    Effect.catchCause((cause) => Effect.logError(`plugin ${name} did not stop cleanly`, cause)),
    within(stopTimeout, () => Effect.logError(`plugin ${name} did not stop within ${stopTimeout}`))
  )
