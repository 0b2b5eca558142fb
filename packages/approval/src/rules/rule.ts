import * as z from "zod"

const oneOrMore = z.union([z.string().min(1), z.array(z.string().min(1)).min(1)])

const FieldCondition = z.union(
  [
    z.strictObject({ equals: z.json().describe("The field has exactly this value.") }),
    z.strictObject({
      glob: z.string().min(1).describe("The field is a text that fits this glob; * stays within a directory.")
    }),
    z.strictObject({
      expression: z.string().describe("The whole of the field's text fits this expression, in RE2's syntax.")
    })
  ],
  'expected { "equals": a value }, { "glob": a text } or { "expression": a text }'
)

const TouchConditions = z.strictObject({
  reads: oneOrMore.optional().describe("Globs for the paths that are read."),
  writes: oneOrMore.optional().describe("Globs for the paths that are written."),
  fetches: oneOrMore.optional().describe("Hosts, `*.` for the hosts below one, or URLs with globs in the path."),
  connects: oneOrMore
    .optional()
    .describe(
      "Hosts that running commands connect to: `example.com`, `*.example.com`, `example.com:22`. To allow, a host without a port stands for the ports 80 and 443; to ask or deny, for all."
    ),
  runs: oneOrMore
    .optional()
    .describe(
      "Commands, word by word: * inside a word is any text, ** at the end any further words, except options that write files or run programs and paths outside of the working directory."
    ),
  network: z
    .literal(true)
    .optional()
    .describe("To allow: what runs may use the network. To ask or deny: only what asks for the network.")
})

const Example = z.strictObject({
  arguments: z.record(z.string(), z.json()).default({}),
  reads: z.array(z.string()).optional(),
  writes: z.array(z.string()).optional(),
  fetches: z.string().optional(),
  connects: z.string().optional(),
  runs: z.string().optional(),
  network: z.literal(true).optional()
})

/** One remembered decision. Every condition it has must hold. */
export const Rule = z.strictObject({
  id: z.string().min(1).max(100).describe("Names the rule; unique in its file."),
  tool: z.string().min(1).optional().describe("The tool's name, exactly; any when absent."),
  operation: oneOrMore
    .optional()
    .describe("The operation, or one of several, whatever a dialect calls its tool: `read-file`; any when absent."),
  dialect: z.string().optional().describe("The dialect the tool belongs to; any when absent."),
  decision: z.enum(["allow", "ask", "deny"]).default("allow"),
  pattern: z
    .string()
    .optional()
    .describe("An expression in RE2's syntax over the arguments as compact JSON, keys in schema order."),
  fields: z
    .record(z.string(), FieldCondition)
    .optional()
    .describe(
      "Conditions on single fields, by name; dots go deeper. To allow, optional fields that are not named must have their defaults."
    ),
  exactly: z.record(z.string(), z.json()).optional().describe("These arguments and no others."),
  exactlySha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional()
    .describe("The same for long arguments: the SHA-256 of their compact JSON."),
  touches: TouchConditions.optional().describe("Conditions on what the call reads, writes, fetches or runs."),
  workspace: z.string().optional().describe("The workspace's absolute path; any when absent."),
  expires: z.iso.datetime({ offset: true }).optional().describe("The rule is over at this time."),
  enabled: z.boolean().default(true),
  maximumUses: z.number().int().min(1).max(1_000_000_000).optional().describe("How often it may allow a call."),
  uses: z.number().int().min(0).max(1_000_000_000).default(0),
  note: z.string().optional().describe("For people."),
  created: z.iso.datetime({ offset: true }).optional(),
  examples: z
    .strictObject({ match: z.array(Example).default([]), noMatch: z.array(Example).default([]) })
    .optional()
    .describe("Calls that the conditions must and must not match; checked whenever the rule is loaded.")
})

export type Rule = z.output<typeof Rule>
export type RuleExample = z.output<typeof Example>
export type TouchConditions = z.output<typeof TouchConditions>
export type FieldCondition = z.output<typeof FieldCondition>

/** The number of the file's format. A file with another number is not read. */
export const rulesVersion = 1

/** The rules as they are stored. */
export const RuleFile = z.strictObject({ version: z.literal(rulesVersion), rules: z.array(Rule).max(100_000) })
export type RuleFile = z.output<typeof RuleFile>
