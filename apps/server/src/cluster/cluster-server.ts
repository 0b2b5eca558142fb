import { once } from "node:events"
import { createServer as createPlain, type RequestListener, type Server } from "node:http"
import { createServer as createTls } from "node:https"

import type { JoinedCluster, MemberEvent } from "haft/cluster"
import { type HaftConfig, readNamedFile, type Telemetry } from "haft/internal"
import type { ServerRequest } from "srvx"

import type { HttpAnswer } from "../http/answer.ts"
import { listener } from "../http/connection/listener.ts"
import { Problem } from "../http/problem.ts"
import type { HandleRequest, HandlerOptions, RequestForOwner } from "../http/request-handler.ts"
import type { CallerIdentity } from "../identity.ts"
import type { WorkspaceSet } from "../workspaces.ts"

type ClusterConfig = NonNullable<HaftConfig["cluster"]>

/** The cluster as a server uses it. */
export interface ServerCluster {
  /** Answers a request for a workspace that another member owns; undefined where this one does. */
  readonly pass: (request: RequestForOwner) => Promise<HttpAnswer | undefined>
  /** Asks all other members the same, for a route about all workspaces. */
  readonly askMembers: NonNullable<HandlerOptions["askMembers"]>
  readonly joined: JoinedCluster
  /** Hands all workspaces over. Requests are still passed on afterwards. */
  readonly leave: () => Promise<void>
  readonly close: () => Promise<void>
}

export interface ServerClusterOptions {
  readonly cluster: ClusterConfig
  readonly configs: Readonly<Record<string, HaftConfig>>
  readonly workspaces: WorkspaceSet
  readonly url: string
  readonly version: string
  readonly telemetry: Telemetry
  readonly handle: HandleRequest
  readonly bodyBytes: number
  readonly stalledMilliseconds: number
  readonly onDefect: (error: unknown) => void
  readonly onEvent?: (event: MemberEvent) => void
}

/** Listens for other members, and joins the cluster. */
export const joinServer = async (options: ServerClusterOptions): Promise<ServerCluster> => {
  const { cluster, workspaces, url, version, telemetry, handle, onDefect, stalledMilliseconds } = options
  const { askMembers, joinAs, listenAt, notOwnerStatus, passOn, RequestOutcomeUnknown, serveHere, Unavailable } =
    await import("haft/cluster")
  const { host, port } = listenAt(cluster)
  let joined: JoinedCluster | undefined

  const answerMember = async (request: ServerRequest): Promise<HttpAnswer> => {
    if (joined === undefined)
      return new Problem(503, "cluster_unavailable", "The member is joining the cluster.").toAnswer()
    const { member, traffic } = joined
    const { pathname, search } = new URL(request.url)
    const body = await readBytes(request.runtime?.node?.req, options.bodyBytes)
    const caller = traffic.verify({
      method: request.method,
      path: `${pathname}${search}`,
      headers: request.headers,
      body
    })
    if (caller === undefined)
      return new Problem(401, "unauthorized", "This address is for members of the cluster.").toAnswer()
    const workspace = workspaceIn(pathname)
    if (workspace !== undefined) {
      const problem = await serveHere(member, workspace).then(
        (found) =>
          found === undefined
            ? new Problem(notOwnerStatus, "not_owner", "Another member owns the workspace.")
            : undefined,
        asProblem
      )
      if (problem !== undefined) return problem.toAnswer()
    }
    const identity = (JSON.parse(caller) ?? undefined) as CallerIdentity | undefined
    return handle(request, { identity, body: body.length === 0 ? {} : (JSON.parse(body.toString()) as unknown) })
  }
  const asProblem = (error: unknown): Problem => {
    if (error instanceof Problem) return error
    if (error instanceof RequestOutcomeUnknown) return new Problem(502, "unknown_outcome", error.message)
    if (!(error instanceof Unavailable)) throw error
    const { code, message } = error
    return code === "unknown_workspace"
      ? new Problem(404, code, message)
      : new Problem(503, code, message, { "retry-after": "2" })
  }
  const answering: RequestListener = listener((request) => answerMember(request), {
    onDefect,
    stalledMilliseconds
  })
  const server = await memberServer(cluster, answering)
  server.listen({ host, port })
  await once(server, "listening")

  const events = telemetry.counter({
    id: "haft.cluster.workspace_events",
    description: "Workspaces that this member has opened, closed, and failed to open"
  })
  const opening = telemetry.durations({
    id: "haft.cluster.open.duration",
    description: "Duration of opening a workspace"
  })
  try {
    joined = await joinAs({
      cluster,
      workspaces: options.configs,
      url,
      version,
      telemetry,
      onOpened: workspaces.add,
      onClosed: workspaces.remove,
      onEvent: (event) => {
        if (event.type !== "database") events({ event: event.type }, 1)
        if (event.type === "opened") opening({}, event.milliseconds / 1000)
        options.onEvent?.(event)
      }
    })
  } catch (error) {
    server.close()
    throw error
  }
  const now = joined
  const { member, traffic } = now
  telemetry.gauge({ id: "haft.cluster.member_in_force", description: "1 while this member's lease is in force" }, () =>
    member.isInForce() ? 1 : 0
  )
  telemetry.gauge(
    { id: "haft.cluster.workspaces_open", description: "Workspaces that this member has open" },
    () => [...workspaces.all()].length
  )
  telemetry.gauge(
    { id: "haft.cluster.lag_bytes", description: "Bytes of audit logs that are not in the database yet" },
    member.lag
  )
  return {
    joined,
    askMembers: async ({ request, url: address, identity }, own) => {
      const peers = await now.peers()
      const others = await askMembers(traffic, peers, {
        method: "GET",
        path: `${address.pathname}${address.search}`,
        headers: Object.fromEntries(request.headers),
        caller: JSON.stringify(identity ?? null),
        signal: request.signal
      })
      return {
        answers: [own, ...others],
        onMembersChanged: (listener) => watchMembers(now, peers, listener)
      }
    },
    pass: async ({ request, url: address, workspace, identity, readBody }) => {
      const isBodied = !["GET", "HEAD", "DELETE"].includes(request.method)
      const answer = await passOn(member, traffic, {
        workspace,
        method: request.method,
        path: `${address.pathname}${address.search}`,
        headers: Object.fromEntries(request.headers),
        body: isBodied ? await readBody() : undefined,
        caller: JSON.stringify(identity ?? null),
        signal: request.signal
      }).catch((error: unknown) => {
        throw asProblem(error)
      })
      return answer === undefined ? undefined : { ...answer }
    },
    leave: now.leave,
    close: async () => {
      const closed = once(server, "close")
      server.close()
      server.closeAllConnections()
      await closed
    }
  }
}

const watchMembersMs = 2_000

/** Calls back once when the other members are not those that they were; the returned function ends that. */
const watchMembers = ({ peers }: JoinedCluster, before: ReadonlyArray<string>, listener: () => void): (() => void) => {
  const timer = setInterval(() => {
    void peers().then((now) => now.join() !== before.join() && listener())
  }, watchMembersMs)
  return () => clearInterval(timer)
}

const memberServer = async ({ tls }: ClusterConfig, answering: RequestListener): Promise<Server> => {
  if (tls === undefined) return createPlain(answering)
  const [cert, key, ca] = await Promise.all([readNamedFile(tls.cert), readNamedFile(tls.key), readNamedFile(tls.ca)])
  return createTls({ cert, key, ca, requestCert: true, rejectUnauthorized: true }, answering)
}

/** The workspace in a path; the short address of MCP is the default one's. Undefined for a route about all of them. */
const workspaceIn = (pathname: string): string | undefined => {
  if (pathname === "/mcp") return "default"
  const named = /^\/v1\/workspaces\/([^/]+)/.exec(pathname)?.[1]
  return named === undefined ? undefined : decodeURIComponent(named)
}

const readBytes = async (request: AsyncIterable<unknown> | undefined, limit: number): Promise<Buffer> => {
  const chunks: Array<Buffer> = []
  let size = 0
  for await (const chunk of request ?? []) {
    size += (chunk as Buffer).length
    if (size > limit) throw new Problem(413, "body_too_large", `The body is larger than ${limit} bytes.`)
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}
