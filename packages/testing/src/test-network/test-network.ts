import assert from "node:assert/strict"
import { setTimeout as sleep } from "node:timers/promises"

import {
  Approver,
  type JournalEvent,
  memoryJournal,
  networkPolicy,
  type Processes,
  type Sandbox,
  type SandboxRequest
} from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"

import { temporaryWorkspace, type TemporaryWorkspace } from "../temporary-workspace.ts"
import { type Ran, wrapAndRun } from "../test-sandbox/inside.ts"
import { type Escape, escapes, prelude } from "./escapes.ts"
import { startServers, type TestServers } from "./servers.ts"

/** A sandbox that gives commands network by host. It must contain `perl`. */
export interface NetworkUnderTest {
  readonly sandbox: (
    workspace: TemporaryWorkspace,
    /** The policy for the sandbox to follow, and where names lead: nobody else is to be asked about them. */
    surroundings: {
      readonly policy: Layer.Layer<never>
      readonly resolve: (host: string) => Promise<ReadonlyArray<string>>
    }
  ) => Layer.Layer<Sandbox | Processes, unknown>
  /** The test runner's own functions. */
  readonly it: (title: string, test: () => Promise<void>, timeoutMs?: number) => void
  readonly beforeAll: (prepare: () => Promise<void>) => void
  readonly afterAll: (cleanUp: () => Promise<void>) => void
}

/** Defines all tests for the network of a sandbox: what is admitted is reached, and nothing else, however it is tried. */
export const testNetwork = ({ sandbox, it, beforeAll, afterAll }: NetworkUnderTest): void => {
  let bench: Bench
  beforeAll(async () => {
    bench = await openBench(sandbox)
  })
  afterAll(() => bench.close())

  it("reaches an admitted host through HTTP, CONNECT, SOCKS 5 and its name", async () => {
    const { allowed } = bench.servers
    const { stdout } = await bench.perl(
      [
        ["http", `proxy(request("http://allowed.test:${allowed}/", "allowed.test:${allowed}"))`],
        ["connect", `tunnel("allowed.test:${allowed}", request("/", "allowed.test:${allowed}"))`],
        ["socks", `socks("\\3" . chr(12) . "allowed.test", ${allowed}, request("/", "allowed.test:${allowed}"))`],
        ["name", `direct(looked_up("allowed.test"), ${allowed}, request("/", "allowed.test:${allowed}"))`]
      ].map(([name = "", code = ""]): Escape => [name, code])
    )
    assert.equal(stdout.match(/allowed ?$/gm)?.length, 4, stdout)
    const events = bench.takeEvents()
    assert.equal(events.filter(({ type }) => type === "connection_opened").length, 4)
  }, 60_000)

  for (const name of classes) {
    it(`lets nothing out: ${name}`, async () => {
      bench.takeEvents()
      bench.servers.taken()
      bench.resolved.length = 0
      const tried = escapes(bench.servers)[name] ?? []
      assert.ok(tried.length >= 4)
      const ran = await bench.perl(tried)
      // A process that is left behind has its chance.
      await sleep(name === "races" ? 1500 : 50)
      const { stdout, stderr } = ran
      assert.equal(stdout.split("\n").filter((line) => line !== "").length, tried.length, `${stdout}${stderr}`)
      assert.doesNotMatch(stdout, /escaped/)
      const { allowed, tls } = bench.servers
      const admitted = [`allowed.test:${allowed}`, `tls.test:${tls}`]
      const opened = bench.takeEvents().filter(({ type }) => type === "connection_opened")
      assert.deepEqual(
        opened.map(({ host, port }) => `${String(host)}:${String(port)}`).filter((one) => !admitted.includes(one)),
        []
      )
      assert.deepEqual(bench.servers.taken(), [])
      const known = ["allowed.test", "tls.test", "mixed.test", "private.test", "mapped.test", "nat64.test"]
      assert.deepEqual(
        bench.resolved.filter((host) => !known.includes(host)),
        []
      )
    }, 120_000)
  }
}

const classes = [
  "address forms",
  "DNS",
  "redirects",
  "proxy headers",
  "TLS",
  "sockets",
  "namespaces",
  "descriptors",
  "environment",
  "races"
]

interface Bench {
  readonly servers: TestServers
  readonly resolved: Array<string>
  readonly takeEvents: () => ReadonlyArray<JournalEvent>
  readonly perl: (pieces: ReadonlyArray<Escape>, request?: SandboxRequest) => Promise<Ran>
  readonly close: () => Promise<void>
}

const addresses: Readonly<Record<string, ReadonlyArray<string>>> = {
  // Of the public ones nobody is ever asked: one address that is not public spoils them all.
  "mixed.test": ["1.1.1.1", "127.0.0.1"],
  "mapped.test": ["::ffff:127.0.0.1"],
  "nat64.test": ["64:ff9b::7f00:1"]
}

const openBench = async (sandbox: NetworkUnderTest["sandbox"]): Promise<Bench> => {
  const servers = await startServers()
  const workspace = temporaryWorkspace()
  const events: Array<JournalEvent> = []
  const resolved: Array<string> = []
  const approver = Layer.succeed(Approver, {
    judge: ({ asks }) => Effect.succeed({ decision: asks ? "ask" : "allow", reason: "test" }),
    ask: () => Effect.succeed({ approved: false })
  })
  const allow = [
    `allowed.test:${servers.allowed}`,
    `tls.test:${servers.tls}`,
    "mixed.test",
    "private.test",
    "mapped.test",
    "nat64.test",
    "localhost"
  ]
  const policy = networkPolicy({ allow, ask: false }).pipe(Layer.provide(Layer.merge(approver, memoryJournal(events))))
  const resolve = async (host: string): Promise<ReadonlyArray<string>> => {
    resolved.push(host)
    return addresses[host] ?? ["127.0.0.1"]
  }
  const runtime = ManagedRuntime.make(sandbox(workspace, { policy, resolve }))
  return {
    servers,
    resolved,
    takeEvents: () => events.splice(0),
    perl: (pieces, request = { network: true }) => {
      const code = pieces.map(
        ([name, piece]) => `result(${JSON.stringify(name).replaceAll(/[$@]/g, "\\$&")}, do { ${piece} });`
      )
      const datagram = `sub datagram { my ($address, $port) = @_; socket(my $u, 2, 2, 17); send($u, "hi", 0, pack("S n C4 x8", 2, $port, split /\\./, $address)); "" }`
      const command = {
        program: "perl",
        args: ["-e", [prelude, datagram, ...code].join("\n")],
        directory: workspace.root,
        env: {}
      }
      return runtime.runPromise(wrapAndRun(command, request, { timeoutMs: 100_000 }))
    },
    close: async () => {
      await runtime.dispose()
      await servers.close()
      workspace.remove()
    }
  }
}
