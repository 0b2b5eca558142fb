import type sharpPackage from "sharp"

import type { MediaSettings } from "../settings.ts"
import { type ImageSize, imageSize } from "./image-size.ts"

/** An image that a model API takes, or why there is none. */
export type FittedImage =
  | (ImageSize & { readonly bytes: Uint8Array; readonly mimeType: string; readonly isScaled: boolean })
  | { readonly problem: "damaged" | "too_large" | "not_convertible" }

interface Source {
  readonly bytes: Uint8Array
  readonly mimeType: string
  readonly isCommon: boolean
}

/**
 * Makes an image fit the limits. With the optional package `sharp` large ones are scaled down and uncommon ones
 * converted; without it an image is passed on as it is, up to the limit of bytes.
 */
export const fitImage = async (source: Source, limits: MediaSettings): Promise<FittedImage> => {
  const { bytes, mimeType, isCommon } = source
  const size = isCommon ? imageSize(bytes, mimeType) : undefined
  if (isCommon && size === undefined) return { problem: "damaged" }
  const isSmall = size !== undefined && Math.max(size.width, size.height) <= limits.longestSide
  if (isSmall && bytes.length <= limits.maxBytes) return { ...size, bytes, mimeType, isScaled: false }
  const sharp = await loadSharp()
  if (sharp !== undefined) return scaled(sharp, source, limits)
  if (size === undefined) return { problem: "not_convertible" }
  return bytes.length <= limits.maxBytes ? { ...size, bytes, mimeType, isScaled: false } : { problem: "too_large" }
}

type Sharp = typeof sharpPackage

let loading: Promise<Sharp | undefined> | undefined

/** The optional package, if it is installed. By a name that bundlers don't follow. */
const loadSharp = (): Promise<Sharp | undefined> => {
  const name = "sharp"
  loading ??= import(name).then(
    (loaded: { readonly default: Sharp }) => loaded.default,
    () => undefined
  )
  return loading
}

const scaled = async (
  sharp: Sharp,
  { bytes, mimeType }: Source,
  { longestSide, maxBytes }: MediaSettings
): Promise<FittedImage> => {
  const resized = sharp(bytes, { failOn: "error" })
    .rotate()
    .resize({ width: longestSide, height: longestSide, fit: "inside", withoutEnlargement: true })
  const encoders = [
    () => (mimeType === "image/jpeg" ? resized.clone().jpeg({ quality: 85 }) : resized.clone().png()),
    () => resized.clone().jpeg({ quality: 70 })
  ]
  try {
    for (const encode of encoders) {
      const { data, info } = await encode().toBuffer({ resolveWithObject: true })
      if (data.length > maxBytes) continue
      const { width, height, format } = info
      return { bytes: data, mimeType: format === "png" ? "image/png" : "image/jpeg", width, height, isScaled: true }
    }
    return { problem: "too_large" }
  } catch {
    return { problem: "damaged" }
  }
}
