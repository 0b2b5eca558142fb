// The parts of the server's JSON that the console uses. The server's OpenAPI document has all of it.

export type Risk = "read_only" | "safe_write" | "dangerous"

export const approvalModes = ["plan", "ask", "accept-edits", "auto"] as const
export type ApprovalMode = (typeof approvalModes)[number]

export interface WorkspaceName {
  readonly name: string
  readonly run: string
  readonly dialect: string
  /** The dialects that callers may choose, the default first. */
  readonly dialects: ReadonlyArray<string>
  readonly mode: ApprovalMode
}

export interface JsonSchema {
  readonly type?: string | ReadonlyArray<string>
  readonly description?: string
  readonly default?: unknown
  readonly enum?: ReadonlyArray<unknown>
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: ReadonlyArray<string>
  readonly items?: JsonSchema
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
}

export interface ToolDescription {
  readonly name: string
  readonly description: string
  readonly plugin: string
  readonly risk: Risk
  readonly idempotent: boolean
  readonly openWorld: boolean
  readonly inputSchema: JsonSchema
  readonly replySchema: JsonSchema
}

export interface Rule {
  readonly id: string
  readonly tool?: string
  readonly operation?: string | ReadonlyArray<string>
  readonly decision: "allow" | "ask" | "deny"
  readonly dialect?: string
  readonly enabled: boolean
  readonly uses: number
  readonly maximumUses?: number
  readonly expires?: string
  readonly created?: string
  readonly note?: string
  readonly [condition: string]: unknown
}

/** An agent or a person, by the name of its token. */
export interface Party {
  readonly name: string
  readonly role: string
}

/** A request that waits for a person. */
export interface OpenRequest {
  readonly id: string
  readonly stepId: string
  /** Number of the call in its run. */
  readonly step: number
  readonly workspace: string
  readonly run: string
  readonly tool: string
  readonly dialect: string
  /** Left out of lists where it is large, as diff and detail are. */
  readonly args?: Readonly<Record<string, unknown>>
  /** False for an entry of a list with something left out. */
  readonly isWhole?: boolean
  readonly reason: string
  readonly binding: string
  readonly askedAt: number
  /** When the request times out, by the server's clock. */
  readonly expiresAt?: number
  /** The agent that made the call, where known by name. */
  readonly caller?: Party
  readonly diff?: string
  /** Rules that an answer can store, the narrowest first; left out of lists where they are large. */
  readonly offers?: ReadonlyArray<{ readonly id: string; readonly label: string; readonly rule: Rule }>
  /** Why none is offered. */
  readonly whyNoOffer?: string
  /** True where an answer can refuse some hunks of the diff. */
  readonly isDivisible?: true
  /** The rule that wants a person. */
  readonly rule?: string
  readonly basis?: Basis
  readonly description: {
    readonly risk: Risk
    readonly severity: { readonly level: Severity; readonly reasons: ReadonlyArray<string> }
    readonly parameters: ReadonlyArray<{ readonly name: string; readonly value: string }>
    readonly filesAffected: ReadonlyArray<string>
    readonly command?: string
    readonly network?: true
    readonly url?: string
    readonly host?: string
    readonly types?: string
    readonly detail?: string
  }
}

export interface ApprovalAnswer {
  readonly approved: boolean
  readonly binding: string
  readonly modifiedArgs?: Readonly<Record<string, unknown>>
  readonly remember?: { readonly offer: string; readonly scope: RememberScope; readonly expires?: string }
  readonly reason?: string
  readonly refusedHunks?: ReadonlyArray<{ readonly path: string; readonly hunk: number }>
}

/** How a request ended. */
export interface ClosedRequest {
  readonly approved: boolean
  readonly at: number
  readonly unanswered?: true
  readonly reason?: string
  readonly by?: Party
}

/** A workspace at a glance. */
export interface WorkspaceOverview {
  readonly name: string
  readonly run: string
  readonly dialect: string
  readonly mode: ApprovalMode
  readonly pending: number
  readonly oldestPendingAt?: number
  readonly running: number
  readonly terminals: number
  readonly agents: number
  readonly paused: number
  readonly lastCallAt?: number
  /** Absent until the first search of code. */
  readonly codeIndex?: {
    readonly files: number
    readonly symbols: number
    readonly bytes: number
    readonly refreshedAt: number
  }
  readonly health: "ok" | "degraded"
  readonly problems: ReadonlyArray<string>
}

/** The person who is signed in, and the kind of server. */
export interface Me extends Party {
  /** Present where the server is a member of a cluster. */
  readonly cluster?: true
}

/** Members and workspaces of a cluster, as its database has them. */
export interface ClusterStatus {
  readonly members: ReadonlyArray<{
    readonly id: string
    readonly address: string
    readonly url: string
    readonly version: string
    readonly state: MemberState
    readonly workspaces: number
    /** Bytes of audit logs that are not in the database yet. */
    readonly lag: number
  }>
  readonly workspaces: ReadonlyArray<{
    readonly name: string
    readonly epoch: string
    readonly commits: string
    readonly owner?: string
    readonly notCarried: ReadonlyArray<string>
  }>
}

export type MemberState = "active" | "draining" | "unreachable" | "left"

/** An agent that has called since the server started. */
export interface AgentState {
  readonly name: string
  readonly lastCallAt: number
  readonly paused?: { readonly at: number; readonly by?: Party }
  readonly messages: number
}

/** A call on record that fits a search. */
export interface FoundCall {
  readonly run: string
  readonly step: number
  readonly requestId: string
  readonly tool: string
  readonly agent?: string
  readonly startedAt: number
  readonly status: "success" | "error" | "aborted"
  readonly error?: string
  readonly touches?: Touches
}

export type RememberScope = "run" | "workspace" | "always"
export type Severity = "low" | "moderate" | "high" | "critical"

/** Basis of a decision: a rule, a protected path, a mode, a setting or the contract. */
export type Basis = "rule" | "protected_path" | "mode" | "setting" | "contract" | "error"

export interface Touches {
  readonly risk: Risk
  readonly reads?: ReadonlyArray<string>
  readonly writes?: ReadonlyArray<{ readonly path: string; readonly exists: boolean }>
  readonly runs?: string
  readonly network?: true
  readonly fetches?: string
  readonly types?: string
}

export interface Decision {
  readonly decision: "allow" | "deny"
  /** `nobody` where a person was asked and none answered. */
  readonly by: "policy" | "person" | "nobody"
  readonly reason: string
  readonly rule?: string
  readonly basis?: Basis
  /** The change that was approved or refused. */
  readonly diff?: string
  /** The person, where known by name. */
  readonly person?: Party
}

export interface JournalEvent {
  readonly type: string
  readonly seq: number
  readonly at: string
  readonly [field: string]: unknown
}

/** A terminal that an agent has opened. */
export interface OpenTerminal {
  readonly id: string
  readonly command: string
  readonly directory: string
  readonly isRunning: boolean
  readonly exitCode: number | null
  readonly signal: string | null
  readonly openedAt: number
  readonly recording: string | null
}

export interface RunName {
  readonly name: string
  readonly bytes: number
}

/** A run that was made again on a copy of the workspace. */
export interface Replay {
  readonly calls: ReadonlyArray<{
    readonly step: number
    readonly tool: string
    readonly outcome: "same" | "different" | "skipped"
    readonly differences: ReadonlyArray<string>
    readonly whySkipped?: string
  }>
  readonly files: ReadonlyArray<{ readonly path: string; readonly kind: string }>
  readonly whyNotBefore?: string
}

/** Runs that were removed, or would be. */
export interface PrunedRuns {
  readonly runs: ReadonlyArray<string>
  readonly bytes: number
}

export interface Preview {
  readonly ok: boolean
  readonly preview?: {
    readonly facts: Touches
    readonly verdict: { readonly decision: "allow" | "ask" | "deny"; readonly reason: string }
    readonly diff?: string
  }
  readonly error?: { readonly message: string }
}

export interface SimulatedCall {
  readonly requestId: string
  readonly tool: string
  readonly recorded: Decision
  readonly simulated: { readonly decision: "allow" | "ask" | "deny"; readonly reason: string }
  readonly change: "same" | "less" | "more"
}

/** Figures of a run, or of the whole record. Durations are in milliseconds. */
export interface RecordMetrics {
  readonly runs: number
  readonly calls: number
  readonly failed: number
  readonly p50?: number
  readonly p95?: number
  readonly buckets: ReadonlyArray<TimeBucket>
  readonly tools: ReadonlyArray<ToolLatency>
  readonly decisions: ReadonlyArray<{ readonly decision: string; readonly by: string; readonly count: number }>
}

export interface TimeBucket {
  /** Milliseconds since the epoch, where the bucket begins. */
  readonly from: number
  readonly succeeded: number
  readonly failed: number
}

export interface ToolLatency {
  readonly tool: string
  readonly calls: number
  readonly failed: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

export interface Simulation {
  readonly counts: { readonly allow: number; readonly ask: number; readonly deny: number }
  readonly flips: ReadonlyArray<SimulatedCall>
  readonly undecided: number
  readonly proposals: ReadonlyArray<{ readonly rule: Rule; readonly questionsSpared: number }>
}
