import * as Effect from "effect/Effect"

import type { HaftConfig } from "./config.ts"
import { openHost } from "./promise.ts"
import { stateOf } from "./standard-host.ts"

/** One thing a host depends on, how it is here, and what to do about it. */
export interface Finding {
  readonly subject: string
  readonly state: "ok" | "limited" | "missing"
  readonly found: string
  readonly mend?: string
}

/** Looks at this machine with a host's eyes. Nothing is changed but that the state directory is made. */
export const examine = async (config: HaftConfig = {}): Promise<ReadonlyArray<Finding>> => {
  const checks = [node, workspace, state]
  return (await Promise.all(checks.map((check) => check(config)))).flat()
}

const node = async (): Promise<Finding> => {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
  const isEnough = major > 22 || (major === 22 && minor >= 19)
  return {
    subject: "Node",
    state: isEnough ? "ok" : "missing",
    found: `${process.version} on ${process.platform} ${process.arch}`,
    ...(!isEnough && { mend: "Install Node 22.19 or newer." })
  }
}

const workspace = async (config: HaftConfig): Promise<Finding> => {
  const root = config.root ?? process.cwd()
  try {
    await using host = await openHost(config)
    return { subject: "Workspace", state: "ok", found: `${root}, ${host.tools.length} tools in ${host.dialect.name}` }
  } catch (cause) {
    return { subject: "Workspace", state: "missing", found: reasonOf(cause), mend: "Choose another with --workspace." }
  }
}

const state = async (config: HaftConfig): Promise<Finding> => {
  try {
    return { subject: "State directory", state: "ok", found: await Effect.runPromise(stateOf(config)) }
  } catch (cause) {
    const mend = "Choose a directory you can write to, outside the workspace, with --state."
    return { subject: "State directory", state: "missing", found: reasonOf(cause), mend }
  }
}

const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
