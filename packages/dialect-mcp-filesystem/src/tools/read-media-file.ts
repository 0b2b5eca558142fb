import { Buffer } from "node:buffer"
import { extname } from "node:path"
import { pathToFileURL } from "node:url"

import { readBytes } from "@haft/fs-tools/operations"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { locate } from "../allowed-directories.ts"
import { mcpFilesystem } from "../dialect.ts"
import { inSystemWords } from "../system-errors.ts"

const mimeTypes: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
  ".bmp": "image/bmp",
  ".svg": "image/svg+xml",
  ".mp3": "audio/mpeg",
  ".wav": "audio/wav",
  ".ogg": "audio/ogg",
  ".flac": "audio/flac"
}

const item = z.union([
  z.strictObject({ type: z.enum(["image", "audio"]), data: z.string(), mimeType: z.string() }),
  z.strictObject({
    type: z.literal("resource"),
    resource: z.strictObject({ uri: z.string(), mimeType: z.string().optional(), blob: z.string() })
  })
])

export const readMediaFile = mcpFilesystem.tool({
  name: "read_media_file",
  operation: "read-file",
  description:
    "Read a file as base64 with its MIME type: an image or audio as such, anything else as an embedded resource.",
  input: z.strictObject({ path: z.string().describe("File, absolute or relative to the first allowed directory") }),
  output: z.strictObject({ content: z.array(item) }),
  risk: "read_only",
  timeout: "60 seconds",
  touches: ({ path }) => Effect.map(locate(path), (located) => ({ reads: [located.path] })),
  execute: Effect.fnUntraced(function* ({ path }) {
    const { absolute, path: inside } = yield* locate(path)
    const { content } = yield* inSystemWords({ call: "open", path: absolute })(readBytes(inside))
    const data = Buffer.from(content).toString("base64")
    const mimeType = mimeTypes[extname(absolute).toLowerCase()] ?? "application/octet-stream"
    const kind = mimeType.startsWith("image/") ? "image" : mimeType.startsWith("audio/") ? "audio" : undefined
    const block: z.output<typeof item> =
      kind === undefined
        ? { type: "resource", resource: { uri: pathToFileURL(absolute).href, mimeType, blob: data } }
        : { type: kind, data, mimeType }
    return { content: [block] }
  }),
  // The answer is the block, and nothing beside it.
  render: () => "",
  blocks: ({ content }) =>
    content.map((block) =>
      block.type === "resource"
        ? {
            type: "resource",
            uri: block.resource.uri,
            mimeType: block.resource.mimeType ?? "",
            blob: block.resource.blob
          }
        : block
    )
})
