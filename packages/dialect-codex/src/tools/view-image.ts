import { Buffer } from "node:buffer"
import { extname } from "node:path"

import { singleLine } from "@haft/core"
import { readBytes } from "@haft/fs-tools/operations"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { codex, worded } from "../dialect.ts"

const mimeTypes: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp"
}

/** No model takes larger images. */
const mostBytes = 20 * 1024 * 1024

export const viewImage = codex.tool({
  name: "view_image",
  operation: "read-file",
  description: "Look at an image file of the workspace.",
  input: z.strictObject({
    path: z.string().describe("Image, absolute or relative to the workspace"),
    detail: z.enum(["high", "original"]).optional().describe("original keeps the size of the image")
  }),
  output: z.object({ image_url: z.string(), detail: z.enum(["high", "original"]) }),
  risk: "read_only",
  timeout: "60 seconds",
  touches: ({ path }) => ({ reads: [path] }),
  execute: Effect.fnUntraced(function* ({ path, detail = "high" }) {
    const mimeType = mimeTypes[extname(path).toLowerCase()]
    if (mimeType === undefined) {
      return yield* worded("binary_file", `image path \`${singleLine(path)}\` is not a supported image`)
    }
    const { content } = yield* readBytes(path, mostBytes).pipe(
      Effect.mapError((error) => {
        const place = `\`${singleLine(path)}\``
        if (error.code === "file_not_found") {
          return worded(error.code, `unable to locate image at ${place}: No such file or directory (os error 2)`)
        }
        return error.code === "is_directory" ? worded(error.code, `image path ${place} is not a file`) : error
      })
    )
    return { image_url: `data:${mimeType};base64,${Buffer.from(content).toString("base64")}`, detail }
  }),
  // The answer is the image, and nothing beside it.
  render: () => "",
  blocks: ({ image_url }) => {
    const [, mimeType = "", data = ""] = /^data:([^;]*);base64,(.*)$/s.exec(image_url) ?? []
    return [{ type: "image", data, mimeType }]
  }
})
