import { serveHaft } from "@haft/server"
import { temporaryWorkspace, type TemporaryWorkspace } from "@haft/testing"
import type { HaftConfig } from "haft"

const tokens = { agent: "agent-of-the-stress-test", approver: "approver-of-the-stress-test" }

export interface RunningServer {
  readonly url: string
  readonly workspace: TemporaryWorkspace
  /** Errors of the server that nobody expected. */
  readonly defects: Array<unknown>
  readonly headers: (as: keyof typeof tokens) => Record<string, string>
  readonly call: (tool: string, params: unknown) => Promise<{ readonly status: number; readonly text: string }>
  /** How long the server takes to say that it is well, in milliseconds. */
  readonly health: () => Promise<number>
  readonly stop: () => Promise<void>
}

/** A server in this process, with a workspace of its own. */
export const startServer = async (config: HaftConfig = {}): Promise<RunningServer> => {
  const workspace = temporaryWorkspace({ "a.txt": "one\ntwo\n" })
  const defects: Array<unknown> = []
  const { url, stop } = await serveHaft({
    workspaces: { default: { root: workspace.root, state: workspace.state, ...config } },
    tokens,
    version: "0.0.0",
    port: 0,
    onDefect: (error) => defects.push(error)
  })
  const headers = (as: keyof typeof tokens) => ({
    authorization: `Bearer ${tokens[as]}`,
    "content-type": "application/json"
  })
  return {
    url,
    workspace,
    defects,
    headers,
    call: async (tool, params) => {
      const body = JSON.stringify({ tool, params })
      const response = await fetch(`${url}/v1/workspaces/default/calls`, {
        method: "POST",
        body,
        headers: headers("agent")
      })
      return { status: response.status, text: await response.text() }
    },
    health: async () => {
      const began = performance.now()
      const response = await fetch(`${url}/healthz`)
      await response.text()
      return response.ok ? performance.now() - began : Number.POSITIVE_INFINITY
    },
    stop: async () => {
      await stop()
      workspace.remove()
    }
  }
}
