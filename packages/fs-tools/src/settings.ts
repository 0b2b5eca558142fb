import * as Context from "effect/Context"
import * as z from "zod"

/** What a host decides about changes of files. */
export const fsConfig = z
  .strictObject({
    binaryPatches: z
      .enum(["apply", "refuse"])
      .default("apply")
      .describe("Whether `GIT binary patch` hunks are applied, or refused by name")
  })
  .prefault({})

/** Whether binary patches are applied here. */
export const BinaryPatches = Context.Reference<z.output<typeof fsConfig>["binaryPatches"]>(
  "@haft/fs-tools/BinaryPatches",
  { defaultValue: () => "apply" }
)
