import type { ToolDescription } from "./host.ts"

/** How many of its tools a host shows to a model at first, from the fewest to all. */
export const profiles = ["minimal", "coding", "all"] as const
export type Profile = (typeof profiles)[number]

/** Name of the tool that finds deferred tools. A host has it where its profile leaves some out. */
export const findToolsName = "find_tools"

/** True for a tool that the profile does not list: it can be called, and `find_tools` finds it. */
export const isDeferredIn = (
  profile: Profile,
  { profile: smallest = "minimal" }: { readonly profile?: Profile }
): boolean => profiles.indexOf(smallest) > profiles.indexOf(profile)

/** Tools of a host with another profile. The list is plain data, and has `find_tools`. */
export const toolsInProfile = (
  tools: ReadonlyArray<ToolDescription>,
  profile: Profile
): ReadonlyArray<ToolDescription> => {
  const listed = tools.map(({ deferred: _other, ...tool }): ToolDescription =>
    isDeferredIn(profile, tool) ? { ...tool, deferred: true } : tool
  )
  return listed.some(({ deferred }) => deferred) ? listed : listed.filter(({ name }) => name !== findToolsName)
}
