import { compareSchemas, type SchemaDifference } from "./compare-schemas.ts"
import type { Contract, ToolContract } from "./contract.ts"

/** Severity of a change for callers of the tools. */
export type Weight = "breaking" | "additive" | "nothing"

export interface ContractChange {
  /** `dialect/name`; empty for the plugin as a whole. */
  readonly tool: string
  readonly weight: Weight
  readonly change: string
}

/** Everything that is different between what was promised and what is promised now. */
export const compareContracts = (before: Contract, after: Contract): ReadonlyArray<ContractChange> => {
  const names = [...new Set([...Object.keys(before.tools), ...Object.keys(after.tools)])].toSorted()
  const changes = names.flatMap((tool) => {
    const [was, is] = [before.tools[tool], after.tools[tool]]
    if (was === undefined) return [{ tool, weight: "additive", change: "the tool is new" } as const]
    if (is === undefined) return [{ tool, weight: "breaking", change: "the tool is gone" } as const]
    return compareTools(was, is).map(([weight, change]) => ({ tool, weight, change }))
  })
  if (before.contract === after.contract) return changes
  const change = `it speaks plugin contract ${after.contract}, not ${before.contract} any more`
  return [{ tool: "", weight: "breaking", change }, ...changes]
}

/** The heaviest of them. */
export const weightOf = (changes: ReadonlyArray<ContractChange>): Weight =>
  (["breaking", "additive"] as const).find((weight) => changes.some((change) => change.weight === weight)) ?? "nothing"

type Weighed = readonly [Weight, string]

const compareTools = (was: ToolContract, is: ToolContract): ReadonlyArray<Weighed> => [
  ...when(was.description !== is.description, "nothing", "its description changed"),
  // With a higher risk people are asked who were not before; with a lower one they are not asked any more.
  ...when(was.risk !== is.risk, "breaking", `its risk was ${was.risk}, is ${is.risk}`),
  ...when(was.idempotent && !is.idempotent, "breaking", "it is no longer idempotent"),
  ...when(!was.idempotent && is.idempotent, "additive", "it is idempotent now"),
  ...when(!was.openWorld && is.openWorld, "breaking", "it reaches beyond the machine now"),
  ...when(was.openWorld && !is.openWorld, "additive", "it no longer reaches beyond the machine"),
  ...compareTouches(was, is),
  ...compareSchemas(was.input, is.input).map((one) => weigh(one, "parameter")),
  ...compareSchemas(was.output, is.output).map((one) => weigh(one, "result field"))
]

const when = (isSo: boolean, weight: Weight, text: string): ReadonlyArray<Weighed> => (isSo ? [[weight, text]] : [])

const compareTouches = ({ touches: was }: ToolContract, { touches: is }: ToolContract): ReadonlyArray<Weighed> => {
  if (was === undefined || is === undefined) return []
  return [
    ...is.filter((kind) => !was.includes(kind)).map((kind): Weighed => ["breaking", `it ${kind} now`]),
    ...was.filter((kind) => !is.includes(kind)).map((kind): Weighed => ["additive", `it no longer ${kind}`])
  ]
}

// Callers write parameters, so taking less breaks them. They read results, so answering with more kinds of values does.
const weights = {
  parameter: { narrower: "breaking", wider: "additive", new: "additive", new_required: "breaking" },
  "result field": { narrower: "additive", wider: "breaking", new: "additive", new_required: "additive" }
} as const

const weigh = ({ path, effect, text }: SchemaDifference, what: keyof typeof weights): Weighed => {
  const told = `${what}${path === "" ? "s" : ` '${path}'`}: ${text}`
  if (effect === "wording") return ["nothing", told]
  if (effect === "changed" || effect === "removed") return ["breaking", told]
  return [weights[what][effect], told]
}
