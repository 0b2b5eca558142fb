import type { CallOptions, HostService, ToolDescription } from "@haft/core"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

import { legalNames } from "./tool-list/names.ts"
import { listedTools } from "./tool-list/shown-tools.ts"

/** A tool of a host for `effect/ai`, described by its JSON Schema. The host checks the arguments, not `effect/ai`. */
export type HostTool = ReturnType<typeof hostTool>

/** A host's tools as a toolkit of `effect/ai`, and the layer that makes their calls. */
export interface HostToolkit {
  readonly toolkit: Toolkit.Toolkit<Record<string, HostTool>>
  readonly layer: Layer.Layer<Tool.HandlersFor<Record<string, HostTool>>>
}

/**
 * The result of a tool is the dialect's envelope, also when it failed: the model reads what went wrong, and goes on.
 */
export const effectToolkit = (
  host: HostService,
  options: Pick<CallOptions, "ask" | "onProgress"> = {}
): HostToolkit => {
  const { legal, original } = legalNames(host.tools.map(({ name }) => name))
  const tools = listedTools(host).map((tool) => hostTool(tool, legal(tool.name)))
  const toolkit: HostToolkit["toolkit"] = Toolkit.make(...tools)
  const call = (name: string) => (args: unknown) =>
    Effect.map(host.call(original(name), args, options), ({ wire }): unknown => wire)
  return { toolkit, layer: toolkit.toLayer(Object.fromEntries(tools.map(({ name }) => [name, call(name)]))) }
}

const hostTool = (tool: ToolDescription, name: string) =>
  Tool.dynamic(name, { description: tool.description, parameters: tool.inputSchema, success: Schema.Unknown })
    .annotate(Tool.Readonly, tool.risk === "read_only")
    .annotate(Tool.Destructive, tool.risk === "dangerous")
    .annotate(Tool.Idempotent, tool.idempotent)
    .annotate(Tool.OpenWorld, tool.openWorld)
