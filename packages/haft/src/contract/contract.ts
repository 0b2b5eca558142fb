import type { JsonSchema, Risk, Tool } from "@haft/core"
import { sampleArguments } from "@haft/testing"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

/** Contract of one tool. */
export interface ToolContract {
  readonly description: string
  readonly risk: Risk
  readonly idempotent: boolean
  readonly openWorld: boolean
  /** Kinds of touches of a call; absent where that can't be told from made-up arguments. */
  readonly touches?: ReadonlyArray<string>
  readonly input: JsonSchema
  readonly output: JsonSchema
}

/** Contract of a tool package: the content of its `contract.lock.json`. */
export interface Contract {
  readonly plugin: string
  /** The number of the plugin contract. */
  readonly contract: number
  /** By `dialect/name`. */
  readonly tools: Readonly<Record<string, ToolContract>>
}

/** Current contract of a plugin. */
export const contractOf = (plugin: {
  readonly name: string
  readonly "~haft/Plugin": number
  readonly tools: ReadonlyArray<Tool<unknown>>
}): Contract => {
  const tools = plugin.tools.map((tool) => [`${tool.dialect}/${tool.name}`, promiseOf(tool)] as const)
  return {
    plugin: plugin.name,
    contract: plugin["~haft/Plugin"],
    tools: Object.fromEntries(tools.toSorted(([one], [other]) => (one < other ? -1 : 1)))
  }
}

const promiseOf = (tool: Tool<unknown>): ToolContract => {
  const touches = touchesOf(tool)
  return {
    description: tool.description,
    risk: tool.risk,
    idempotent: tool.idempotent,
    openWorld: tool.openWorld,
    ...(touches !== undefined && { touches }),
    input: tool.inputSchema,
    output: tool.outputSchema
  }
}

const touchesOf = (tool: Tool<unknown>): ReadonlyArray<string> | undefined => {
  const sample = Effect.suspend(() => tool.prepare(sampleArguments(tool.inputSchema)))
  const touches = Effect.flatMap(sample, (prepared) => prepared.touches)
  // Run without services: for a tool that needs one to say what it touches, it is left out.
  const exit = Effect.runSyncExit(touches as Effect.Effect<object>)
  if (Exit.isFailure(exit)) return undefined
  return Object.entries(exit.value)
    .filter(([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0))
    .map(([kind]) => kind)
    .toSorted()
}
