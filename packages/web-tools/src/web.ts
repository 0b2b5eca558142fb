import { type Endpoint, type Listed, Network, type NetworkService, StateFiles, type ToolError } from "@haft/core"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"

import { isNamedPrivate, isOnList } from "./safe-fetch/host-list.ts"
import { makeHostQueue } from "./safe-fetch/host-queue.ts"
import { networkError } from "./safe-fetch/network-error.ts"
import {
  type FetchError,
  type FetchSettings,
  safeFetch,
  type WebRequest,
  type WebResponse
} from "./safe-fetch/safe-fetch.ts"
import { parseTarget, refuseBy } from "./safe-fetch/target-url.ts"
import { type SearchConfig, searchFromEnvironment, type WebConfig } from "./web-config.ts"

/** The way to the web, as the host configured it. */
export class Web extends Context.Service<
  Web,
  {
    /** The URL that will be fetched, or why it never will be. */
    readonly target: (url: string) => Effect.Effect<URL, ToolError<"invalid_url" | "url_blocked">>
    /** True for a host that the configuration lets be fetched without a question. */
    readonly isAllowed: (url: URL) => boolean
    readonly fetch: (request: WebRequest) => Effect.Effect<WebResponse, FetchError>
    /** Fetches from the search service that the host chose, which may be a private one. */
    readonly fetchFromProvider: (request: WebRequest) => Effect.Effect<WebResponse, FetchError>
    readonly maxBytes: number
    readonly search: SearchConfig | undefined
  }
>()("@haft/web-tools/Web") {
  static readonly layer = (config: WebConfig): Layer.Layer<Web, never, StateFiles> =>
    Layer.effect(
      Web,
      Effect.gen(function* () {
        const state = yield* StateFiles
        const { certificateAuthorities: added } = config
        const certificateAuthorities = added.length === 0 ? undefined : yield* withUsual(added)
        const network = yield* Network
        const listed = (url: URL): Listed => network.listed(endpointOf(url))
        const reached = { ...config, privateHosts: [...config.privateHosts, ...network.privateHosts] }
        const isAllowed = (url: URL): boolean =>
          isOnList(config.allowedHosts, url.hostname) || listed(url).decision === "allow"
        const isOwn = (url: URL): boolean =>
          isOnList(config.allowedHosts, url.hostname) || isNamedPrivate(config.privateHosts, url)
        const refusal = (url: URL): string | undefined => {
          const found = listed(url)
          // Hosts that the web's own settings name are denied by the other list only.
          return found.decision === "deny" && (!isOwn(url) || found.isDenied) ? found.reason : undefined
        }
        const queue = makeHostQueue(config.requestsPerHost)
        const record = recording(network, (url) => {
          const found = listed(url)
          return found.decision === "allow" ? `network.allow ${found.entry.text}` : "the call"
        })
        const settings = { config: reached, certificateAuthorities, queue, isAllowed, refusal, record }
        return {
          target: (url) => Effect.tap(parseTarget(url, reached.privateHosts), (target) => refuseBy(refusal, target)),
          isAllowed,
          fetch: (request) => safeFetch(settings, request).pipe(Effect.provideService(StateFiles, state)),
          fetchFromProvider: (request) => {
            const port = request.url.port || (request.url.protocol === "https:" ? "443" : "80")
            const reachable = {
              ...config,
              cache: false,
              robots: false,
              privateHosts: [`${request.url.hostname}:${port}`]
            }
            // The host chose the service itself.
            const chosen = { ...settings, config: reachable, refusal: () => undefined }
            return safeFetch(chosen, request).pipe(Effect.provideService(StateFiles, state))
          },
          maxBytes: config.maxBytes,
          search: config.search ?? searchFromEnvironment(process.env)
        }
      })
    )
}

/** Puts each request on record as a connection, as those of commands are. What is not on record is not sent. */
const recording =
  (network: NetworkService, allowedBy: (url: URL) => string): FetchSettings["record"] =>
  ({ url, body = "" }, answer) =>
    Effect.gen(function* () {
      const endpoint = endpointOf(url)
      const clock = yield* Clock.Clock
      const began = clock.monotonicTimeNanosUnsafe()
      const ended = (received: number) => ({
        type: "connection_closed" as const,
        ...endpoint,
        bytes_sent: Buffer.byteLength(body),
        bytes_received: received,
        duration_sec: Number(clock.monotonicTimeNanosUnsafe() - began) / 1e9
      })
      yield* network
        .record({ type: "connection_opened", ...endpoint, protocol: "fetch", by: allowedBy(url) })
        .pipe(Effect.catch(() => networkError(url, "the audit log can't be written")))
      return yield* answer.pipe(
        Effect.onExit((exit) =>
          Effect.ignore(network.record(ended(Exit.isSuccess(exit) ? exit.value.bytes.length : 0)))
        )
      )
    })

// Loading TLS takes longer than the rest of a host's start, so only who needs it waits for it.
const withUsual = (added: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<string>> =>
  Effect.promise(async () => {
    const { getCACertificates } = await import("node:tls")
    return [...getCACertificates("default"), ...added]
  })

const endpointOf = ({ hostname, port, protocol }: URL): Endpoint => ({
  host: hostname.replace(/^\[(.*)\]$/, "$1"),
  port: Number(port || (protocol === "https:" ? 443 : 80))
})
