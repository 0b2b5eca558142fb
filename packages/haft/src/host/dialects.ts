import type { Dialect } from "@haft/core"
import { agentbench, approvalgate, cliagent, filetools, haft, toolrouter } from "@haft/dialects"

export const dialectNames = ["haft", "agentbench", "toolrouter", "approvalgate", "cliagent", "filetools"] as const
export type DialectName = (typeof dialectNames)[number]

const dialects: Readonly<Record<DialectName, Dialect>> = {
  haft,
  agentbench,
  toolrouter,
  approvalgate,
  cliagent,
  filetools
}

export const dialectOf = (dialect: DialectName | Dialect = "haft"): Dialect =>
  typeof dialect === "string" ? dialects[dialect] : dialect

/** The dialect with this name: the one a host is configured with, or one of those that come with haft. */
export const dialectNamed = (name: string, configured?: DialectName | Dialect): Dialect | undefined => {
  if (typeof configured === "object" && configured.name === name) return configured
  return Object.hasOwn(dialects, name) ? dialects[name as DialectName] : undefined
}
