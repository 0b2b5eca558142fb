import { type Counted, defineTool, singleLine } from "@haft/core"
import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { listed, listedSymbol } from "../code-symbol.ts"
import { findSymbol, type FoundSymbol } from "./find-symbol.ts"

const output = z.object({
  definitions: z.array(listedSymbol),
  total_definitions: z.number(),
  references: z.array(z.object({ path: z.string(), line: z.number(), content: z.string() })).optional(),
  total_references: z.number().optional(),
  truncated: z.boolean(),
  remarks: z.array(z.string())
})

const definition = {
  name: "find_symbol",
  profile: "coding",
  operation: "find-symbol",
  description: "Find the definition of a function, class, type or constant, and lines that mention its name.",
  input: z.strictObject({
    name: z
      .string()
      .min(1)
      .max(200)
      .regex(/[\p{L}\p{N}_$]/u, "must contain a name")
      .describe("Exact name, such as parse or Parser.parse"),
    path: z.string().default(".").describe("Directory or file"),
    include_references: z.boolean().default(false).describe("Return references, too"),
    max_results: z.number().int().min(1).max(500).default(50).describe("Most definitions, and references, to return")
  }),
  output,
  risk: "read_only",
  timeout: "2 minutes",
  touches: ({ path }: { readonly path: string }) => ({ reads: [path] }),
  execute: (input: {
    readonly name: string
    readonly path: string
    readonly include_references: boolean
    readonly max_results: number
  }) =>
    findSymbol({
      name: input.name,
      path: input.path,
      limit: input.max_results,
      includeReferences: input.include_references
    }).pipe(Effect.map(outputOf)),
  render: (found: z.output<typeof output>) =>
    [
      `${found.total_definitions} ${found.total_definitions === 1 ? "definition" : "definitions"}`,
      ...found.definitions.map(
        ({ path, start_line, end_line, kind, container, signature }) =>
          `${singleLine(path)}:${start_line}-${end_line} ${kind}${container === undefined ? "" : ` in ${singleLine(container)}`}: ${singleLine(signature)}`
      ),
      ...(found.references === undefined
        ? []
        : [
            `${found.total_references} ${found.total_references === 1 ? "reference" : "references"}`,
            ...found.references.map(({ path, line, content }) => `${singleLine(path)}:${line}: ${content}`)
          ]),
      ...found.remarks
    ].join("\n")
} as const

const outputOf = ({ definitions, references }: FoundSymbol): z.input<typeof output> => ({
  definitions: definitions.items.map(listed),
  total_definitions: definitions.total,
  ...(references !== undefined && { references: [...references.items], total_references: references.total }),
  truncated: isCut(definitions) || (references !== undefined && isCut(references)),
  remarks: [...definitions.remarks]
})

const isCut = ({ items, total }: Counted<unknown>): boolean => total > items.length

export const haftFindSymbol = haft.tool(definition)
/** For hosts of other dialects, as an opt-in. */
export const anyFindSymbol = defineTool(definition)
