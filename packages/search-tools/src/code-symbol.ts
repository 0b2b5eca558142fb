import type { CodeSymbol } from "@haft/core"
import * as z from "zod"

/** A definition as replies have it. */
export const listedSymbol = z.object({
  path: z.string(),
  symbol: z.string(),
  kind: z.string(),
  container: z.string().optional(),
  start_line: z.number(),
  end_line: z.number(),
  signature: z.string()
})
export type ListedSymbol = z.output<typeof listedSymbol>

export const listed = ({ path, name, kind, container, startLine, endLine, signature }: CodeSymbol): ListedSymbol => ({
  path,
  symbol: name,
  kind,
  ...(container !== undefined && { container }),
  start_line: startLine,
  end_line: endLine,
  signature
})
