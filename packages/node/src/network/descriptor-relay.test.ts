import { execFile } from "node:child_process"
import { Socket as DatagramSocket } from "node:dgram"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { connect, Server } from "node:net"

import { afterEach, beforeEach, describe, expect, it } from "vitest"

import { systemProgram } from "../process/system-programs.ts"
import { DescriptorRelay, type HandedSocket } from "./descriptor-relay.ts"

let relay: DescriptorRelay
beforeEach(() => {
  relay = new DescriptorRelay()
})
afterEach(() => relay.close())

/** Hands one socket over, as network-listeners.pl does, from this network namespace. */
const handOver = (path: string, token: string, kind: "tcp" | "udp") => {
  const code = `my ($path, $token, $kind, $sendmsg) = @ARGV;
    socket(my $socket, 2, $kind eq "tcp" ? 1 : 2, 0); bind($socket, pack("S n C4 x8", 2, 0, 127, 0, 0, 1)); listen($socket, 8);
    socket(my $relay, 1, 1, 0); connect($relay, pack("S a108", 1, $path)) or die;
    my $text = "$token $kind"; my $iov = pack("P Q", $text, length $text); my $rights = pack("Q l l l x4", 20, 1, 1, fileno $socket);
    my $message = pack("Q Q P Q P Q l x4", 0, 0, $iov, 1, $rights, length $rights, 0);
    syscall($sendmsg + 0, fileno $relay, $message, 0); sysread($relay, my $answer, 1); print $answer`
  const number = process.arch === "arm64" ? "211" : "46"
  return new Promise<string>((resolve) => {
    execFile("perl", ["-e", code, "--", path, token, kind, number], (_error, stdout) => resolve(stdout))
  })
}

// The form of the messages is Node's own and may change with a version of it: this test would notice.
describe.runIf(process.platform === "linux" && systemProgram("perl") !== undefined)(
  "relay (not on this platform)",
  () => {
    it("gives listening sockets and datagram sockets to Node, ready for use", async () => {
      const handed: Array<HandedSocket> = []
      const { promise: both, resolve } = Promise.withResolvers<void>()
      const address = await relay.expect((socket) => {
        if (handed.push(socket) === 2) resolve()
      })
      expect(await handOver(address.path, address.token, "tcp")).toBe("k")
      await handOver(address.path, address.token, "udp")
      await both
      const [server, datagrams] = handed
      if (!(server instanceof Server) || !(datagrams instanceof DatagramSocket)) throw new Error("other sockets")
      server.on("connection", (socket) => socket.end("hello"))
      const at = server.address()
      const client = connect(typeof at === "object" && at !== null ? at.port : 0, "127.0.0.1")
      const [chunk] = (await once(client, "data")) as [Buffer]
      expect(chunk.toString()).toBe("hello")
      expect(datagrams.address().address).toBe("127.0.0.1")
      client.destroy()
      server.close()
      datagrams.close()
    })

    it("keeps nothing that comes with another token, or after it was forgotten", async () => {
      const handed: Array<HandedSocket> = []
      const address = await relay.expect((socket) => handed.push(socket))
      await handOver(address.path, "0".repeat(32), "tcp")
      await handOver(address.path, "not a token", "tcp")
      relay.forget(address)
      await handOver(address.path, address.token, "tcp")
      expect(handed).toEqual([])
    })

    it("leaves neither a process nor a file behind", async () => {
      const { path } = await relay.expect(() => undefined)
      expect(existsSync(path)).toBe(true)
      await relay.close()
      expect(existsSync(path)).toBe(false)
    })
  }
)
