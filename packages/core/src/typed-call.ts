import type * as Effect from "effect/Effect"

import type { HostService } from "./host.ts"
import type { CallOptions, RoadCode } from "./pipeline/call-tool.ts"
import type { Reply } from "./pipeline/call.ts"
import type { OpenHost, PromiseCallOptions } from "./promise.ts"
import type { ToolTypes } from "./tool.ts"

/** The tools that a host of dialect `D` has, by name. Tools whose name is only known at run time are left out. */
export type ToolsIn<Types extends ToolTypes, D extends string> = {
  readonly [
    One in Types as One["dialect"] extends D | "any" ? (string extends One["name"] ? never : One["name"]) : never
  ]: One
}

/** The reply of one tool: its output, and its own codes with those that any call can fail with. */
export type ReplyOf<One> = One extends ToolTypes ? Reply<One["output"], One["code"] | RoadCode> : Reply

/** The arguments of one tool, as a caller writes them. */
type ArgsIn<One> = One extends ToolTypes ? One["args"] : unknown

/**
 * The names that a call takes: any `string`, since it is only known at run time, but of literals those of the tools.
 * `Others` are names that the types do not know, such as those of plugins that are loaded by name.
 */
export type NameIn<Tools, Others extends string, Name extends string> = string extends Name
  ? Name
  : Name extends keyof Tools
    ? Name
    : (keyof Tools & string) | Others

export type ArgsOf<Tools, Name> = string extends Name
  ? unknown
  : Name extends keyof Tools
    ? ArgsIn<Tools[Name]>
    : unknown

export type ReplyBy<Tools, Name> = string extends Name ? Reply : Name extends keyof Tools ? ReplyOf<Tools[Name]> : Reply

/** A host without Effect whose tools are known to the compiler. */
export interface TypedHost<Tools, Others extends string = never> extends OpenHost {
  readonly call: <Name extends string>(
    tool: NameIn<Tools, Others, Name>,
    args: ArgsOf<Tools, Name>,
    options?: PromiseCallOptions
  ) => Promise<ReplyBy<Tools, Name>>
  readonly tool: <Name extends string>(
    tool: NameIn<Tools, Others, Name>
  ) => (args: ArgsOf<Tools, Name>, options?: PromiseCallOptions) => Promise<ReplyBy<Tools, Name>>
}

/** A host whose tools are known to the compiler. */
export interface TypedHostService<Tools, Others extends string = never> extends HostService {
  readonly call: <Name extends string>(
    tool: NameIn<Tools, Others, Name>,
    args: ArgsOf<Tools, Name>,
    options?: CallOptions
  ) => Effect.Effect<ReplyBy<Tools, Name>>
  readonly tool: <Name extends string>(
    tool: NameIn<Tools, Others, Name>
  ) => (args: ArgsOf<Tools, Name>, options?: CallOptions) => Effect.Effect<ReplyBy<Tools, Name>>
  /** Phantom: the tools and the names that the types do not know. */
  readonly "~tools"?: readonly [Tools, Others]
}
