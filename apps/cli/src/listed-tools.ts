import type { DialectName, ToolDescription } from "haft"

/**
 * The tools that haft's own packages have in a dialect, where that is known without loading them: in the bundle, which
 * has every list written down when it is made. From the sources nothing is known before a host is open.
 */
export const listedTools = async (_dialect: DialectName): Promise<ReadonlyArray<ToolDescription> | undefined> =>
  undefined
