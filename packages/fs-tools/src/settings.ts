import * as Context from "effect/Context"
import * as z from "zod"

/** Settings of the fs package. */
export const fsConfig = z
  .strictObject({
    binaryPatches: z
      .enum(["apply", "refuse"])
      .default("apply")
      .describe("Whether `GIT binary patch` hunks are applied, or refused by name")
  })
  .prefault({})

/** Policy for `GIT binary patch` hunks: apply them, or refuse them by name. */
export const BinaryPatches = Context.Reference<z.output<typeof fsConfig>["binaryPatches"]>(
  "@haft/fs-tools/BinaryPatches",
  { defaultValue: () => "apply" }
)
