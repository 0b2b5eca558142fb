import { fork } from "node:child_process"
import { once } from "node:events"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

import { serveHaft } from "@haft/server"
import { temporaryWorkspace, type TemporaryWorkspace } from "@haft/testing"
import type { HaftConfig } from "haft/internal"

const tokens = { agent: "agent-of-the-stress-test", approver: "approver-of-the-stress-test" }

export interface RunningServer {
  readonly url: string
  readonly workspace: TemporaryWorkspace
  /** Unexpected errors of the server. */
  readonly defects: Array<unknown>
  readonly headers: (as: keyof typeof tokens) => Record<string, string>
  readonly call: (
    tool: string,
    params: unknown,
    signal?: AbortSignal
  ) => Promise<{ readonly status: number; readonly text: string }>
  /** How many milliseconds `/healthz` takes. */
  readonly health: () => Promise<number>
  readonly stop: () => Promise<void>
}

/** A server in this process, with a workspace of its own. */
export const startServer = async (config: HaftConfig = {}): Promise<RunningServer> => {
  const workspace = temporaryWorkspace(standardFiles)
  const defects: Array<unknown> = []
  const { root, state } = workspace
  const { url, stop } = await serve({ root, state, ...config }, (error) => defects.push(error))
  return {
    url,
    workspace,
    defects,
    ...clientOf(url),
    stop: async () => {
      await stop()
      workspace.remove()
    }
  }
}

/** A server that approves everything, in its own process, so that its memory can be told from that of the clients. */
export const startServerApart = async (
  files: Readonly<Record<string, string>> = standardFiles,
  config: Pick<HaftConfig, "packages"> = {}
) => {
  const workspace = temporaryWorkspace(files)
  const flags = [...process.execArgv.filter((flag) => flag !== "--expose-gc"), "--expose-gc"]
  const program = join(import.meta.dirname, "serve-apart.ts")
  const child = fork(program, [workspace.root, workspace.state, JSON.stringify(config)], { execArgv: flags })
  const [{ url }] = (await once(child, "message")) as [{ url: string }]
  return {
    url,
    workspace,
    ...clientOf(url),
    rssMegabytes: () => (Number(readFileSync(`/proc/${child.pid}/statm`, "utf8").split(" ")[1]) * 4096) / 1024 ** 2,
    descriptors: () => readdirSync(`/proc/${child.pid}/fd`).length,
    /** Resolves with the exit code. The workspace is kept, to be inspected. */
    stop: async (): Promise<number | null> => {
      child.disconnect()
      const [code] = (await once(child, "exit")) as [number | null]
      return code
    }
  }
}

export const serve = (config: HaftConfig, onDefect: (error: unknown) => void): ReturnType<typeof serveHaft> =>
  serveHaft({ workspaces: { default: config }, tokens, version: "0.0.0", port: 0, onDefect })

const standardFiles = { "a.txt": "one\ntwo\n" }

const clientOf = (url: string): Pick<RunningServer, "headers" | "call" | "health"> => {
  const headers = (as: keyof typeof tokens) => ({
    authorization: `Bearer ${tokens[as]}`,
    "content-type": "application/json"
  })
  return {
    headers,
    call: async (tool, params, signal) => {
      const body = JSON.stringify({ tool, params })
      const path = "/v1/workspaces/default/calls"
      const response = await fetch(`${url}${path}`, {
        method: "POST",
        body,
        headers: headers("agent"),
        ...(signal && { signal })
      })
      return { status: response.status, text: await response.text() }
    },
    health: async () => {
      const began = performance.now()
      const response = await fetch(`${url}/healthz`)
      await response.text()
      return response.ok ? performance.now() - began : Number.POSITIVE_INFINITY
    }
  }
}
