import assert from "node:assert/strict"
import { createSocket } from "node:dgram"
import { createServer, type Server } from "node:net"
import { networkInterfaces } from "node:os"
import { setTimeout as sleep } from "node:timers/promises"

import type { Check } from "./inside.ts"

/** Tests that commands reach no network. */
export const testNoNetwork = (check: Check): void => {
  check(
    "reaches nothing by TCP, UDP, abstract sockets, vsock or raw packets, but a loopback of its own",
    async ({ perl }) => {
      const answering = () => createServer((socket) => socket.end("reached"))
      const name = `haft-test-${process.pid}-${Date.now()}`
      await using server = await listen(answering(), { host: "0.0.0.0", port: 0 })
      await using _ = await listen(answering(), { path: `\0${name}` })
      await using datagrams = await listenForDatagrams()
      const address = server.server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const { stdout } = await perl(
        [
          ...ownAddresses().map((host) => tcp(host, port)),
          tcp("192.0.2.1", 80),
          `socket($u, 2, 2, 17); send($u, "hi", 0, pack("S n C4 x8", 2, ${datagrams.port}, 127, 0, 0, 1));`,
          `socket($a, 1, 1, 0); say_if("abstract", connect($a, pack("S a*", 1, "\\0${name}")));`,
          `say_if("vsock", socket($v, 40, 1, 0)); say_if("packets", socket($p, 17, 3, 0));`,
          `socket($l, 2, 1, 6); bind($l, pack("S n C4 x8", 2, 4711, 127, 0, 0, 1)) or print "unbound"; listen($l, 1);`,
          `socket($o, 2, 1, 6); say_if("own loopback", connect($o, pack("S n C4 x8", 2, 4711, 127, 0, 0, 1)));`,
          `sub say_if { print "$_[0]\\n" if $_[1] }`
        ].join("\n")
      )
      await sleep(50)
      assert.deepEqual([stdout, datagrams.received()], ["own loopback\n", 0])
    }
  )
}

const ownAddresses = (): ReadonlyArray<string> =>
  Object.values(networkInterfaces()).flatMap((list) =>
    (list ?? []).filter(({ family }) => family === "IPv4").map(({ address }) => address)
  )

const tcp = (host: string, port: number): string =>
  `eval { local $SIG{ALRM} = sub { die }; alarm 2; socket($s, 2, 1, 6);
     say_if("${host}", connect($s, pack("S n C4 x8", 2, ${port}, ${host.replaceAll(".", ",")}))); }; alarm 0;`

const listen = async (
  server: Server,
  where: { readonly host: string; readonly port: number } | { readonly path: string }
): Promise<{ readonly server: Server; readonly [Symbol.asyncDispose]: () => Promise<void> }> => {
  await new Promise<void>((resolve) => server.listen(where, resolve))
  return {
    server,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve()))
  }
}

const listenForDatagrams = async () => {
  const socket = createSocket("udp4")
  let received = 0
  socket.on("message", () => received++)
  await new Promise<void>((resolve) => socket.bind(0, "0.0.0.0", resolve))
  return {
    port: socket.address().port,
    received: () => received,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => socket.close(() => resolve()))
  }
}
