import { isAbsolute } from "node:path"

import * as z from "zod"

// ripgrep is started in the workspace: what is relative would be a program of whoever writes there.
const program = z.string().refine(isAbsolute, "has to be an absolute path")

/** What a host decides about searching. */
export const searchConfig = z
  .strictObject({ ripgrep: program.optional().describe("Absolute path of the ripgrep to use") })
  .optional()
