import { makeToolError, type Reply } from "@haft/core"
import type { PromiseCallOptions } from "@haft/core/promise"

import type { OpenBranchHost, PromiseBranches } from "./promise-branches.ts"

/** Branches for servers: the host of a branch is opened by its first call, and closed when it has been idle. */
export interface ServedBranches extends Omit<PromiseBranches, "host" | "run"> {
  /** Calls a tool on a branch. Questions go to the same people as those of the workspace. */
  readonly call: (name: string, tool: string, args: unknown, options?: PromiseCallOptions) => Promise<Reply>
  readonly dispose: () => Promise<void>
}

interface ServedHost {
  readonly opening: Promise<OpenBranchHost>
  calls: number
  idle?: NodeJS.Timeout
}

const idleMs = 60_000

/** Hosts that a server keeps open for the branches of one workspace: each is a process of some 100 MB. */
const mostHosts = 8

/** `ask` puts a question to the people of the workspace, where the caller does not answer it. */
export const servedBranches = (
  branches: PromiseBranches,
  ask: NonNullable<PromiseCallOptions["ask"]>
): ServedBranches => {
  const hosts = new Map<string, ServedHost>()
  const hostOf = (name: string): ServedHost => {
    const known = hosts.get(name)
    if (known !== undefined) return known
    const host: ServedHost = { opening: branches.host(name), calls: 0 }
    hosts.set(name, host)
    host.opening.catch(() => hosts.delete(name))
    return host
  }
  const close = async (name: string): Promise<void> => {
    const host = hosts.get(name)
    if (host === undefined) return
    hosts.delete(name)
    clearTimeout(host.idle)
    await host.opening.then(
      (opened) => opened.dispose(),
      () => {}
    )
  }
  /** Makes room for one more host by closing the one that has been idle for longest. */
  const makeRoom = async (name: string): Promise<void> => {
    while (!hosts.has(name) && hosts.size >= mostHosts) {
      const [idle] = [...hosts].find(([, { calls }]) => calls === 0) ?? []
      if (idle === undefined) throw tooMany()
      await close(idle)
    }
  }
  // A host that works on the branch keeps it; then the branch itself says that it is in use.
  const freed = async (name: string): Promise<void> => {
    if (hosts.get(name)?.calls === 0) await close(name)
  }
  return {
    create: branches.create,
    list: branches.list,
    diff: async (name) => {
      await freed(name)
      return branches.diff(name)
    },
    merge: async (name, options) => {
      await freed(name)
      return branches.merge(name, options)
    },
    drop: async (name) => {
      await freed(name)
      return branches.drop(name)
    },
    call: async (name, tool, args, options = {}) => {
      await makeRoom(name)
      const host = hostOf(name)
      clearTimeout(host.idle)
      // The one used last is the last to be closed.
      hosts.delete(name)
      hosts.set(name, host)
      host.calls++
      try {
        const opened = await host.opening
        return await opened.call(tool, args, { ask, ...options })
      } catch (error) {
        // A host that has died is opened anew by the next call.
        if (host.calls === 1 && options.signal?.aborted !== true) void close(name)
        throw error
      } finally {
        host.calls--
        if (host.calls === 0) host.idle = setTimeout(() => void close(name), idleMs).unref()
      }
    },
    dispose: async () => {
      for (const name of hosts.keys()) await close(name)
    }
  }
}

const tooMany = () =>
  makeToolError("session_limit", `calls run on ${mostHosts} branches at the same time, and that is the limit`, {
    suggestion: "Try again when one of them has ended.",
    details: { limit: mostHosts },
    retryable: true
  })
