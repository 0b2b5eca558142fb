import { once } from "node:events"
import { createServer, type Server } from "node:http"
import { networkInterfaces } from "node:os"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"

import type { MemberEvent } from "haft/cluster"
import {
  ConfigError,
  type HaftConfig,
  openTelemetry,
  type OpenRequest,
  readSite,
  type Sessions,
  type SignInConfig,
  type Tokens
} from "haft/internal"

import { clusterRoutes } from "./cluster/cluster-routes.ts"
import { joinServer, type ServerCluster } from "./cluster/cluster-server.ts"
import { arrivalsAt } from "./http/connection/accept-backpressure.ts"
import { answerBrokenRequest } from "./http/connection/broken-request.ts"
import { limitConnections } from "./http/connection/connection-limit.ts"
import { listener } from "./http/connection/listener.ts"
import { flowControl } from "./http/flow-control.ts"
import { type ServerLimits, standardLimits } from "./http/limits.ts"
import { openapiOf } from "./http/openapi/openapi.ts"
import { Problem } from "./http/problem.ts"
import { requestHandler } from "./http/request-handler.ts"
import type { HttpRoute } from "./http/route.ts"
import { bracketed, hostNames, isEverywhere } from "./http/same-origin.ts"
import { type FixedTokens, gatekeeper } from "./identity.ts"
import { measureServer, webhookEvents } from "./metrics.ts"
import { openWebhook, type WebhookOptions } from "./notify/webhook.ts"
import { agentRoutes } from "./routes/agents.ts"
import { approvalRoutes } from "./routes/approvals.ts"
import { branchRoutes } from "./routes/branches.ts"
import { callRoutes } from "./routes/calls.ts"
import { mcpRoutes } from "./routes/mcp.ts"
import { overviewRoutes } from "./routes/overview.ts"
import { recordMetricsRoutes } from "./routes/record-metrics.ts"
import { recordRoutes } from "./routes/record.ts"
import { ruleRoutes } from "./routes/rules.ts"
import { runRoutes } from "./routes/runs.ts"
import { serverRoutes } from "./routes/server.ts"
import { redirectUri, signInRoutes } from "./routes/sign-in.ts"
import { terminalRoutes } from "./routes/terminals.ts"
import { tokenRoutes } from "./routes/tokens.ts"
import { grantKeys } from "./sign-in/grants.ts"
import { openOidc } from "./sign-in/oidc.ts"
import { siteOf } from "./site.ts"
import { openWorkspaces, workspaceSet } from "./workspaces.ts"

export interface ServeOptions {
  /** The workspaces by name; the short MCP address is for the one called default. */
  readonly workspaces: Readonly<Record<string, HaftConfig>>
  /** Makes this server a member of a cluster: workspaces are opened where they are owned, and requests passed on. */
  readonly cluster?: NonNullable<HaftConfig["cluster"]>
  /** Told what happens to this member of a cluster. */
  readonly onClusterEvent?: (event: MemberEvent) => void
  /** Tokens that are known without being stored. */
  readonly tokens?: FixedTokens
  /** The server's stored tokens; those created and revoked while it runs count at once. */
  readonly tokenStore?: Tokens
  /** Browser sessions that outlive this server, and that other members of a cluster know; without it they end with it. */
  readonly sessionStore?: Sessions
  /** The address of the server as people reach it, `https://haft.example`; its own when absent. */
  readonly publicUrl?: string
  /** Told of every request that waits for a person. */
  readonly webhook?: WebhookOptions
  /** Lets people sign in to the console with accounts of an OpenID provider. */
  readonly signIn?: SignInConfig
  readonly version: string
  /** 127.0.0.1 by default. */
  readonly host?: string
  /** 4711 by default; 0 takes any that is free. */
  readonly port?: number
  /** Where the port is in use, takes any that is free. */
  readonly orAnyPort?: boolean
  /** Names besides its own that the server answers to, as Host headers have them: `haft.example`. */
  readonly alsoKnownAs?: ReadonlyArray<string>
  readonly limits?: Partial<ServerLimits>
  /** The directory of the console's files; by default those that came with this build. */
  readonly console?: string
  /** Told about errors nobody expected. */
  readonly onDefect?: (error: unknown) => void
}

export interface RunningServer {
  /** Without a slash at the end. */
  readonly url: string
  /** A new address of the console; it works once. */
  readonly consoleLink: () => string
  /** Takes no more calls, waits a while for those that run (not with `atOnce`), interrupts the rest, and closes. */
  readonly stop: (how?: { readonly atOnce?: boolean }) => Promise<void>
}

/** Opens the workspaces and answers requests until it is stopped. */
export const serveHaft = async (options: ServeOptions): Promise<RunningServer> => {
  const { host = "127.0.0.1", port = 4711, version } = options
  const limits = { ...standardLimits, ...options.limits }
  const { cluster } = options
  const onDefect = options.onDefect ?? (() => {})
  const webhook = options.webhook && openWebhook(options.webhook)
  const owned = cluster === undefined ? undefined : workspaceSet(options.workspaces, version)
  const telemetry = await openTelemetry()
  const workspaces =
    owned ??
    (await openWorkspaces(options.workspaces, version, telemetry).catch(async (error: unknown) => {
      await telemetry.dispose()
      throw error
    }))
  const { tokenStore, sessionStore } = options
  const keeper = gatekeeper(options.tokens ?? {}, {
    tokens: cluster && tokenStore ? sharedTokens(tokenStore) : tokenStore,
    sessions: cluster && sessionStore ? sharedSessions(sessionStore) : sessionStore,
    grants: grantKeys(options.signIn),
    publicUrl: options.publicUrl
  })
  const flow = flowControl(limits.calls)
  const countRequest = measureServer(telemetry, workspaces, flow)
  webhook?.follow(workspaces, (address) => `${publicUrl()}${address}`, webhookEvents(telemetry, onDefect))

  let url = ""
  const publicUrl = (): string => options.publicUrl ?? url
  let names: ReadonlySet<string> = new Set()
  const routes: ReadonlyArray<HttpRoute> = [
    ...serverRoutes({
      version,
      flow,
      telemetry,
      gatekeeper: keeper,
      isClustered: cluster !== undefined,
      url: publicUrl,
      openapi: () => document
    }),
    ...signInRoutes({
      gatekeeper: keeper,
      oidc: options.signIn && openOidc(options.signIn, () => redirectUri(publicUrl())),
      onFailure: onDefect
    }),
    ...overviewRoutes(workspaces),
    ...callRoutes(workspaces),
    ...agentRoutes(workspaces),
    ...approvalRoutes(workspaces),
    ...branchRoutes(workspaces),
    ...ruleRoutes(workspaces),
    ...recordRoutes(workspaces),
    ...recordMetricsRoutes(workspaces),
    ...runRoutes(workspaces),
    ...terminalRoutes(workspaces),
    ...mcpRoutes(workspaces),
    ...(tokenStore === undefined ? [] : tokenRoutes(tokenStore)),
    ...(cluster === undefined ? [] : clusterRoutes(() => joined().joined))
  ]
  const document = openapiOf(routes, version)
  let member: ServerCluster | undefined
  const joined = (): ServerCluster => {
    if (member === undefined) throw new Problem(503, "cluster_unavailable", "The member is joining the cluster.")
    return member
  }

  const handle = requestHandler({
    routes,
    gatekeeper: keeper,
    allowedHosts: () => names,
    flow,
    arrivals: () => arrivals,
    bodyLimits: limits.body,
    ...(cluster !== undefined && {
      pass: (request) => joined().pass(request),
      askMembers: (request, own) => joined().askMembers(request, own)
    }),
    site: siteOf(readConsole(options.console)),
    onAnswered: (route, status, milliseconds) => countRequest(route?.path, status, milliseconds),
    onDefect
  })
  const server = createServer(
    {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersMilliseconds,
      requestTimeout: limits.requestMilliseconds,
      connectionsCheckingInterval: Math.min(1_000, limits.headersMilliseconds)
    },
    listener(handle, { onDefect, stalledMilliseconds: limits.stalledMilliseconds })
  )
  limitConnections(server, limits.connections)
  server.on("clientError", answerBrokenRequest)
  const arrivals = arrivalsAt(server)
  try {
    const bound = await listen(server, host, port).catch((error: unknown) =>
      options.orAnyPort === true && codeOf(error) === "EADDRINUSE" ? listen(server, host, 0) : Promise.reject(error)
    )
    url = `http://${bracketed(isEverywhere(host) ? "127.0.0.1" : host)}:${bound}`
    names = hostNames(host, bound, { also: namesOf(options), addresses: addressesHere() })
  } catch (error) {
    await workspaces.dispose()
    await telemetry.dispose()
    throw new ConfigError(whyNot(error, host, port), { cause: error })
  }
  if (cluster !== undefined && owned !== undefined) {
    member = await joinServer({
      cluster,
      configs: options.workspaces,
      workspaces: owned,
      url,
      version,
      telemetry,
      handle,
      bodyBytes: limits.body.bytes,
      stalledMilliseconds: limits.stalledMilliseconds,
      onDefect,
      ...(options.onClusterEvent !== undefined && { onEvent: options.onClusterEvent })
    }).catch(async (error: unknown) => {
      await close(server)
      await telemetry.dispose()
      throw error
    })
  }

  const patience = new AbortController()
  const stop = async (): Promise<void> => {
    // While workspaces are handed over, requests for them are passed on to their next owners.
    await member?.leave()
    flow.stop()
    for (const [, { approvals }] of workspaces.all()) {
      const refuse = ({ id }: OpenRequest): unknown => approvals.giveUp(id, "the server stopped")
      for (const request of approvals.open()) refuse(request)
      // Calls that still run may ask new questions.
      approvals.subscribe((change) => change.type === "opened" && refuse(change.request))
    }
    await Promise.race([flow.idle(), after(limits.graceMilliseconds, patience.signal)])
    patience.abort()
    await workspaces.dispose()
    webhook?.close()
    await close(server)
    await member?.close()
    await telemetry.dispose()
  }
  let stopping: Promise<void> | undefined
  return {
    url,
    consoleLink: () => `${publicUrl()}/login?code=${keeper.makeLink()}`,
    stop: ({ atOnce = false } = {}) => {
      stopping ??= stop()
      if (atOnce) patience.abort()
      return stopping
    }
  }
}

// The console lies beside the published bundle; in the repository it is in the directory of its own package.
const readConsole = (directory: string | undefined): ReadonlyMap<string, Uint8Array> | undefined =>
  directory === undefined
    ? (readSite(fileURLToPath(new URL("console", import.meta.url))) ??
      readSite(fileURLToPath(new URL("../../console/dist", import.meta.url))))
    : readSite(directory)

/** Names that the server answers to besides those of its address, as Host headers have them. */
const namesOf = ({ alsoKnownAs = [], publicUrl }: ServeOptions): ReadonlyArray<string> =>
  publicUrl === undefined ? alsoKnownAs : [...alsoKnownAs, new URL(publicUrl).host]

const listen = async (server: Server, host: string, port: number): Promise<number> => {
  server.listen({ host: host.replaceAll(/^\[|\]$/g, ""), port })
  await once(server, "listening")
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : 0
}

const close = async (server: Server): Promise<void> => {
  const closed = once(server, "close")
  server.close()
  server.closeAllConnections()
  await closed
}

const refuseIdentity = (): never => {
  const message = "The cluster's database can't be reached, so tokens and sessions can't be checked."
  throw new Problem(503, "cluster_unavailable", message, { "retry-after": "2" })
}

/** Tokens of a cluster. While its database can't be reached, requests are refused and not denied. */
const sharedTokens = (tokens: Tokens): Tokens => ({
  ...tokens,
  find: (secret) => tokens.find(secret).catch(refuseIdentity),
  isInForce: (id) => tokens.isInForce(id).catch(refuseIdentity)
})

/** Sessions of a cluster, likewise. */
const sharedSessions = (sessions: Sessions): Sessions => ({
  ...sessions,
  find: (id) => sessions.find(id).catch(refuseIdentity)
})

const addressesHere = (): ReadonlyArray<string> =>
  Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address))

const codeOf = (error: unknown): unknown => (error instanceof Error && "code" in error ? error.code : undefined)

const whyNot = (error: unknown, host: string, port: number): string => {
  const code = codeOf(error)
  const where = `${bracketed(host)}:${port}`
  if (code === "EADDRINUSE") return `${where} is in use; choose another port with --port, or 0 for any`
  if (code === "EACCES") return `${where} needs rights that haft does not have; choose a port above 1023`
  return `${where} can't be listened on: ${error instanceof Error ? error.message : String(error)}`
}

const after = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  sleep(milliseconds, undefined, { signal }).catch(() => undefined)
