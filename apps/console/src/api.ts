import { sessionHeaders } from "./session-key.ts"
import type {
  ApprovalAnswer,
  ApprovalMode,
  JournalEvent,
  OpenRequest,
  OpenTerminal,
  Preview,
  Rule,
  RunName,
  Simulation,
  ToolDescription,
  WorkspaceName
} from "./wire.ts"

/** A request that the server refused, with the server's own message. */
export class ApiError extends Error {
  override readonly name = "ApiError"
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** A file that a call left behind. */
export interface Artifact {
  /** All of it, or its beginning where a limit was asked for. */
  readonly bytes: Uint8Array
  /** Of the whole file. */
  readonly size: number
}

/** Events of a run, and the number of the last. */
export interface EventPage {
  readonly events: ReadonlyArray<JournalEvent>
  readonly after: number
}

/** Output of a terminal. */
export interface OutputPage {
  /** In base64. */
  readonly bytes: string
  /** For the next page. */
  readonly after: number
  readonly hasMore: boolean
  readonly cols: number
  readonly rows: number
}

/** The routes of one workspace. */
export interface WorkspaceApi {
  readonly workspace: string
  readonly tools: (dialect?: string) => Promise<ReadonlyArray<ToolDescription>>
  readonly call: (tool: string, params: unknown, dialect?: string) => Promise<unknown>
  readonly preview: (tool: string, params: unknown, dialect?: string) => Promise<Preview>
  readonly approvals: () => Promise<ReadonlyArray<OpenRequest>>
  /** A request in full. */
  readonly approval: (id: string) => Promise<OpenRequest>
  readonly answer: (id: string, answer: ApprovalAnswer) => Promise<void>
  readonly setMode: (mode: ApprovalMode) => Promise<void>
  readonly rules: () => Promise<ReadonlyArray<Rule>>
  readonly addRule: (rule: unknown) => Promise<void>
  readonly replaceRule: (id: string, rule: unknown) => Promise<void>
  readonly enableRule: (id: string, enabled: boolean) => Promise<void>
  readonly removeRule: (id: string) => Promise<void>
  readonly simulate: (run: string) => Promise<Simulation>
  /** Terminals that are open, and those that ended a while ago. */
  readonly terminals: () => Promise<ReadonlyArray<OpenTerminal>>
  /** Terminal output after a byte offset. */
  readonly output: (terminal: string, after: number) => Promise<OutputPage>
  readonly typeInto: (terminal: string, text: string) => Promise<void>
  readonly runs: () => Promise<ReadonlyArray<RunName>>
  /** The events of a run after a number; without one the last ones, at most ten thousand. */
  readonly events: (run: string, after?: number) => Promise<EventPage>
  /** The first `limit` bytes of an artifact, or all of it. */
  readonly artifact: (run: string, path: string, limit?: number) => Promise<Artifact>
}

/** Number of events shown of a run, and the largest page that the server gives. Pages of large events are shorter. */
const mostEvents = 10_000

export const listWorkspaces = async (): Promise<ReadonlyArray<WorkspaceName>> =>
  (await getJson<{ workspaces: ReadonlyArray<WorkspaceName> }>("/v1/workspaces")).workspaces

export const signOut = (): Promise<unknown> => sendJson("DELETE", "/v1/session")

export const workspaceApi = (workspace: string): WorkspaceApi => {
  const base = `/v1/workspaces/${encodeURIComponent(workspace)}`
  const eventsOf = (run: string, after: number, limit: number) =>
    getJson<{ events: ReadonlyArray<JournalEvent>; total: number }>(
      `${base}/runs/${encodeURIComponent(run)}/events?after=${after}&limit=${limit}`
    )
  return {
    workspace,
    tools: (dialect) => getJson(`${base}/tools${dialect === undefined ? "" : `?dialect=${dialect}`}`),
    call: (tool, params, dialect) =>
      sendJson("POST", `${base}/calls`, { tool, params, ...(dialect !== undefined && { dialect }) }),
    preview: (tool, params, dialect) =>
      sendJson("POST", `${base}/previews`, { tool, params, ...(dialect !== undefined && { dialect }) }),
    approvals: async () => (await getJson<{ approvals: ReadonlyArray<OpenRequest> }>(`${base}/approvals`)).approvals,
    approval: (id) => getJson<OpenRequest>(`${base}/approvals/${encodeURIComponent(id)}`),
    answer: (id, answer) => sendJson("POST", `${base}/approvals/${encodeURIComponent(id)}`, answer),
    setMode: (mode) => sendJson("PUT", `${base}/mode`, { mode }),
    rules: async () => (await getJson<{ rules: ReadonlyArray<Rule> }>(`${base}/rules`)).rules,
    addRule: (rule) => sendJson("POST", `${base}/rules`, rule),
    replaceRule: (id, rule) => sendJson("PUT", `${base}/rules/${encodeURIComponent(id)}`, rule),
    enableRule: (id, enabled) => sendJson("POST", `${base}/rules/${encodeURIComponent(id)}`, { enabled }),
    removeRule: (id) => sendJson("DELETE", `${base}/rules/${encodeURIComponent(id)}`),
    simulate: (run) => sendJson("POST", `${base}/simulations`, { run }),
    terminals: async () => (await getJson<{ terminals: ReadonlyArray<OpenTerminal> }>(`${base}/terminals`)).terminals,
    output: (terminal, after) =>
      getJson(`${base}/terminals/${encodeURIComponent(terminal)}/output/page?after=${after}`),
    typeInto: (terminal, text) => sendJson("POST", `${base}/terminals/${encodeURIComponent(terminal)}/input`, { text }),
    runs: async () => (await getJson<{ runs: ReadonlyArray<RunName> }>(`${base}/runs`)).runs,
    events: async (run, known) => {
      let after = known ?? Math.max(0, (await eventsOf(run, 0, 1)).total - mostEvents)
      const events: Array<JournalEvent> = []
      for (;;) {
        const page = await eventsOf(run, after, mostEvents)
        events.push(...page.events)
        after += page.events.length
        if (page.events.length === 0 || after >= page.total) return { events, after }
      }
    },
    artifact: async (run, path, limit) => {
      const address = `${base}/runs/${encodeURIComponent(run)}/artifacts/${path.split("/").map(encodeURIComponent).join("/")}`
      const range = limit === undefined ? {} : { range: `bytes=0-${limit - 1}` }
      const response = await fetch(address, { headers: { ...sessionHeaders(), ...range } })
      if (!response.ok) throw await failure(response)
      const bytes = new Uint8Array(await response.arrayBuffer())
      return { bytes, size: Number(response.headers.get("content-range")?.split("/")[1] ?? bytes.length) }
    }
  }
}

const getJson = <A>(address: string): Promise<A> => readJson(fetch(address, { headers: sessionHeaders() }))

const sendJson = <A>(method: string, address: string, body?: unknown): Promise<A> =>
  readJson(
    fetch(address, {
      method,
      headers: { ...sessionHeaders(), ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { body: JSON.stringify(body) })
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
