import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { CurrentCall } from "../pipeline/call.ts"
import { type ApprovalRequest, Approver } from "../services/approver.ts"
import { Journal } from "../services/journal.ts"
import { type ToolError, toolError } from "../tool-error.ts"
import { isBlockedPort } from "./blocked-ports.ts"
import {
  type Endpoint,
  type HostPattern,
  isLocalName,
  isWebPort,
  parseHostPattern,
  printEndpoint
} from "./host-pattern.ts"
import { type BrokeredCredential, networkConfig, type NetworkConfig, parseCredentialHost } from "./network-config.ts"
import { isAddress, isPublicAddress } from "./public-address.ts"

/** A connection that somebody wants to make. */
export interface Connection extends Endpoint {
  /** The command line that wants it, for the person who is asked. */
  readonly command?: string
}

/** Leave to connect. */
export interface Admission {
  /** Source of the decision, for the audit log: `network.allow *.example.com`, `rule npm`, `person`. */
  readonly by: string
  /** True where the configuration lists this host with this port: then its addresses may be private ones. */
  readonly mayBePrivate: boolean
  /** True where the port was named or asked about: then the protocol may be any. Otherwise it is the port's own. */
  readonly anyProtocol: boolean
  /** True where a person was asked: the answer holds for as long as the command runs. */
  readonly isAnswer: boolean
}

/** Why a connection is not made. */
export class ConnectionRefused extends Data.TaggedError("ConnectionRefused")<{
  readonly reason: string
  /** True where a person has said no. */
  readonly isAnswer?: true
}> {
  override get message(): string {
    return this.reason
  }
}

export interface NetworkService {
  /** Why nothing can be reached at all; absent where some host is allowed or asked about. */
  readonly closed?: string
  /** Ports besides 80 and 443 that the configuration names. */
  readonly ports: ReadonlyArray<number>
  /** Connections that one sandbox may have open at once. */
  readonly maxConnections: number
  /** `host:port` of private hosts that the configuration lists. */
  readonly privateHosts: ReadonlyArray<string>
  /** Credentials that a proxy puts into requests; the hosts have to be admitted besides. */
  readonly credentials: ReadonlyArray<BrokeredCredential>
  /** Decision of the configured lists about a host, without rules and without asking anybody. */
  readonly listed: (endpoint: Endpoint) => Listed
  /** Decides about one connection. Waits for a person where the policy wants one. */
  readonly admit: (connection: Connection) => Effect.Effect<Admission, ConnectionRefused>
  /** Puts a connection on record, with the call that it belongs to. */
  readonly record: (event: ConnectionEvent) => Effect.Effect<void, ToolError<"journal_unavailable">>
}

/** Decision of a network policy's lists about a host: allow it, deny it, or ask a person. */
export type Listed =
  | { readonly decision: "allow"; readonly entry: HostPattern }
  /** `isDenied` where the list of denied hosts names it. */
  | { readonly decision: "deny"; readonly reason: string; readonly isDenied: boolean }
  | { readonly decision: "ask" }

/** A connection in the audit log. */
export type ConnectionEvent = Endpoint &
  (
    | {
        readonly type: "connection_opened"
        readonly protocol: string
        readonly by: string
        readonly waited_sec?: number
      }
    | {
        readonly type: "connection_closed"
        readonly bytes_sent: number
        readonly bytes_received: number
        readonly duration_sec: number
      }
    | { readonly type: "connection_refused"; readonly reason: string; readonly repeated?: number }
  )

/**
 * Policy for connections of commands, code, terminals and web tools. A host that configures none reaches nothing.
 * A reference, so that whatever needs no network needs no policy.
 */
export const Network = Context.Reference<NetworkService>("@haft/core/Network", {
  defaultValue: () => ({
    closed: "this host has no network policy",
    ports: [],
    maxConnections: 0,
    privateHosts: [],
    credentials: [],
    listed: () => ({ decision: "ask" }),
    admit: () => Effect.fail(new ConnectionRefused({ reason: "this host has no network policy" })),
    record: () => Effect.void
  })
})

/** Decides about connections by the configuration's lists, then by the approver's rules, then by asking. */
export const networkPolicy = (config: NetworkConfig): Layer.Layer<never, never, Approver | Journal> =>
  Layer.effect(
    Network,
    Effect.gen(function* () {
      const approver = yield* Approver
      const journal = yield* Journal
      const { ask, maxConnections, credentials, ...lists } = networkConfig.parse(config)
      const [allow, deny] = [patternsIn(lists.allow), patternsIn(lists.deny)]
      const ports = [...new Set([...allow, ...deny].flatMap(({ port }) => port ?? []))].filter(
        (port) => !isWebPort(port)
      )
      const isClosed = allow.length === 0 && !ask
      const listed = (endpoint: Endpoint): Listed => listedIn(allow, deny, endpoint)
      return {
        ...(isClosed && { closed: "the network policy allows no host" }),
        ports,
        maxConnections,
        credentials: credentials.map(({ variable, hosts, header, from }) => ({
          variable,
          hosts: hosts.flatMap((text) => parseCredentialHost(text) ?? []),
          header,
          from
        })),
        privateHosts: lists.allow.filter((_, at) => allow[at]?.isExact === true && allow[at].port !== undefined),
        listed: (endpoint) => {
          const found = listed(endpoint)
          return found.decision === "ask" && !ask ? unlisted(endpoint) : found
        },
        admit: Effect.fnUntraced(function* (connection: Connection) {
          const { host, port } = connection
          const found = listed({ host, port })
          if (found.decision === "deny") return yield* refused(found.reason)
          const allowed = found.decision === "allow" ? found.entry : undefined
          const mayBePrivate = allowed !== undefined && allowed.isExact && allowed.port === port
          const decided = yield* decide(approver, connection, { ask, listed: allowed?.text })
          const anyProtocol = allowed === undefined ? !isWebPort(port) : allowed.port === port
          return { ...decided, mayBePrivate, anyProtocol }
        }),
        record: Effect.fnUntraced(function* ({ type, ...more }: ConnectionEvent) {
          const { id, step, tool } = yield* CurrentCall
          yield* journal.append({ type, request_id: id, step, tool, ...more })
        })
      } satisfies NetworkService
    })
  )

const patternsIn = (list: ReadonlyArray<string>): ReadonlyArray<HostPattern> =>
  list.flatMap((text) => parseHostPattern(text) ?? [])

/** Strongest first: what is denied, what is not public or has a port of another protocol, what is allowed. */
const listedIn = (
  allow: ReadonlyArray<HostPattern>,
  deny: ReadonlyArray<HostPattern>,
  { host, port }: Endpoint
): Listed => {
  const name = printEndpoint({ host, port })
  const denied = deny.find((entry) => entry.matchesHost(host) && (entry.port ?? port) === port)
  if (denied !== undefined)
    return { decision: "deny", reason: `network.deny ${denied.text} forbids ${name}`, isDenied: true }
  const withPort = allow.filter((entry) => entry.port === port && entry.matchesHost(host))
  const exact = withPort.find(({ isExact }) => isExact)
  if (exact !== undefined) return { decision: "allow", entry: exact }
  const isPublic = isAddress(host) ? isPublicAddress(host) : !isLocalName(host)
  if (!isPublic) return { decision: "deny", reason: `${host} is not a public host; ${listIt(name)}`, isDenied: false }
  if (isBlockedPort(port) && withPort.length === 0) {
    return { decision: "deny", reason: `port ${port} belongs to another protocol; ${listIt(name)}`, isDenied: false }
  }
  const isUsual = (entry: HostPattern): boolean =>
    entry.port === undefined && isWebPort(port) && entry.matchesHost(host)
  const entry = withPort[0] ?? allow.find(isUsual)
  return entry === undefined ? { decision: "ask" } : { decision: "allow", entry }
}

const unlisted = (endpoint: Endpoint): Listed => ({
  decision: "deny",
  reason: `network.allow does not list ${printEndpoint(endpoint)}`,
  isDenied: false
})

const listIt = (name: string): string => `network.allow has to list ${name}`

const refused = (reason: string): Effect.Effect<never, ConnectionRefused> =>
  Effect.fail(new ConnectionRefused({ reason }))

/** Source of the permission for the connection. Rules that deny or ask hold for hosts that the configuration allows, too. */
const decide = Effect.fnUntraced(function* (
  approver: Approver["Service"],
  { command, ...endpoint }: Connection,
  { ask, listed }: { readonly ask: boolean; readonly listed: string | undefined }
) {
  const name = printEndpoint(endpoint)
  const { id, step, tool, dialect, caller } = yield* CurrentCall
  const request: ApprovalRequest = {
    call: {
      id,
      step,
      tool: connectTool,
      operation: connectTool,
      dialect,
      startedAt: yield* Clock.currentTimeMillis,
      ...(caller !== undefined && { caller })
    },
    input: { ...endpoint, for: tool, ...(command !== undefined && { command }) },
    // A host that the configuration allows is no risk that has to be asked about once more.
    facts: { reads: [], writes: [], connects: name, risk: listed === undefined ? "dangerous" : "read_only" },
    asks: listed === undefined
  }
  const verdict = yield* approver.judge(request)
  const { decision, reason, rule } = verdict
  if (decision === "deny") return yield* refused(`${name}: ${reason}`)
  if (rule !== undefined && decision === "allow") return byPolicy(`rule ${rule}`)
  if (decision === "allow" && listed !== undefined) return byPolicy(`network.allow ${listed}`)
  if (!ask && rule === undefined) return yield* refused(`network.allow does not list ${name}`)
  if (decision === "allow") return byPolicy("approval mode")
  const answer = yield* approver.ask({ ...request, reason: `${tool} wants to connect to ${name}`, state: new Map() })
  if (answer.approved && answer.unanswered !== true) {
    return { by: answer.by === undefined ? "person" : `person ${answer.by.name}`, isAnswer: true }
  }
  return yield* new ConnectionRefused({
    reason: `${name} was not approved: ${answer.reason ?? "the request was refused"}`,
    ...(answer.unanswered !== true && { isAnswer: true })
  })
})

const byPolicy = (by: string) => ({ by, isAnswer: false })

/** Refuses a network that the host's policy never gives: before anybody is asked about the call that wants it. */
export const requireNetwork = (isWanted: boolean): Effect.Effect<void, ToolError<"approval_denied">> =>
  Network.use(({ closed }) =>
    isWanted && closed !== undefined
      ? toolError("approval_denied", "commands have no network on this host", {
          suggestion: `Work without it, or ask the person who runs the host for a network policy: ${closed}.`,
          details: { by: "policy", parameter: "network" }
        })
      : Effect.void
  )

/** Name of the tool and operation that rules and questions about connections have. */
const connectTool = "connect"
