import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as z from "zod"

import { AttachedBlocks, type ContentBlock } from "./pipeline/call.ts"
import type { Shortened } from "./pipeline/reply-budget.ts"
import type { Profile } from "./profile.ts"
import { plainIssues } from "./schema/describe-issues.ts"
import { inputJsonSchema, type JsonSchema, outputJsonSchema } from "./schema/json-schema.ts"
import { decodeLeniently } from "./schema/lenient-decoding.ts"
import { frozen } from "./schema/reply-limits.ts"
import { type ErrorCode, makeToolError, type ToolError, withMessage } from "./tool-error.ts"
import type { Facts, Risk, Touches } from "./touches.ts"

/** The types of a tool as a caller sees them: name, arguments, output and the codes its own work can fail with. */
export interface ToolTypes {
  readonly dialect: string
  readonly name: string
  readonly args: unknown
  readonly output: unknown
  readonly code: ErrorCode
}

/** {@link ToolTypes} of one tool. */
export interface TypesOf<D extends string, Name extends string, Args, Output, Code extends ErrorCode> {
  readonly dialect: D
  readonly name: Name
  readonly args: Args
  readonly output: Output
  readonly code: Code
}

/**
 * Definition of a tool: one operation worded for one contract. `Code` is inferred: what
 * `touches`, `preview` and `execute` can fail with.
 */
export interface ToolDefinition<
  Name extends string,
  Input extends z.ZodObject,
  Output extends z.ZodObject,
  R,
  Code extends ErrorCode = ErrorCode
> {
  readonly name: Name
  /** The operation that the tool words, by which rules know it in every dialect; the tool's own name when absent. */
  readonly operation?: string
  /** Description for the model. */
  readonly description: string
  /** A strict object: keys that are not listed are refused. */
  readonly input: Input
  readonly output: Output
  readonly risk: Risk
  /**
   * True if the contract requires approval. The dialect decides by risk when this is absent. An Effect where
   * the answer depends on a service of the plugin, such as its configuration.
   */
  readonly asks?: boolean | ((facts: Facts, input: z.output<Input>) => boolean | Effect.Effect<boolean, never, R>)
  /** The road's backstop. An operation that keeps partial output has a shorter clock of its own. */
  readonly timeout?: Duration.Input | ((input: z.output<Input>) => Duration.Input)
  readonly touches?: (input: z.output<Input>) => Touches | Effect.Effect<Touches, ToolError<Code>, R>
  /**
   * The arguments as they go on record, for a tool that is handed what nobody should read later, such as a password.
   * Asked before they are decoded, so anything may be in them. As they are when absent, less what looks like a secret.
   */
  readonly forRecord?: (args: unknown) => Effect.Effect<unknown, never, R>
  /** A unified diff of what would change, for approval and dry runs. */
  readonly preview?: (input: z.output<Input>) => Effect.Effect<string, ToolError<Code>, R>
  readonly execute: (input: z.output<Input>) => Effect.Effect<z.input<Output>, ToolError<Code>, R>
  /** The answer for people. JSON when absent. */
  readonly render?: (output: z.output<Output>, input: z.output<Input>) => string
  /** The answer as content blocks, for an image or audio. One text block with what `render` gives when absent. */
  readonly blocks?: (output: z.output<Output>, input: z.output<Input>) => ReadonlyArray<ContentBlock>
  /** The contract's own words for a failure of this tool. */
  readonly wording?: Wording<z.output<Input>>
  /** Same call twice, same state: true for read-only tools when absent. */
  readonly idempotent?: boolean
  /** Reaches beyond this machine. */
  readonly openWorld?: boolean
  /** The smallest profile of a host that lists the tool; every profile when absent. */
  readonly profile?: Profile
  /** Arguments of typical calls, for model APIs that take examples. */
  readonly examples?: ReadonlyArray<z.input<Input>>
}

/** Rewrites the messages of failures, by code. */
export type Wording<Input = Readonly<Record<string, unknown>>> = {
  readonly [Code in ErrorCode]?: (error: ToolError<Code>, input: Input) => string
}

/** One contract's wording of one operation, ready for a host. */
export interface Tool<out R = never, out Types extends ToolTypes = ToolTypes> {
  readonly name: Types["name"]
  /** The operation it words, the same in every dialect. */
  readonly operation: string
  /** The dialect it belongs to; `any` can be spoken by every dialect. */
  readonly dialect: Types["dialect"]
  /** Phantom: the types that typed calls read. */
  readonly "~types"?: Types
  readonly description: string
  readonly risk: Risk
  readonly idempotent: boolean
  readonly openWorld: boolean
  /** The smallest profile of a host that lists the tool; every profile when absent. */
  readonly profile?: Profile
  /** Arguments of typical calls. */
  readonly examples?: ReadonlyArray<Readonly<Record<string, unknown>>>
  /** JSON Schemas, made once, on first use. */
  readonly inputSchema: JsonSchema
  readonly outputSchema: JsonSchema
  /** The values of fields that a caller leaves out. Required fields are missing. */
  readonly defaults: Readonly<Record<string, unknown>>
  /** Selects the arguments for the audit log; all of them when absent. */
  readonly forRecord?: (args: unknown) => Effect.Effect<unknown, never, R>
  /** Decodes arguments into a call that can be assessed and executed. */
  readonly prepare: (
    args: unknown,
    options?: PrepareOptions
  ) => Effect.Effect<PreparedCall<R, Types["code"]>, ToolError<"invalid_params">>
}

export interface PrepareOptions {
  /** Takes `null` for absent, `"1"` for 1 and one object for a list of one, see {@link PreparedCall.adjusted}. */
  readonly lenient?: boolean
}

/** A tool of which only the codes it can fail with are known. */
export type FailingTool<R, Code extends ErrorCode> = Tool<R, ToolTypes & { readonly code: Code }>

/** A tool with its arguments: what the road drives. */
export interface PreparedCall<out R, out Code extends ErrorCode = ErrorCode> {
  /** Decoded arguments: keys in schema order, defaults filled in. */
  readonly input: Readonly<Record<string, unknown>>
  /** Repairs made to the arguments, as text. Absent where none were necessary. */
  readonly adjusted?: ReadonlyArray<string>
  readonly timeout: Duration.Input | undefined
  readonly touches: Effect.Effect<Touches, ToolError<Code>, R>
  /** Undefined leaves it to the dialect. */
  readonly asks: (facts: Facts) => Effect.Effect<boolean | undefined, never, R>
  readonly preview: Effect.Effect<string, ToolError<Code>, R> | undefined
  readonly execute: Effect.Effect<Executed, ToolError<Code>, R>
  readonly reword: (error: ToolError) => ToolError
}

export interface Executed {
  readonly output: Readonly<Record<string, unknown>>
  readonly text: string
  readonly blocks: ReadonlyArray<ContentBlock>
  /** Set where the answer was beyond the budget of a reply. */
  readonly shortened?: Shortened
}

/** Makes a tool of a definition. Dialects call it through their own `tool`; `defineTool` is for any dialect. */
export const makeTool = <
  const D extends string,
  const Name extends string,
  Input extends z.ZodObject,
  Output extends z.ZodObject,
  R = never,
  Code extends ErrorCode = never
>(
  dialect: D,
  definition: ToolDefinition<Name, Input, Output, R, Code>
): Tool<
  R,
  // Mapped, so that declarations and editors show plain objects and not the schemas they come from.
  TypesOf<
    D,
    Name,
    { [Key in keyof z.input<Input>]: z.input<Input>[Key] },
    { [Key in keyof z.output<Output>]: z.output<Output>[Key] },
    Code
  >
> => {
  const schemas: { input?: JsonSchema; output?: JsonSchema } = {}
  let defaults: Readonly<Record<string, unknown>> | undefined
  const timeout = timeoutOf(definition)
  return {
    name: definition.name,
    operation: definition.operation ?? definition.name,
    dialect,
    description: definition.description,
    risk: definition.risk,
    idempotent: definition.idempotent ?? definition.risk === "read_only",
    openWorld: definition.openWorld ?? false,
    ...(definition.profile !== undefined && { profile: definition.profile }),
    ...(definition.examples !== undefined && { examples: definition.examples }),
    ...(definition.forRecord !== undefined && { forRecord: definition.forRecord }),
    get inputSchema() {
      return (schemas.input ??= inputJsonSchema(definition.input))
    },
    get outputSchema() {
      return (schemas.output ??= outputJsonSchema(definition.output))
    },
    get defaults() {
      return (defaults ??= defaultsOf(definition.input))
    },
    prepare: (args, { lenient = false } = {}) => {
      const decoded = definition.input.safeParse(args)
      if (decoded.success) return Effect.succeed(prepareCall(definition, frozen(decoded.data), timeout))
      const meant = lenient ? decodeLeniently(definition.input, args, decoded.error) : undefined
      if (meant === undefined) return Effect.fail(invalidParams(decoded.error, args))
      const { data, adjusted } = meant
      return Effect.succeed({ ...prepareCall(definition, frozen(data), timeout), adjusted })
    }
  }
}

const defaultsOf = (input: z.ZodObject): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(input.shape).flatMap(([name, field]) => {
      const decoded = (field as z.ZodType).safeParse(undefined)
      return decoded.success ? [[name, decoded.data]] : []
    })
  )

/** A tool that every dialect can speak, for plugins that follow no contract. */
export const defineTool = <
  const Name extends string,
  Input extends z.ZodObject,
  Output extends z.ZodObject,
  R = never,
  Code extends ErrorCode = never
>(
  definition: ToolDefinition<Name, Input, Output, R, Code>
): Tool<
  R,
  TypesOf<
    "any",
    Name,
    { [Key in keyof z.input<Input>]: z.input<Input>[Key] },
    { [Key in keyof z.output<Output>]: z.output<Output>[Key] },
    Code
  >
> => makeTool("any", definition)

/** A fixed timeout, such as "10 seconds", is parsed once and not for every call. */
const timeoutOf = <Input extends z.ZodObject, Output extends z.ZodObject, R>({
  timeout
}: ToolDefinition<string, Input, Output, R>): ((input: z.output<Input>) => Duration.Duration | undefined) => {
  if (typeof timeout === "function") return (input) => Duration.fromInputUnsafe(timeout(input))
  const fixed = timeout === undefined ? undefined : Duration.fromInputUnsafe(timeout)
  return () => fixed
}

const prepareCall = <Input extends z.ZodObject, Output extends z.ZodObject, R, Code extends ErrorCode>(
  definition: ToolDefinition<string, Input, Output, R, Code>,
  input: z.output<Input>,
  timeout: (input: z.output<Input>) => Duration.Duration | undefined
): PreparedCall<R, Code> => ({
  input,
  timeout: timeout(input),
  touches: Effect.suspend(() => {
    const touches = definition.touches?.(input) ?? {}
    return Effect.isEffect(touches) ? touches : Effect.succeed(touches)
  }),
  asks: (facts) => {
    const asks = typeof definition.asks === "function" ? definition.asks(facts, input) : definition.asks
    return Effect.isEffect(asks) ? asks : Effect.succeed(asks)
  },
  preview: definition.preview?.(input),
  execute: Effect.suspend(() => {
    const attached: Array<ContentBlock> = []
    return Effect.map(Effect.provideService(definition.execute(input), AttachedBlocks, attached), (raw) => {
      const output = answerOf(definition, raw)
      const text: unknown = definition.render?.(output, input) ?? JSON.stringify(output, null, 2)
      if (typeof text !== "string") throw new TypeError(`render must return a string, not ${typeof text}`)
      const blocks = definition.blocks?.(output, input) ?? [{ type: "text", text }]
      return { output, text, blocks: attached.length === 0 ? blocks : [...blocks, ...attached] }
    })
  }),
  reword: (error) => {
    const reworded = definition.wording?.[error.code] as
      | ((error: ToolError, input: z.output<Input>) => string)
      | undefined
    return reworded === undefined ? error : withMessage(error, reworded(error, input))
  }
})

// An answer that breaks the tool's own schema is a bug of the tool, so it throws: a defect.
const answerOf = <Input extends z.ZodObject, Output extends z.ZodObject, R>(
  { name, output }: ToolDefinition<string, Input, Output, R>,
  raw: unknown
): z.output<Output> => {
  const checked = output.safeParse(raw)
  if (checked.success) return checked.data
  const problems = plainIssues(checked.error).map(({ path, message }) => `${path.join(".") || "it"}: ${message}`)
  throw new TypeError(`the output of ${name} does not match its output schema: ${problems.join("; ")}`)
}

const invalidParams = (error: z.ZodError, args: unknown): ToolError<"invalid_params"> => {
  const issues = plainIssues(error)
  const [first] = issues
  return makeToolError("invalid_params", issues.map((issue) => describeIssue(issue, args)).join("; "), {
    suggestion: "Correct the parameters named in the message and call again.",
    details: { parameter: first === undefined ? "" : parameterOf(first) }
  })
}

const parameterOf = (issue: z.core.$ZodIssue): string =>
  issue.code === "unrecognized_keys" ? [...issue.path, issue.keys[0] ?? ""].join(".") : issue.path.join(".")

const describeIssue = (issue: z.core.$ZodIssue, args: unknown): string => {
  const where = issue.path.join(".")
  if (issue.code === "unrecognized_keys") {
    return `unknown parameter ${issue.keys.map((key) => `'${where === "" ? key : `${where}.${key}`}'`).join(", ")}`
  }
  if (where === "") return describeWhole(issue, args)
  if (issue.code === "invalid_type" && valueAt(args, issue.path) === undefined) {
    return `missing parameter '${where}' (expected ${issue.expected})`
  }
  return `parameter '${where}': ${issue.message}`
}

const describeWhole = (issue: z.core.$ZodIssue, args: unknown): string => {
  if (typeof args === "string")
    return "the parameters must be an object, not a text: what is no valid JSON arrives as one"
  return `the parameters ${issue.code === "invalid_type" ? "must be an object" : "do not fit together"}: ${issue.message}`
}

const valueAt = (value: unknown, path: ReadonlyArray<PropertyKey>): unknown =>
  path.reduce<unknown>(
    (inner, key) =>
      typeof inner === "object" && inner !== null ? (inner as Record<PropertyKey, unknown>)[key] : undefined,
    value
  )
