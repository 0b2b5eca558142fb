import type * as z from "zod"

import type { Call, SymlinkPolicy } from "./pipeline/call.ts"
import type { Shortened } from "./pipeline/reply-budget.ts"
import type { JsonSchema } from "./schema/json-schema.ts"
import { errorCodes, type ErrorCode, type ToolError } from "./tool-error.ts"
import { makeTool, type Tool, type ToolDefinition, type TypesOf, type Wording } from "./tool.ts"
import type { Risk } from "./touches.ts"

/** A call that is over, as a dialect sees it. */
export interface FinishedCall {
  readonly call: Call
  /** Milliseconds since the epoch. */
  readonly endedAt: number
  readonly durationMs: number
  /** Paths that the call wrote or would have written, relative to the workspace. */
  readonly writes: ReadonlyArray<string>
  /** Changes of the arguments, to make them fit or by an approver, and the approver's comment. */
  readonly adjusted: ReadonlyArray<string>
}

export interface Success extends FinishedCall {
  readonly output: Readonly<Record<string, unknown>>
  readonly text: string
  /** Set where the output was beyond the budget of a reply, and parts of it are left out. */
  readonly shortened?: Shortened
  /** True for a tool that belongs to no dialect: its output is not in this contract's shape. */
  readonly isForeign: boolean
}

export interface Failure extends FinishedCall {
  readonly error: ToolError
  /** The dialect's own name for `error.code`. */
  readonly errorName: string
}

/** Reply format of a contract: its envelope, its error names and its conventions. */
export interface DialectDefinition<out Name extends string = string> {
  readonly name: Name
  readonly symlinks: SymlinkPolicy
  /** Default for tools that don't say whether they require approval, by risk. */
  readonly asks: (risk: Risk) => boolean
  /**
   * Takes arguments with only one possible meaning although they do not fit: `null` for absent, `"1"` for 1, one object
   * for a list of one. The envelope has to say what was {@link FinishedCall.adjusted}. False when absent.
   */
  readonly isLenient?: boolean
  /** Names of the codes that the contract calls by another name than the engine. */
  readonly errorNames?: Readonly<Partial<Record<ErrorCode, string>>>
  /** Words for failures that sound the same in every tool of the contract. */
  readonly wording?: Wording
  /** True if texts of an output may be shortened when a reply is too large; lists may be in any case. */
  readonly clipsTexts?: boolean
  readonly success: (success: Success) => unknown
  readonly failure: (failure: Failure) => unknown
  /** A failure as the model reads it. `Error: `, the message and the suggestion when absent. */
  readonly failureText?: (failure: Failure) => string
  /** The JSON Schema of the envelope around a tool's output. */
  readonly envelope: (output: JsonSchema) => JsonSchema
  /** How the contract publishes a tool's parameters, where it differs from the schema itself. */
  readonly publishInput?: (schema: JsonSchema, tool: Pick<Tool<unknown>, "name" | "dialect">) => JsonSchema
  /** See {@link ToolDescription.hidesReplySchema}. */
  readonly hidesReplySchemas?: boolean
  /** Tests whether an output counts as success on a command line, such as a command's exit code. Always when absent. */
  readonly isSuccess?: (output: Readonly<Record<string, unknown>>) => boolean
  /** True where the contract documents how replies are shown to people: with marks and timings, in a pipe too. */
  readonly hasHumanFormat?: boolean
  /** How the contract prints an envelope on a command line, where it differs from the envelope. */
  readonly print?: (tool: string, wire: unknown) => unknown
}

export interface Dialect<out Own extends string = string> extends DialectDefinition<Own> {
  /** The contract's name of every code. */
  readonly errorNames: Readonly<Record<ErrorCode, string>>
  /** Words an operation for this contract. */
  readonly tool: <
    const Name extends string,
    Input extends z.ZodObject,
    Output extends z.ZodObject,
    R = never,
    Code extends ErrorCode = never
  >(
    definition: ToolDefinition<Name, Input, Output, R, Code>
  ) => Tool<
    R,
    TypesOf<
      Own,
      Name,
      { [Key in keyof z.input<Input>]: z.input<Input>[Key] },
      { [Key in keyof z.output<Output>]: z.output<Output>[Key] },
      Code
    >
  >
}

export const defineDialect = <const Name extends string>(definition: DialectDefinition<Name>): Dialect<Name> => ({
  ...definition,
  errorNames: { ...ownNames, ...definition.errorNames },
  tool: (tool) => makeTool(definition.name, tool)
})

const ownNames = Object.fromEntries(errorCodes.map((code) => [code, code])) as Record<ErrorCode, ErrorCode>
