import type { Socket as DatagramSocket } from "node:dgram"
import type { Server, Socket } from "node:net"

import { type Admission, ConnectionRefused, type Endpoint, type NetworkService } from "@haft/core"
import { printEndpoint, stepSpan } from "@haft/core/internal"
import * as Effect from "effect/Effect"

import type { CredentialBroker } from "../broker/credential-broker.ts"
import { type Dial, OpenConnection } from "./open-connection.ts"
import { StandInAddresses } from "./stand-in-addresses.ts"

/** Options of a proxy session, taken from the sandbox that it serves. */
export interface SessionOptions {
  readonly network: NetworkService
  /** Runs an effect with the services of the call that started the sandbox. */
  readonly run: <A, E>(effect: Effect.Effect<A, E>, signal: AbortSignal) => Promise<A>
  /** The command line, for the person who is asked. */
  readonly command: () => string
  readonly dial: Dial
  /** Absent where the policy has no credentials. */
  readonly broker?: CredentialBroker
  /** Certificates of authorities that brokered hosts are trusted by. */
  readonly authorities?: ReadonlyArray<string>
  /** How long a question waits before the connection is refused. */
  readonly questionTimeoutMs?: number
}

/** Shorter than the 300 s after which curl, git and Node give up, so that they are told. */
const standardQuestionTimeoutMs = 280_000

/** A decision about a connection. */
export type ConnectionDecision = { readonly admission: Admission } | { readonly refusal: ConnectionRefused }

/** The network of one sandbox: its sockets, its open connections, and what was decided for it. */
export class ProxySession {
  readonly standIns = new StandInAddresses()
  readonly #options: SessionOptions
  readonly #questions = new Map<string, Promise<ConnectionDecision>>()
  readonly #sockets = new Set<Server | DatagramSocket>()
  readonly #clients = new Set<Socket>()
  readonly #refusals = new Map<string, number>()
  readonly #closing = new AbortController()
  readonly #open = new Set<OpenConnection>()

  constructor(options: SessionOptions) {
    this.#options = options
  }

  get broker(): CredentialBroker | undefined {
    return this.#options.broker
  }

  get authorities(): ReadonlyArray<string> {
    return this.#options.authorities ?? []
  }

  get isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  /** Keeps a listening socket for as long as the session lives. */
  hold(socket: Server | DatagramSocket): void {
    socket.on("error", () => undefined)
    if (this.isClosed) socket.close()
    else this.#sockets.add(socket)
  }

  /** Counts a client in, or closes its connection where the sandbox has too many. */
  accept(client: Socket): boolean {
    client.on("error", () => undefined)
    if (this.isClosed || this.#clients.size >= this.#options.network.maxConnections) {
      client.destroy()
      return false
    }
    this.#clients.add(client)
    client.once("close", () => this.#clients.delete(client))
    client.setNoDelay(true)
    return true
  }

  /** Decides about a connection. Retries join a question that is open; a person's answer holds until the sandbox ends. */
  decide(endpoint: Endpoint): Promise<ConnectionDecision> {
    const name = printEndpoint(endpoint)
    const known = this.#questions.get(name)
    if (known !== undefined) return known
    const { network, run, command, questionTimeoutMs = standardQuestionTimeoutMs } = this.#options
    const admitted = network.admit({ ...endpoint, command: command() }).pipe(
      Effect.timeoutOrElse({
        duration: questionTimeoutMs,
        orElse: () => Effect.fail(new ConnectionRefused({ reason: `nobody answered about ${name}` }))
      }),
      Effect.match({
        onSuccess: (admission): ConnectionDecision => ({ admission }),
        onFailure: (refusal): ConnectionDecision => ({ refusal })
      })
    )
    const decided = run(admitted, this.#closing.signal).catch((): ConnectionDecision => ({
      refusal: new ConnectionRefused({ reason: "the command has ended" })
    }))
    this.#questions.set(name, decided)
    void decided.then((decision) => isPersons(decision) || this.#questions.delete(name))
    return decided
  }

  /** Decides about a connection, and puts a refusal on record. Rejects with {@link ConnectionRefused}. */
  async admit(endpoint: Endpoint): Promise<Admission> {
    const decision = await this.decide(endpoint)
    if ("refusal" in decision) throw await this.refuse(endpoint, decision.refusal)
    return decision.admission
  }

  /** Connects to a host, if that is allowed, and puts it on record. Rejects with {@link ConnectionRefused}. */
  async connect(endpoint: Endpoint, protocol: string): Promise<OpenConnection> {
    const began = performance.now()
    const admission = await this.admit(endpoint)
    const waitedMs = performance.now() - began
    const upstream = await this.#dial(endpoint, admission).catch(async (cause: unknown) => {
      throw cause instanceof ConnectionRefused ? await this.refuse(endpoint, cause) : cause
    })
    if (this.isClosed) {
      upstream.destroy()
      throw new ConnectionRefused({ reason: "the command has ended" })
    }
    const connection = new OpenConnection(upstream, endpoint, admission, async (traffic) => {
      this.#open.delete(connection)
      await this.#record({ type: "connection_closed", ...endpoint, ...traffic })
    })
    this.#open.add(connection)
    const { by } = admission
    const waited = waitedMs >= 1000 ? { waited_sec: waitedMs / 1000 } : {}
    // A connection that can't be recorded is not made.
    if (await this.#record({ type: "connection_opened", ...endpoint, protocol, by, ...waited })) return connection
    connection.upstream.destroy()
    throw new ConnectionRefused({ reason: "the audit log can't be written" })
  }

  #dial(endpoint: Endpoint, admission: Admission): Promise<Socket> {
    const dialed = Effect.tryPromise({ try: () => this.#options.dial(endpoint, admission), catch: asError })
    const span = stepSpan("connect", { "server.address": endpoint.host, "server.port": endpoint.port })
    return this.#options.run(span(dialed), never)
  }

  /** Puts a refusal on record: the first of each kind, and how often it was repeated when the session ends. */
  async refuse(endpoint: Endpoint, refusal: ConnectionRefused): Promise<ConnectionRefused> {
    const key = JSON.stringify([endpoint.host, endpoint.port, refusal.reason])
    const count = this.#refusals.get(key)
    if (count === undefined && this.#refusals.size >= mostRefusals) return refusal
    this.#refusals.set(key, (count ?? 0) + 1)
    if (count !== undefined) return refusal
    await this.#record({ type: "connection_refused", ...endpoint, reason: refusal.reason })
    return refusal
  }

  /** Ends every connection and withdraws open questions. */
  async close(): Promise<void> {
    if (this.isClosed) return
    for (const socket of this.#sockets) socket.close()
    for (const client of this.#clients) client.destroy()
    const closing = [...this.#open].map((connection) => connection.close())
    for (const [key, count] of this.#refusals) {
      if (count < 2) continue
      const [host, port, reason] = JSON.parse(key) as [string, number, string]
      await this.#record({ type: "connection_refused", host, port, reason, repeated: count - 1 })
    }
    this.#closing.abort()
    await Promise.all(closing)
  }

  async #record(event: Parameters<NetworkService["record"]>[0]): Promise<boolean> {
    return this.#options.run(Effect.isSuccess(this.#options.network.record(event)), never).catch(() => false)
  }
}

const asError = (cause: unknown): Error => (cause instanceof Error ? cause : new Error(String(cause)))

/** Different refusals of one sandbox that are put on record. */
const mostRefusals = 1000

const never = new AbortController().signal

const isPersons = (decision: ConnectionDecision): boolean =>
  "admission" in decision ? decision.admission.isAnswer : decision.refusal.isAnswer === true
