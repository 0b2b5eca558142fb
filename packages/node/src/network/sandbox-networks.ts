import { arch } from "node:process"

import { makeToolError, Network, type ToolError } from "@haft/core"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

import type { CertificateAuthority } from "./broker/certificate-authority.ts"
import type { DescriptorRelay } from "./descriptor-relay.ts"
import { dial, type ResolveName, systemNames } from "./proxy/dial.ts"

/** Finds the addresses of names for commands in sandboxes. A host may lend another than the machine's own. */
export const NameResolver = Context.Reference<ResolveName>("@haft/node/NameResolver", { defaultValue: systemNames })

/** Certificates of the authorities that hosts with a credential are trusted by: those of Node and of the system. */
export const TrustedAuthorities = Context.Reference<() => ReadonlyArray<string>>("@haft/node/TrustedAuthorities", {
  defaultValue: () => () => {
    const { getCACertificates } = process.getBuiltinModule("node:tls")
    return [...getCACertificates("default"), ...getCACertificates("system")]
  }
})

/** The network of one command in a sandbox. */
export interface SandboxNetwork {
  /** For the program that prepares the namespace, see network-listeners.pl. */
  readonly listeners: string
  /** Socket file that this program hands its sockets to. */
  readonly relay: string
  /** Network mode that a container joins the namespace by, where a container prepared it. */
  readonly namespace?: string
  /** For the command: where the proxy is. */
  readonly variables: Readonly<Record<string, string>>
  /** Certificate of the authority that the command has to trust, PEM; absent where the policy has no credentials. */
  readonly authority?: string
  /** Ends all connections. */
  readonly close: Effect.Effect<void>
}

/** Opens the network of a command, as the host's policy has it. */
export type OpenNetwork = (
  /** Command line at the time of a question. */
  title: () => string,
  /** Paths that the command sees, where no credential may come from. */
  visible: ReadonlyArray<string>
) => Effect.Effect<SandboxNetwork, ToolError<"sandbox_error">>

/** Ports that programs without a proxy reach hosts on, besides those that the policy names. */
const webPorts = [80, 443]

/** Networks of sandboxes in namespaces, which reach hosts through a proxy in this process and nothing else. */
export const sandboxNetworks: Effect.Effect<OpenNetwork, never, Scope.Scope> = Effect.gen(function* () {
  const network = yield* Network
  const resolve = yield* NameResolver
  const trusted = yield* TrustedAuthorities
  let relay: DescriptorRelay | undefined
  let authority: CertificateAuthority | undefined
  yield* Effect.addFinalizer(() => Effect.promise(async () => relay?.close()))
  const openBroker = Effect.fnUntraced(function* (visible: ReadonlyArray<string>) {
    const { credentials } = network
    if (credentials.length === 0) return undefined
    const {
      CertificateAuthority: Authority,
      CredentialBroker: Broker,
      readSecret
    } = yield* Effect.promise(() => import("./broker/index.ts"))
    const issuer = (authority ??= new Authority(credentials.flatMap(({ hosts }) => hosts.map(({ host }) => host))))
    const held = yield* Effect.try({
      try: () => credentials.map((credential) => [credential, readSecret(credential, visible)] as const),
      catch: (cause) => noNetwork(cause instanceof Error ? cause.message : String(cause))
    })
    return { broker: new Broker(held, issuer), authority: issuer.certificate }
  })
  return Effect.fnUntraced(function* (title, visible) {
    if (network.closed !== undefined) return yield* noNetwork(network.closed)
    // Loaded with the first command that has a network: most have none.
    const [{ DescriptorRelay: Relay }, { proxyPort, SandboxProxy }] = yield* Effect.promise(() =>
      Promise.all([import("./descriptor-relay.ts"), import("./proxy/proxy.ts")])
    )
    const handsOver = (relay ??= new Relay())
    const brokered = yield* openBroker(visible)
    const context = yield* Effect.context()
    const proxy = new SandboxProxy({
      network,
      run: (effect, signal) => Effect.runPromiseWith(context)(effect, { signal }),
      command: title,
      dial: (endpoint, admission) => dial(endpoint, admission, resolve),
      ...(brokered !== undefined && { broker: brokered.broker, authorities: trusted() })
    })
    const address = yield* Effect.tryPromise({
      try: () => handsOver.expect(proxy.serve),
      catch: (cause) => noNetwork(cause instanceof Error ? cause.message : String(cause))
    })
    return {
      listeners: [address.path, address.token, arch, proxyPort, ...webPorts, ...network.ports].join(" "),
      relay: address.path,
      variables: { ...variablesFor(proxyPort), ...brokered?.broker.variables },
      ...(brokered !== undefined && { authority: brokered.authority }),
      close: Effect.promise(() => {
        handsOver.forget(address)
        return proxy.close()
      })
    }
  })
})

/** Error of a command that was to have a network. */
export const noNetwork = (reason: string): ToolError<"sandbox_error"> =>
  makeToolError("sandbox_error", `the command gets no network: ${reason}`, {
    suggestion: "Run it without network, or ask the person who runs the host to allow hosts: network.allow."
  })

// Programs that know a proxy show its refusals; the others are reset. An http proxy for all: httpx can't start with a
// SOCKS one where a package is missing.
const variablesFor = (proxyPort: number): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(
    ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].flatMap((name) =>
      [name, name.toLowerCase()].map((spelled) => [spelled, `http://127.0.0.1:${proxyPort}`])
    )
  ),
  NO_PROXY: "localhost,127.0.0.1,::1",
  no_proxy: "localhost,127.0.0.1,::1",
  NODE_USE_ENV_PROXY: "1"
})
