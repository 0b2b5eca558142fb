import * as z from "zod"

/** What a host decides about searching. */
export const searchConfig = z
  .strictObject({ ripgrep: z.string().min(1).optional().describe("Absolute path of the ripgrep to use") })
  .optional()
