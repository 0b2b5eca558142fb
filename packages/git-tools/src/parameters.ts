import * as z from "zod"

/** A commit, a branch or a range. No dash at the beginning, which git would read as an option. */
export const revision = z.string().regex(/^[^-\s\0][^\s\0]*$/, "not a revision: no spaces, no dash in front")

export const path = z.string().min(1).describe("A path, relative to the workspace")

export const paths = z.array(path).max(1000)
