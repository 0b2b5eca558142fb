import { spawnSync } from "node:child_process"
import { chmodSync, chownSync } from "node:fs"
import { createServer } from "node:http"
import { type AddressInfo, type Server } from "node:net"
import { dirname } from "node:path"

import {
  type Answer,
  Approver,
  type JournalEvent,
  memoryJournal,
  type NetworkConfig,
  networkPolicy,
  Processes,
  Sandbox,
  type SandboxRequest,
  Workspace
} from "@haft/core"
import { temporaryWorkspace, type TemporaryWorkspace, testNetwork } from "@haft/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Tracer from "effect/Tracer"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { runsTestImage, testImage } from "../../test/container-image.ts"
import { nodeProcesses } from "../process/processes.ts"
import { systemProgram } from "../process/system-programs.ts"
import { containerSandbox } from "../sandbox/container/container.ts"
import type { SandboxOptions } from "../sandbox/limits.ts"
import { bubblewrapSandbox } from "../sandbox/linux/bubblewrap.ts"
import { unshareSandbox } from "../sandbox/linux/unshare.ts"
import { noSandbox } from "../sandbox/none.ts"
import { NameResolver } from "./sandbox-networks.ts"

type Make = (options: SandboxOptions) => Layer.Layer<Sandbox, never, Workspace | Processes>

interface Opened {
  readonly sh: (code: string, request?: SandboxRequest) => Promise<string>
  readonly events: ReadonlyArray<JournalEvent>
  readonly questions: Array<string>
  readonly spans: ReadonlyArray<Tracer.NativeSpan>
  readonly port: number
  readonly hits: Array<string>
  readonly workspace: TemporaryWorkspace
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** A sandbox whose names all lead to an HTTP server on this machine. */
const open = async (
  make: Make,
  policy: (port: number) => NetworkConfig,
  {
    answer = () => ({ approved: false }),
    isOwned = false
  }: { answer?: () => Answer | Promise<Answer>; isOwned?: boolean } = {}
): Promise<Opened> => {
  const workspace = temporaryWorkspace()
  if (isOwned) {
    chmodSync(dirname(workspace.root), 0o755)
    chownSync(workspace.root, 4711, 4712)
  }
  const hits: Array<string> = []
  const server: Server = createServer((request, response) => {
    hits.push(`${request.headers.host}${request.url}`)
    response.end(`reached ${request.url}\n`)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  const events: Array<JournalEvent> = []
  const questions: Array<string> = []
  const spans: Array<Tracer.NativeSpan> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  const approver = Layer.succeed(Approver, {
    judge: ({ asks }) => Effect.succeed({ decision: asks ? "ask" : "allow", reason: "the policy" }),
    ask: ({ facts }) =>
      Effect.promise(async () => {
        questions.push(facts.connects ?? "")
        return answer()
      })
  })
  const runtime = ManagedRuntime.make(
    make({ state: workspace.state }).pipe(
      Layer.provideMerge(nodeProcesses),
      Layer.provide(
        Layer.mock(Workspace)({ root: workspace.root, roots: [], isSecret: () => false, secretFiles: () => [] })
      ),
      Layer.provide(networkPolicy(policy(port)).pipe(Layer.provide(Layer.merge(approver, memoryJournal(events))))),
      Layer.provide(Layer.succeed(NameResolver, async () => ["127.0.0.1"]))
    )
  )
  const sh = async (code: string, request: SandboxRequest = { network: true }): Promise<string> => {
    let printed = ""
    const hear = (chunk: Uint8Array): void => void (printed += Buffer.from(chunk).toString())
    await runtime.runPromise(
      Effect.gen(function* () {
        const { wrap } = yield* Sandbox
        const { run } = yield* Processes
        const command = { program: "bash", args: ["-c", code], directory: workspace.root, env: {} }
        yield* run(yield* wrap(command, request), { onStdout: hear, onStderr: hear, timeoutMs: 60_000 })
      }).pipe(Effect.withTracer(tracer))
    )
    return printed
  }
  return {
    sh,
    events,
    questions,
    spans,
    port,
    hits,
    workspace,
    [Symbol.asyncDispose]: async () => {
      await runtime.dispose()
      workspace.remove()
      server.close()
    }
  }
}

/** An HTTP request by a program that has never heard of proxies: bash itself. */
const bare = (host: string, port: number, path: string): string =>
  `(exec 5<>/dev/tcp/${host}/${port} && printf 'GET ${path} HTTP/1.0\\r\\nHost: ${host}:${port}\\r\\n\\r\\n' >&5 && cat <&5 | tail -1) 2>&1`

/** Shell code that sends a request through the proxy. */
const proxied = (host: string, port: number, path: string): string =>
  `(exec 5<>/dev/tcp/127.0.0.1/3128 && printf 'GET http://${host}:${port}${path} HTTP/1.1\\r\\nHost: ${host}:${port}\\r\\nConnection: close\\r\\n\\r\\n' >&5 && cat <&5)`

const putConformance = (make: Make): void => {
  testNetwork({
    it,
    beforeAll,
    afterAll,
    sandbox: (workspace, { policy, resolve }) =>
      make({ state: workspace.state }).pipe(
        Layer.provideMerge(nodeProcesses),
        Layer.provide(
          Layer.mock(Workspace)({ root: workspace.root, roots: [], isSecret: () => false, secretFiles: () => [] })
        ),
        Layer.provide(policy),
        Layer.provide(Layer.succeed(NameResolver, resolve))
      )
  })

  it("gives a command behind a terminal the same network", async () => {
    await using opened = await open(make, (port) => ({ allow: [`web.test:${port}`], ask: false }))
    const { sh, port } = opened
    await sh(`${bare("web.test", port, "/terminal")}; ${bare("other.test", port, "/other")}`, {
      network: true,
      terminal: true
    })
    expect(opened.hits).toEqual([`web.test:${port}/terminal`])
  })

  it("shows nothing of the relay inside", async () => {
    await using opened = await open(make, (port) => ({ allow: [`web.test:${port}`] }))
    const printed = await opened.sh(
      "env; cat /proc/1/environ /proc/1/cmdline | tr '\\0' '\\n'; ls -l /proc/1/fd /proc/self/fd"
    )
    expect(printed).not.toMatch(/HAFT_NETWORK|\/relay|socket:/)
  })
}

const putNetworks = (make: Make): void => {
  putConformance(make)

  it("reaches the hosts that the policy names, with a proxy and without, and no others", async () => {
    await using opened = await open(make, (port) => ({ allow: [`web.test:${port}`], ask: false }))
    const { sh, port } = opened
    const printed = await sh(
      [
        bare("web.test", port, "/bare"),
        proxied("web.test", port, "/proxied"),
        bare("other.test", port, "/other"),
        bare("127.0.0.1", port, "/loopback"),
        proxied("other.test", port, "/refused"),
        proxied("127.0.0.1", port, "/loopback")
      ].join("; ")
    )
    expect(opened.hits).toEqual([`web.test:${port}/bare`, `web.test:${port}/proxied`])
    expect(printed).toContain(`haft refused the connection: network.allow does not list other.test:${port}`)
    expect(printed).toContain("127.0.0.1 is not a public host")
  })

  it("puts every connection on record: host, port, bytes, what allowed it", async () => {
    await using opened = await open(make, (port) => ({ allow: [`web.test:${port}`], ask: false }))
    const { sh, port, events, spans } = opened
    await sh(`${bare("web.test", port, "/")}; for i in 1 2 3; do ${proxied("other.test", port, "/")}; done`)
    const common = { request_id: "none", step: 0, tool: "none" }
    const host = { ...common, host: "web.test", port }
    const reason = `network.allow does not list other.test:${port}`
    expect(events).toEqual([
      { type: "connection_opened", ...host, protocol: "direct", by: `network.allow web.test:${port}` },
      {
        type: "connection_closed",
        ...host,
        bytes_sent: expect.any(Number),
        bytes_received: expect.any(Number),
        duration_sec: expect.any(Number)
      },
      { type: "connection_refused", ...common, host: "other.test", port, reason },
      { type: "connection_refused", ...common, host: "other.test", port, reason, repeated: 2 }
    ])
    const connects = spans.filter(({ name }) => name === "haft.connect")
    expect(connects.map(({ attributes }) => Object.fromEntries(attributes))).toEqual([
      { "server.address": "web.test", "server.port": port }
    ])
    expect(events[1]).toMatchObject({ bytes_sent: `GET / HTTP/1.0\r\nHost: web.test:${port}\r\n\r\n`.length })
  })

  it("asks once about a host, and the answer holds for the whole command", async () => {
    await using opened = await open(make, () => ({ allow: ["listed.example:1"], ask: true }), {
      answer: () => ({ approved: true })
    })
    const { sh, port, questions } = opened
    // A yes does not open addresses of this machine: those have to be listed.
    const printed = await sh(`for i in 1 2; do ${proxied("new.test", port, "/")}; done`)
    expect(printed).toContain("new.test resolves to an address that is not public")
    expect([questions, opened.hits]).toEqual([[`new.test:${port}`], []])
  })

  it.runIf(process.getuid?.() === 0)(
    "works for who owns the workspace; for root only (not on this platform)",
    async () => {
      await using opened = await open(make, (port) => ({ allow: [`web.test:${port}`] }), { isOwned: true })
      const { sh, port } = opened
      expect(await sh(`id -u; ${bare("web.test", port, "/owner")}`)).toBe("4711\nreached /owner\n")
    }
  )

  it("ends all connections with the command, and takes no more of them than the policy says", async () => {
    await using opened = await open(make, (port) => ({ allow: [`web.test:${port}`], maxConnections: 3 }))
    const { sh, port, events } = opened
    const printed = await sh(
      `for d in 5 6 7 8; do eval "exec $d<>/dev/tcp/web.test/${port}"; done; sleep 0.3; read -t 1 -u 8 line || echo closed; sleep 60 & exit 0`
    )
    expect(printed).toBe("closed\n")
    const types = events.map(({ type }) => type)
    expect(types.filter((type) => type === "connection_opened")).toHaveLength(3)
    expect(types.filter((type) => type === "connection_closed")).toHaveLength(3)
  })

  it("leaves a command without network as it was: no listener, no variable", async () => {
    await using opened = await open(make, (port) => ({ allow: [`web.test:${port}`] }))
    const { sh, port } = opened
    const printed = await sh(`env | grep -i proxy; ${bare("127.0.0.1", 3128, "/")}; ${bare("web.test", port, "/")}`, {})
    expect(printed).not.toMatch(/proxy=/i)
    expect(opened.hits).toEqual([])
  })
}

describe.runIf(process.platform === "linux" && systemProgram("bwrap") !== undefined)("bubblewrap (needs bwrap)", () => {
  putNetworks(bubblewrapSandbox)
})
describe.runIf(process.platform === "linux")("unshare (not on this platform)", () => {
  putNetworks(unshareSandbox)
})
describe.runIf(runsTestImage("docker"))("docker (needs an engine and the image haft-test, see .ci/test-image)", () => {
  putConformance((options) => containerSandbox({ ...options, engine: "docker", image: testImage }))

  it("says that the image must have perl where none can prepare a network", async () => {
    const image = "haft-test-bare"
    const archive = spawnSync("tar", ["-c", "--transform=s,.*,bin/sh,", "-C", "/bin", "busybox"], {
      maxBuffer: 2 ** 25
    }).stdout
    expect(spawnSync("docker", ["import", "-", image], { input: archive }).status).toBe(0)
    const make: Make = (options) => containerSandbox({ ...options, engine: "docker", image })
    await using opened = await open(make, (port) => ({ allow: [`web.test:${port}`] }))
    await expect(opened.sh("true")).rejects.toThrow(/which takes perl in the image: .*perl/)
    spawnSync("docker", ["rmi", "--force", image])
  })
})

it("is refused without a policy that allows a host", async () => {
  await using closed = await open(unshareSandbox, () => ({ ask: false }))
  await expect(closed.sh("true")).rejects.toThrow("the network policy allows no host")
})

it("is not held where there is no sandbox, which says so", async () => {
  const description = await Effect.runPromise(Sandbox.use(({ describe }) => describe).pipe(Effect.provide(noSandbox())))
  expect(description.notEnforced.map(({ limit }) => limit)).toContain("network")
})
