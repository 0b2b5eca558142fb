import { clipText } from "@haft/core"
import type { CallToolResult } from "@modelcontextprotocol/client"
import * as z from "zod"

/** The answer of a tool of another server, which can be anything. */
export const RemoteAnswer = z.object({
  content: z.array(z.looseObject({ type: z.string() })).describe("What the server answered, block by block"),
  structured: z.record(z.string(), z.unknown()).optional().describe("The same as data, where the server sends it")
})

/** The limit of a text, and of the answer as data. */
const mostBytes = 256 * 1024
/** The limit of all blocks of an answer together. */
const mostOfAll = 4 * mostBytes
const mostBlocks = 1_000

/** An answer within the limits. What is left out is replaced by its size. */
export const answerOf = ({ content, structuredContent }: CallToolResult): z.input<typeof RemoteAnswer> => ({
  content: fitting(content),
  ...(structuredContent !== undefined && {
    structured:
      sizeOf(structuredContent) > mostBytes
        ? { omitted: `more than ${mostBytes} bytes` }
        : (structuredContent as Record<string, unknown>)
  })
})

export const textOf = ({ content }: { readonly content: ReadonlyArray<Block> }): string =>
  content.flatMap((block) => ("text" in block && typeof block.text === "string" ? [block.text] : [])).join("\n")

type Block = { readonly type: string }

// Only texts are clipped: a part of an image or a file is useless, so one that is too large is left out. The blocks
// after it are kept, as they may explain it.
const fitting = (content: CallToolResult["content"]): Array<Block> => {
  let left = mostOfAll
  const blocks = content.slice(0, mostBlocks).map((block): Block => {
    const shown = clipped(block)
    const size = sizeOf(shown)
    if (size > left) return { type: block.type, omitted: `${size} bytes` } as Block
    left -= size
    return shown
  })
  const more = content.length - blocks.length
  return more === 0 ? blocks : [...blocks, { type: "text", text: `… and ${more} more blocks, left out` } as Block]
}

const clipped = <B extends CallToolResult["content"][number]>(block: B): B =>
  block.type === "text" ? { ...block, text: clipText(block.text, mostBytes).text } : block

const sizeOf = (value: unknown): number => JSON.stringify(value).length
