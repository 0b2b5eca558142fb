import { once } from "node:events"
import { createServer } from "node:net"
import { connect } from "node:tls"

import { expect, it } from "vitest"

import { inspectFirstBytes } from "./client-hello.ts"

/** The greeting that Node's own TLS client sends. */
const greeting = async (servername?: string): Promise<Buffer> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  const client = connect({ host: "127.0.0.1", port, ...(servername !== undefined && { servername }) })
  client.on("error", () => undefined)
  const [socket] = await once(server, "connection")
  const [bytes] = (await once(socket, "data")) as [Buffer]
  client.destroy()
  server.close()
  return bytes
}

/** A TLS handshake, cut into records of a few bytes. */
const inRecords = (hello: Buffer, size: number): Buffer => {
  const body = hello.subarray(5)
  const parts: Array<Buffer> = []
  for (let at = 0; at < body.length; at += size) {
    const part = body.subarray(at, at + size)
    parts.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part)
  }
  return Buffer.concat(parts)
}

it("reads the server's name, in one record or in many, and waits until all is there", async () => {
  const hello = await greeting("host.example")
  const expected = { kind: "tls", serverName: "host.example" }
  expect(inspectFirstBytes(hello)).toEqual(expected)
  for (const size of [1, 7, 100]) expect(inspectFirstBytes(inRecords(hello, size))).toEqual(expected)
  const cut = inRecords(hello, 50)
  for (let length = 0; length < cut.length; length++) {
    expect(inspectFirstBytes(cut.subarray(0, length)), String(length)).toEqual({ kind: "incomplete" })
  }
})

it("tells a greeting without a name, another protocol and nonsense apart", async () => {
  expect(inspectFirstBytes(await greeting())).toEqual({ kind: "tls" })
  expect(inspectFirstBytes(Buffer.from("SSH-2.0-x\r\n"))).toEqual({ kind: "other" })
  expect(inspectFirstBytes(Buffer.from([22, 3, 1, 0, 0]))).toEqual({ kind: "malformed" })
  expect(inspectFirstBytes(Buffer.from([22, 9]))).toEqual({ kind: "malformed" })
  expect(inspectFirstBytes(Buffer.from([22, 3, 1, 0, 4, 2, 0, 0, 0]))).toEqual({ kind: "malformed" })
  expect(inspectFirstBytes(Buffer.from([22, 3, 1, 0, 4, 1, 255, 255, 255]))).toEqual({ kind: "malformed" })
  const hello = await greeting("host.example")
  const at = hello.indexOf("host.example")
  const broken = Buffer.from(hello)
  broken.writeUInt16BE(60_000, at - 2)
  expect(inspectFirstBytes(broken)).toEqual({ kind: "malformed" })
  const typed = Buffer.from(hello)
  typed.writeUInt8(1, at - 3)
  expect(inspectFirstBytes(typed)).toEqual({ kind: "malformed" })
})

it("refuses a greeting that names two servers", async () => {
  const hello = await greeting("ab.example.xyz")
  const at = hello.indexOf("ab.example.xyz")
  const two = Buffer.from(hello)
  // One name of 14 bytes becomes two: of 3 bytes and of 8, with 3 bytes of header.
  two.writeUInt16BE(3, at - 2)
  two.writeUInt8(0, at + 3)
  two.writeUInt16BE(8, at + 4)
  expect(inspectFirstBytes(two)).toEqual({ kind: "malformed" })
})
