import { sessionHeaders } from "./session/session-key.ts"
import type {
  AgentState,
  ApprovalAnswer,
  ApprovalMode,
  ClusterStatus,
  FoundCall,
  JournalEvent,
  Me,
  OpenRequest,
  OpenTerminal,
  Preview,
  PrunedRuns,
  RecordMetrics,
  Replay,
  Rule,
  RunName,
  Simulation,
  ToolDescription,
  WorkspaceName,
  WorkspaceOverview
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

/** A rule that is not stored, in the place of one that is or besides them. */
export interface CandidateRule {
  readonly rule: unknown
  readonly replaces?: string
}

/** The routes of one workspace. */
export interface WorkspaceApi {
  readonly workspace: string
  readonly tools: (dialect?: string) => Promise<ReadonlyArray<ToolDescription>>
  readonly call: (tool: string, params: unknown, dialect?: string) => Promise<unknown>
  readonly preview: (tool: string, params: unknown, dialect?: string) => Promise<Preview>
  /** A request in full. */
  readonly approval: (id: string) => Promise<OpenRequest>
  readonly answer: (id: string, answer: ApprovalAnswer) => Promise<void>
  readonly setMode: (mode: ApprovalMode) => Promise<void>
  readonly rules: () => Promise<ReadonlyArray<Rule>>
  readonly addRule: (rule: unknown) => Promise<void>
  readonly replaceRule: (id: string, rule: unknown) => Promise<void>
  readonly enableRule: (id: string, enabled: boolean) => Promise<void>
  readonly removeRule: (id: string) => Promise<void>
  /** Decisions that the rules would have made about a run; with a candidate, as if it was one of them. */
  readonly simulate: (run: string, candidate?: CandidateRule) => Promise<Simulation>
  /** Terminals that are open, and those that ended a while ago. */
  readonly terminals: () => Promise<ReadonlyArray<OpenTerminal>>
  /** Terminal output after a byte offset. */
  readonly output: (terminal: string, after: number) => Promise<OutputPage>
  readonly typeInto: (terminal: string, text: string) => Promise<void>
  readonly runs: () => Promise<ReadonlyArray<RunName>>
  /** Summaries of the events of a run after a number. */
  readonly events: (run: string, after?: number) => Promise<EventPage>
  /** Every event of a call, in full. `from` is the number of the first, if known. */
  readonly callEvents: (run: string, step: number, from?: number) => Promise<ReadonlyArray<JournalEvent>>
  /** Makes the calls of a run again on a copy of the workspace. */
  readonly replay: (run: string) => Promise<Replay>
  /** Removes runs that began before a time; with `isDry` it only says which. */
  readonly pruneRuns: (before: string, isDry: boolean) => Promise<PrunedRuns>
  /** Figures of a run, or of the whole record. */
  readonly metrics: (run?: string) => Promise<RecordMetrics>
  readonly search: (query: Readonly<Record<string, string>>) => Promise<FoundCalls>
  /** The record of a run, to be saved as a file. */
  readonly exportRun: (run: string) => Promise<Blob>
  readonly stopCall: (step: number, reason: string) => Promise<void>
  readonly agents: () => Promise<ReadonlyArray<AgentState>>
  readonly pauseAgent: (agent: string, paused: boolean) => Promise<void>
  readonly tellAgent: (agent: string, message: string) => Promise<void>
  /** The first `limit` bytes of an artifact, or all of it. */
  readonly artifact: (run: string, path: string, limit?: number) => Promise<Artifact>
}

/** Calls that fit a search, the newest first; `before` leads to older ones. */
export interface FoundCalls {
  readonly calls: ReadonlyArray<FoundCall>
  readonly before?: string
}

/** The largest page that the server gives. Pages of large events are shorter. */
const mostEvents = 10_000

export const listApprovals = async (): Promise<ReadonlyArray<OpenRequest>> =>
  (await getJson<{ approvals: ReadonlyArray<OpenRequest> }>("/v1/approvals")).approvals

export const loadOverview = async (): Promise<ReadonlyArray<WorkspaceOverview>> =>
  (await getJson<{ workspaces: ReadonlyArray<WorkspaceOverview> }>("/v1/overview")).workspaces

export const listWorkspaces = async (): Promise<ReadonlyArray<WorkspaceName>> =>
  (await getJson<{ workspaces: ReadonlyArray<WorkspaceName> }>("/v1/workspaces")).workspaces

export const loadMe = (): Promise<Me> => getJson("/v1/me")

export const loadCluster = (): Promise<ClusterStatus> => getJson("/v1/cluster")

/** Asks the owner of a workspace to hand it over to the member at an address. */
export const moveWorkspace = (workspace: string, to: string): Promise<void> =>
  sendJson("POST", "/v1/cluster/moves", { workspace, to })

/** Asks a member to hand over all its workspaces, and to take no new ones. */
export const drainMember = (address: string): Promise<void> => sendJson("POST", "/v1/cluster/drains", { address })

/** Ways to sign in besides one-time links. */
export const signInMethods = (): Promise<{ readonly oidc: boolean }> => sendJson("GET", "/v1/sign-in")

export const signOut = (): Promise<unknown> => sendJson("DELETE", "/v1/session")

export const workspaceApi = (workspace: string): WorkspaceApi => {
  const base = `/v1/workspaces/${encodeURIComponent(workspace)}`
  const eventsOf = (run: string, after: number) =>
    getJson<{ events: ReadonlyArray<JournalEvent>; total: number }>(
      `${base}/runs/${encodeURIComponent(run)}/events?view=summary&after=${after}&limit=${mostEvents}`
    )
  return {
    workspace,
    tools: (dialect) => getJson(`${base}/tools${dialect === undefined ? "" : `?dialect=${dialect}`}`),
    call: (tool, params, dialect) =>
      sendJson("POST", `${base}/calls`, { tool, params, ...(dialect !== undefined && { dialect }) }),
    preview: (tool, params, dialect) =>
      sendJson("POST", `${base}/previews`, { tool, params, ...(dialect !== undefined && { dialect }) }),
    approval: (id) => getJson<OpenRequest>(`${base}/approvals/${encodeURIComponent(id)}`),
    answer: (id, answer) => sendJson("POST", `${base}/approvals/${encodeURIComponent(id)}`, answer),
    setMode: (mode) => sendJson("PUT", `${base}/mode`, { mode }),
    rules: async () => (await getJson<{ rules: ReadonlyArray<Rule> }>(`${base}/rules`)).rules,
    addRule: (rule) => sendJson("POST", `${base}/rules`, rule),
    replaceRule: (id, rule) => sendJson("PUT", `${base}/rules/${encodeURIComponent(id)}`, rule),
    enableRule: (id, enabled) => sendJson("POST", `${base}/rules/${encodeURIComponent(id)}`, { enabled }),
    removeRule: (id) => sendJson("DELETE", `${base}/rules/${encodeURIComponent(id)}`),
    simulate: (run, candidate) => sendJson("POST", `${base}/simulations`, { run, ...candidate }),
    terminals: async () => (await getJson<{ terminals: ReadonlyArray<OpenTerminal> }>(`${base}/terminals`)).terminals,
    output: (terminal, after) =>
      getJson(`${base}/terminals/${encodeURIComponent(terminal)}/output/page?after=${after}`),
    typeInto: (terminal, text) => sendJson("POST", `${base}/terminals/${encodeURIComponent(terminal)}/input`, { text }),
    runs: async () => (await getJson<{ runs: ReadonlyArray<RunName> }>(`${base}/runs`)).runs,
    callEvents: async (run, step, from = 1) => {
      const address = `${base}/runs/${encodeURIComponent(run)}/calls/${step}?from=${from}`
      return (await getJson<{ events: ReadonlyArray<JournalEvent> }>(address)).events
    },
    replay: (run) => sendJson("POST", `${base}/runs/${encodeURIComponent(run)}/replay`, {}),
    pruneRuns: (before, isDry) =>
      sendJson("DELETE", `${base}/runs?${new URLSearchParams({ before, dry: String(isDry) }).toString()}`),
    metrics: (run) => getJson(`${base}/metrics${run === undefined ? "" : `?run=${encodeURIComponent(run)}`}`),
    search: (query) => getJson(`${base}/record?${new URLSearchParams(query).toString()}`),
    exportRun: async (run) => {
      const response = await fetch(`${base}/runs/${encodeURIComponent(run)}/export`, { headers: sessionHeaders() })
      if (!response.ok) throw await failure(response)
      return response.blob()
    },
    stopCall: (step, reason) => sendJson("POST", `${base}/calls/${step}/stop`, reason === "" ? {} : { reason }),
    agents: async () => (await getJson<{ agents: ReadonlyArray<AgentState> }>(`${base}/agents`)).agents,
    pauseAgent: (agent, paused) => sendJson("POST", `${base}/agents/${encodeURIComponent(agent)}`, { paused }),
    tellAgent: (agent, message) => sendJson("POST", `${base}/agents/${encodeURIComponent(agent)}`, { message }),
    events: async (run, known = 0) => {
      let after = known
      const events: Array<JournalEvent> = []
      for (;;) {
        const page = await eventsOf(run, after)
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
  const text = await response.text()
  return (text === "" ? undefined : JSON.parse(text)) as A
}

const failure = async (response: Response): Promise<ApiError> => {
  const body = (await response.json().catch(() => ({}))) as { error?: { message?: string } }
  return new ApiError(response.status, body.error?.message ?? `The server answered ${response.status}.`)
}
