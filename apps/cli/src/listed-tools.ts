import type { DialectName, ToolDescription } from "haft"

/**
 * The tools of haft's own packages in a dialect, if they are known without loading the packages. They are only in the
 * bundle, where bundle/embedded-lists.ts puts another function in the place of this one.
 */
export const listedTools = async (_dialect: DialectName): Promise<ReadonlyArray<ToolDescription> | undefined> =>
  undefined
