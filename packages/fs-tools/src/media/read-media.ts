import { attachBlock, type ScannedFile, toolError, type ToolError, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"

import { Media } from "../settings.ts"
import type { MediaType } from "./file-signature.ts"
import { type FittedImage, fitImage } from "./fit-image.ts"

/** Facts about an image or a sound that was attached to the answer. */
export interface ShownMedia {
  readonly media_type: string
  readonly fingerprint: string
  readonly width?: number
  readonly height?: number
  readonly scaled?: boolean
}

/** The largest file that is read to be scaled down. */
const mostSourceBytes = 64 * 1024 * 1024

/** Attaches an image to the answer, scaled down where it must and can be. */
export const showImage = Effect.fnUntraced(function* (
  path: string,
  { mimeType, isCommon = false }: MediaType
): Effect.fn.Return<ShownMedia, ToolError<"binary_file" | "file_too_large"> | ReadProblem, Workspace> {
  const workspace = yield* Workspace
  const limits = yield* Media
  const { content, fingerprint } = yield* workspace.snapshot(path, { maxBytes: mostSourceBytes })
  const fitted = yield* Effect.promise(() => fitImage({ bytes: content, mimeType, isCommon }, limits))
  if ("problem" in fitted) return yield* refusal(path, mimeType, fitted.problem)
  yield* attachBlock({
    type: "image",
    data: Buffer.from(fitted.bytes).toString("base64"),
    mimeType: fitted.mimeType
  })
  const { width, height, isScaled } = fitted
  return { media_type: fitted.mimeType, fingerprint, width, height, ...(isScaled && { scaled: true }) }
})

/** Attaches a sound to the answer. */
export const showAudio = Effect.fnUntraced(function* (
  { path, size }: ScannedFile,
  { mimeType }: MediaType
): Effect.fn.Return<ShownMedia, ToolError<"file_too_large"> | ReadProblem, Workspace> {
  const workspace = yield* Workspace
  const { maxBytes } = yield* Media
  if (size > maxBytes) return yield* tooLarge(path, mimeType)
  const { content, fingerprint } = yield* workspace.snapshot(path, { maxBytes })
  yield* attachBlock({ type: "audio", data: Buffer.from(content).toString("base64"), mimeType })
  return { media_type: mimeType, fingerprint }
})

type ReadProblem = Effect.Error<ReturnType<(typeof Workspace)["Service"]["snapshot"]>>

type Problem = Extract<FittedImage, { readonly problem: unknown }>["problem"]

const refusal = (
  path: string,
  mimeType: string,
  problem: Problem
): Effect.Effect<never, ToolError<"binary_file" | "file_too_large">> => {
  if (problem === "too_large") return tooLarge(path, mimeType)
  const why =
    problem === "damaged"
      ? `${path} begins like ${mimeType} but is damaged or incomplete`
      : `${path} is ${mimeType}, which models can't be shown`
  return toolError("binary_file", why, {
    suggestion: "Read its bytes as base64, or convert it with a command.",
    details: { path, media_type: mimeType }
  })
}

const tooLarge = (path: string, mimeType: string): Effect.Effect<never, ToolError<"file_too_large">> =>
  toolError("file_too_large", `${path} is too large to be shown as ${mimeType}`, {
    suggestion: "Make it smaller with a command, or install the package sharp for the host to scale images down.",
    details: { path, media_type: mimeType }
  })
