import { type ConfiguredPlugin, use } from "@haft/core"
import { fsTools } from "@haft/fs-tools"

import type { StandardServices } from "./config.ts"

/** haft's own tool packages, in the order their tools are listed. */
export const packageNames = ["fs"] as const
export type PackageName = (typeof packageNames)[number]

const packages: Readonly<Record<PackageName, () => ConfiguredPlugin<StandardServices>>> = {
  fs: () => use(fsTools)
}

export const standardPlugins = (
  names: ReadonlyArray<PackageName> = packageNames
): ReadonlyArray<ConfiguredPlugin<StandardServices>> =>
  packageNames.filter((name) => names.includes(name)).map((name) => packages[name]())
