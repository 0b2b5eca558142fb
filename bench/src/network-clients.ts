import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { type Command, denyAll, memoryJournal, networkPolicy, Processes, Sandbox, Workspace } from "@haft/core"
import { bubblewrapSandbox, NameResolver, nodeProcesses, noSandbox } from "@haft/node"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"

/** A client in a process of its own, which makes a request whenever it is told to and says how it went. */
export interface NetworkClient {
  /** `new`: a connection and a request; `kept`: a request on one connection; a number: so many connections at once. */
  readonly request: (kind: "new" | "kept" | number) => Promise<string>
}

/** A host name that only the policy of this benchmark knows. */
const serverName = "server.test"

/** An HTTP server, a client beside it, one in a sandbox with network, and ways to start commands in sandboxes. */
export const openNetworkClients = async () => {
  const root = mkdtempSync(join(tmpdir(), "haft-bench-"))
  const server = spawn(process.execPath, ["-e", serverCode], { stdio: ["pipe", "pipe", "inherit"] })
  const [line] = (await once(server.stdout, "data")) as [Buffer]
  const port = Number(line.toString())
  const policy = networkPolicy({ allow: [`${serverName}:${port}`], ask: false, maxConnections: 512 }).pipe(
    Layer.provide(Layer.merge(denyAll, memoryJournal()))
  )
  const machine = Layer.merge(
    nodeProcesses,
    Layer.mock(Workspace)({ root, roots: [], isSecret: () => false, secretFiles: () => [] })
  )
  const bare = ManagedRuntime.make(noSandbox().pipe(Layer.provideMerge(machine)))
  const boxed = ManagedRuntime.make(
    bubblewrapSandbox().pipe(
      Layer.provide(policy),
      Layer.provide(Layer.succeed(NameResolver, async () => ["127.0.0.1"])),
      Layer.provideMerge(machine)
    )
  )
  const command = (to: string): Command => ({
    program: "perl",
    args: ["-e", clientCode, ...to.split(" ")],
    directory: root,
    env: {}
  })
  const direct = await startClient(bare, command(`127.0.0.1 ${port} / 127.0.0.1:${port}`), false)
  const target = `http://${serverName}:${port}/`
  const proxied = await startClient(boxed, command(`127.0.0.1 3128 ${target} ${serverName}:${port}`), true)
  const runTrue = (network: boolean): Promise<number | null> =>
    boxed.runPromise(
      Effect.gen(function* () {
        const { wrap } = yield* Sandbox
        const { run } = yield* Processes
        const wrapped = yield* wrap({ program: "true", args: [], directory: root, env: {} }, { network })
        return (yield* run(wrapped)).exitCode
      })
    )
  return {
    direct: direct.client,
    proxied: proxied.client,
    runTrue,
    close: async (): Promise<void> => {
      await Promise.all([direct.stop(), proxied.stop()])
      await Promise.all([bare.dispose(), boxed.dispose()])
      server.kill()
      rmSync(root, { recursive: true, force: true })
    }
  }
}

type Runtime = ManagedRuntime.ManagedRuntime<Sandbox | Processes, never>

const startClient = async (runtime: Runtime, command: Command, network: boolean) => {
  let send: (text: string) => void = () => undefined
  let heard: (line: string) => void = () => undefined
  const { promise: started, resolve } = Promise.withResolvers<void>()
  const running = await runtime.runPromise(
    Effect.gen(function* () {
      const { wrap } = yield* Sandbox
      const { run } = yield* Processes
      const wrapped = yield* wrap(command, { network, channel: true })
      return yield* Effect.forkDetach(
        run(wrapped, {
          onReport: (chunk) => {
            for (const line of Buffer.from(chunk).toString().trim().split("\n")) {
              if (line === "ready") resolve()
              else heard(line)
            }
          },
          onStarted: (handle) => (send = handle.send)
        })
      )
    })
  )
  await started
  const request = (kind: "new" | "kept" | number): Promise<string> =>
    new Promise((answered) => {
      heard = answered
      send(`${kind}\n`)
    })
  return { client: { request } satisfies NetworkClient, stop: () => runtime.runPromise(Fiber.interrupt(running)) }
}

const serverCode = `
const server = require("node:http").createServer((request, response) => response.end("ok"))
server.keepAliveTimeout = 0
server.listen(0, "127.0.0.1", () => console.log(server.address().port))
process.stdin.resume().on("end", () => process.exit())`

// Address and port to connect to, the request's target, and its Host.
const clientCode = `
use strict; my ($address, $port, $target, $host) = @ARGV; $| = 1; $SIG{PIPE} = "IGNORE";
open(my $report, ">&=", 7); select((select($report), $| = 1)[0]);
my $to = pack("S n C4 x8", 2, $port, split /\\./, $address);
sub dial { socket(my $socket, 2, 1, 6); connect($socket, $to) or return; setsockopt($socket, 6, 1, pack("i", 1)); $socket }
sub ask { my ($socket) = @_; syswrite($socket, "GET $target HTTP/1.1\\r\\nHost: $host\\r\\n\\r\\n"); my $reply = "";
  while (sysread($socket, my $part, 4096)) { $reply .= $part; last if $reply =~ /ok/ } $reply =~ /200 OK.*ok/s ? 1 : 0 }
my $kept = dial(); ask($kept); print $report "ready\\n";
while (my $kind = <STDIN>) { chomp $kind;
  if ($kind eq "kept") { print $report ask($kept) ? "ok\\n" : "failed\\n" }
  elsif ($kind eq "new") { my $socket = dial(); print $report ask($socket) ? "ok\\n" : "failed\\n"; close $socket }
  else { my @sockets = map { dial() } 1..$kind; my $good = grep { $_ && ask($_) } @sockets; print $report "$good\\n"; close $_ for @sockets } }`
