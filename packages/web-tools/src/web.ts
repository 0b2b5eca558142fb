import { StateFiles, type ToolError } from "@haft/core"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { isOnList } from "./safe-fetch/host-list.ts"
import { makeHostQueue } from "./safe-fetch/host-queue.ts"
import { type FetchError, safeFetch, type WebRequest, type WebResponse } from "./safe-fetch/safe-fetch.ts"
import { parseTarget } from "./safe-fetch/target-url.ts"
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
    /** The same, to the search service the host chose, which may be a private one. */
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
        const settings = { config, certificateAuthorities, queue: makeHostQueue(config.requestsPerHost) }
        return {
          target: (url) => parseTarget(url, config.privateHosts),
          isAllowed: (url) => isOnList(config.allowedHosts, url.hostname),
          fetch: (request) => safeFetch(settings, request).pipe(Effect.provideService(StateFiles, state)),
          fetchFromProvider: (request) => {
            const port = request.url.port || (request.url.protocol === "https:" ? "443" : "80")
            const reachable = {
              ...config,
              cache: false,
              robots: false,
              privateHosts: [`${request.url.hostname}:${port}`]
            }
            return safeFetch({ ...settings, config: reachable }, request).pipe(Effect.provideService(StateFiles, state))
          },
          maxBytes: config.maxBytes,
          search: config.search ?? searchFromEnvironment(process.env)
        }
      })
    )
}

// Loading TLS takes longer than the rest of a host's start, so only who needs it waits for it.
const withUsual = (added: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<string>> =>
  Effect.promise(async () => {
    const { getCACertificates } = await import("node:tls")
    return [...getCACertificates("default"), ...added]
  })
