import { defineTool, singleLine } from "@haft/core"
import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { listed, type ListedSymbol, listedSymbol } from "../code-symbol.ts"
import { outline } from "./outline.ts"

const definition = {
  name: "outline",
  profile: "coding",
  operation: "outline",
  description: "List definitions in a file or directory with lines and signatures. Use it before reading a long file.",
  input: z.strictObject({
    path: z.string().default(".").describe("File or directory"),
    members: z.boolean().default(true).describe("List members of classes, too"),
    max_results: z.number().int().min(1).max(2000).default(300).describe("Most definitions to return")
  }),
  output: z.object({
    symbols: z.array(listedSymbol),
    total: z.number(),
    truncated: z.boolean(),
    remarks: z.array(z.string())
  }),
  risk: "read_only",
  timeout: "2 minutes",
  touches: ({ path }: { readonly path: string }) => ({ reads: [path] }),
  execute: (input: { readonly path: string; readonly members: boolean; readonly max_results: number }) =>
    outline({ path: input.path, limit: input.max_results, topLevelOnly: !input.members }).pipe(
      Effect.map(({ items, total, remarks }) => ({
        symbols: items.map(listed),
        total,
        truncated: total > items.length,
        remarks: [...remarks]
      }))
    ),
  render: (found: {
    readonly symbols: ReadonlyArray<ListedSymbol>
    readonly total: number
    readonly remarks: ReadonlyArray<string>
  }) => {
    const files = [...Map.groupBy(found.symbols, ({ path }) => path)]
    const shown = found.symbols.length < found.total ? `, the first ${found.symbols.length} of them:` : ""
    return [
      `${found.total} ${found.total === 1 ? "definition" : "definitions"}${shown}`,
      ...files.flatMap(([path, symbols]) => [[singleLine(path)], symbols.map(lineOf)].flat()),
      ...found.remarks
    ].join("\n")
  }
} as const

const lineOf = ({ kind, container, start_line, end_line, signature }: ListedSymbol): string =>
  `${container === undefined ? "  " : "    "}${start_line}-${end_line} ${kind} ${singleLine(signature)}`

export const haftOutline = haft.tool(definition)
/** For hosts of other dialects, as an opt-in. */
export const anyOutline = defineTool(definition)
