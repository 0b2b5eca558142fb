import type {
  ApprovalAnswer,
  JournalEvent,
  OpenRequest,
  Preview,
  Rule,
  RunName,
  Simulation,
  ToolDescription,
  WorkspaceName
} from "./wire.ts"

/** What the server refused, in its words. */
export class ApiError extends Error {
  override readonly name = "ApiError"
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** The routes of one workspace. */
export interface WorkspaceApi {
  readonly eventsAddress: string
  readonly tools: (dialect?: string) => Promise<ReadonlyArray<ToolDescription>>
  readonly call: (tool: string, params: unknown, dialect?: string) => Promise<unknown>
  readonly preview: (tool: string, params: unknown, dialect?: string) => Promise<Preview>
  readonly approvals: () => Promise<ReadonlyArray<OpenRequest>>
  readonly answer: (id: string, answer: ApprovalAnswer) => Promise<void>
  readonly rules: () => Promise<ReadonlyArray<Rule>>
  readonly addRule: (rule: unknown) => Promise<void>
  readonly enableRule: (id: string, enabled: boolean) => Promise<void>
  readonly removeRule: (id: string) => Promise<void>
  readonly simulate: (run: string) => Promise<Simulation>
  readonly runs: () => Promise<ReadonlyArray<RunName>>
  /** The last events of a run, as many as a page can hold. */
  readonly lastEvents: (run: string) => Promise<ReadonlyArray<JournalEvent>>
  /** The bytes of an artifact from `start` on; empty when there are no more. */
  readonly artifact: (run: string, path: string, start?: number) => Promise<Uint8Array>
}

const largestPage = 10_000

export const listWorkspaces = async (): Promise<ReadonlyArray<WorkspaceName>> =>
  (await getJson<{ workspaces: ReadonlyArray<WorkspaceName> }>("/v1/workspaces")).workspaces

export const workspaceApi = (workspace: string): WorkspaceApi => {
  const base = `/v1/workspaces/${encodeURIComponent(workspace)}`
  const eventsOf = (run: string, after: number, limit: number) =>
    getJson<{ events: ReadonlyArray<JournalEvent>; total: number }>(
      `${base}/runs/${encodeURIComponent(run)}/events?after=${after}&limit=${limit}`
    )
  return {
    eventsAddress: `${base}/events`,
    tools: (dialect) => getJson(`${base}/tools${dialect === undefined ? "" : `?dialect=${dialect}`}`),
    call: (tool, params, dialect) =>
      sendJson("POST", `${base}/calls`, { tool, params, ...(dialect !== undefined && { dialect }) }),
    preview: (tool, params, dialect) =>
      sendJson("POST", `${base}/previews`, { tool, params, ...(dialect !== undefined && { dialect }) }),
    approvals: async () => (await getJson<{ approvals: ReadonlyArray<OpenRequest> }>(`${base}/approvals`)).approvals,
    answer: (id, answer) => sendJson("POST", `${base}/approvals/${encodeURIComponent(id)}`, answer),
    rules: async () => (await getJson<{ rules: ReadonlyArray<Rule> }>(`${base}/rules`)).rules,
    addRule: (rule) => sendJson("POST", `${base}/rules`, rule),
    enableRule: (id, enabled) => sendJson("POST", `${base}/rules/${encodeURIComponent(id)}`, { enabled }),
    removeRule: (id) => sendJson("DELETE", `${base}/rules/${encodeURIComponent(id)}`),
    simulate: (run) => sendJson("POST", `${base}/simulations`, { run }),
    runs: async () => (await getJson<{ runs: ReadonlyArray<RunName> }>(`${base}/runs`)).runs,
    lastEvents: async (run) => {
      const first = await eventsOf(run, 0, largestPage)
      if (first.total <= largestPage) return first.events
      return (await eventsOf(run, first.total - largestPage, largestPage)).events
    },
    artifact: async (run, path, start = 0) => {
      const address = `${base}/runs/${encodeURIComponent(run)}/artifacts/${path.split("/").map(encodeURIComponent).join("/")}`
      // One byte that is known comes along: a range that begins where the file ends would be an error.
      const response = await fetch(address, start > 0 ? { headers: { range: `bytes=${start - 1}-` } } : {})
      if (!response.ok) throw await failure(response)
      return new Uint8Array(await response.arrayBuffer()).subarray(start > 0 ? 1 : 0)
    }
  }
}

const getJson = <A>(address: string): Promise<A> => readJson(fetch(address))

const sendJson = <A>(method: string, address: string, body?: unknown): Promise<A> =>
  readJson(
    fetch(address, {
      method,
      ...(body !== undefined && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) })
    })
  )

const readJson = async <A>(sent: Promise<Response>): Promise<A> => {
  const response = await sent
  if (!response.ok) throw await failure(response)
  return (await response.json()) as A
}

const failure = async (response: Response): Promise<ApiError> => {
  const body = (await response.json().catch(() => ({}))) as { error?: { message?: string } }
  return new ApiError(response.status, body.error?.message ?? `The server answered ${response.status}.`)
}
