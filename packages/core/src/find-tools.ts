import * as Effect from "effect/Effect"
import * as z from "zod"

import type { ToolDescription } from "./host.ts"
import { findToolsName } from "./profile.ts"
import { makeTool, type Tool } from "./tool.ts"

/** Searches the tools that a host's profile leaves out, so that a model can call them. */
export const findTools = (deferred: () => ReadonlyArray<ToolDescription>): Tool =>
  makeTool("any", {
    name: findToolsName,
    operation: "find-tools",
    description: "Find tools that are not listed, by name or by what they do. What it returns can be called.",
    input: z.strictObject({
      query: z.string().max(1000).default("").describe("Words, such as 'terminal'; empty lists all names"),
      max_results: z.number().int().min(1).max(50).default(5).describe("Tools to return at most")
    }),
    output: z.object({
      tools: z.array(
        z.object({ name: z.string(), description: z.string(), parameters: z.record(z.string(), z.unknown()) })
      ),
      /** Names of deferred tools that were not returned. */
      others: z.array(z.string())
    }),
    risk: "read_only",
    execute: ({ query, max_results }) =>
      Effect.sync(() => {
        const all = deferred()
        const tools = ranked(all, query).slice(0, max_results)
        return {
          tools: tools.map(({ name, description, inputSchema }) => ({ name, description, parameters: inputSchema })),
          others: all.filter((tool) => !tools.includes(tool)).map(({ name }) => name)
        }
      }),
    render: ({ tools, others }) =>
      [
        ...tools.map(({ name, description, parameters }) => `${name}: ${description}\n${JSON.stringify(parameters)}`),
        others.length === 0 ? "" : `Not shown: ${others.join(", ")}`
      ]
        .filter((part) => part !== "")
        .join("\n\n")
  })

const ranked = (tools: ReadonlyArray<ToolDescription>, query: string): ReadonlyArray<ToolDescription> => {
  const words = wordsIn(query)
  return tools
    .map((tool) => ({ tool, score: scoreOf(tool, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score)
    .map(({ tool }) => tool)
}

// A word of the name says more than one of the description, and that more than a parameter's name.
const scoreOf = ({ name, description, inputSchema }: ToolDescription, words: ReadonlyArray<string>): number => {
  const fields = [wordsIn(name), wordsIn(description), wordsIn(Object.keys(inputSchema["properties"] ?? {}).join(" "))]
  return words.reduce(
    (sum, word) =>
      sum +
      fields.reduce((best, field, at) => Math.max(best, field.some((one) => isAlike(one, word)) ? 4 >> at : 0), 0),
    0
  )
}

/** True for a word and its beginning, so that "terminals" finds "terminal" and "process" finds "processes". */
const isAlike = (one: string, other: string): boolean =>
  one === other || (Math.min(one.length, other.length) >= 4 && (one.startsWith(other) || other.startsWith(one)))

const wordsIn = (text: string): ReadonlyArray<string> => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
