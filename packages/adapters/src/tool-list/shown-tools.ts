import { findToolsName, type Reply, type ToolDescription } from "@haft/core"
import type { OpenHost } from "@haft/core/promise"

/** Tools that a model is shown: those that the host's profile lists, and those that `find_tools` found since. */
export interface ShownTools {
  readonly list: () => ReadonlyArray<ToolDescription>
  /** Looks at the reply of a call. True if there are more tools to show now. */
  readonly learn: (tool: string, reply: Reply) => boolean
}

export const shownTools = ({ tools }: Pick<OpenHost, "tools">): ShownTools => {
  const found = new Set<string>()
  return {
    list: () => tools.filter(({ name, deferred }) => deferred !== true || found.has(name)),
    learn: (tool, reply) => {
      if (tool !== findToolsName || !reply.ok) return false
      const before = found.size
      const { tools: returned } = reply.output as { readonly tools: ReadonlyArray<{ readonly name: string }> }
      for (const { name } of returned) found.add(name)
      return found.size > before
    }
  }
}

/** Tools that the host's profile lists, for a toolkit that can't grow: without `find_tools`. */
export const listedTools = ({
  tools
}: {
  readonly tools: ReadonlyArray<ToolDescription>
}): ReadonlyArray<ToolDescription> => tools.filter(({ name, deferred }) => deferred !== true && name !== findToolsName)

/** All tools of a host, for an API with a tool search of its own: haft's is left out. */
export const searchableTools = ({ tools }: Pick<OpenHost, "tools">): ReadonlyArray<ToolDescription> =>
  tools.filter(({ name }) => name !== findToolsName)
