import * as Context from "effect/Context"
import * as z from "zod"

/** Settings of the fs package. */
export const fsConfig = z
  .strictObject({
    binaryPatches: z
      .enum(["apply", "refuse"])
      .default("apply")
      .describe("Whether `GIT binary patch` hunks are applied, or refused by name"),
    media: z
      .strictObject({
        longestSide: z
          .number()
          .int()
          .min(16)
          .default(1568)
          .describe(
            "Pixels of an image's longer side; larger ones are scaled down where the package `sharp` is installed"
          ),
        maxBytes: z
          .number()
          .int()
          .min(1024)
          .default(3_750_000)
          .describe("Bytes of an image or a sound at most, before it becomes base64")
      })
      .prefault({})
      .describe("Limits for images and sounds that `read_file` shows to models")
  })
  .prefault({})

/** Limits for images and sounds that models are shown. */
export type MediaSettings = z.output<typeof fsConfig>["media"]

export const Media = Context.Reference<MediaSettings>("@haft/fs-tools/Media", {
  defaultValue: () => fsConfig.parse({}).media
})

/** Policy for `GIT binary patch` hunks: apply them, or refuse them by name. */
export const BinaryPatches = Context.Reference<z.output<typeof fsConfig>["binaryPatches"]>(
  "@haft/fs-tools/BinaryPatches",
  { defaultValue: () => "apply" }
)
