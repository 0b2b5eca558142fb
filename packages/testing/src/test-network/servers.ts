import { createSocket } from "node:dgram"
import { createServer as createHttpServer } from "node:http"
import { type AddressInfo, createServer, type Server } from "node:net"
import { networkInterfaces } from "node:os"

/** Servers of the machine that a sandbox runs on: some that its policy admits, and some that it must not reach. */
export interface TestServers {
  /** HTTP, admitted as allowed.test; `/to/<url>` redirects. */
  readonly allowed: number
  /** Counts the bytes that arrive, admitted as tls.test. */
  readonly tls: number
  /** Not admitted; on every interface. */
  readonly forbidden: number
  readonly datagrams: number
  /** An abstract unix socket. */
  readonly abstract: string
  /** Addresses of this machine. */
  readonly addresses: ReadonlyArray<string>
  /** Requests that arrived where none should, since the last time. */
  readonly taken: () => ReadonlyArray<string>
  readonly close: () => Promise<void>
}

export const startServers = async (): Promise<TestServers> => {
  const taken: Array<string> = []
  const allowed = createHttpServer((request, response) => {
    const [, target] = /^\/to\/(.*)$/.exec(request.url ?? "") ?? []
    if (request.headers.host !== `allowed.test:${portOf(allowed)}`) taken.push(`Host: ${request.headers.host}`)
    if (target !== undefined) response.writeHead(302, { location: decodeURIComponent(target) })
    response.end("allowed")
  })
  const tls = createServer((socket) => {
    socket.on("error", () => undefined).on("data", (bytes) => taken.push(`${bytes.length} bytes for tls.test`))
  })
  const answer = "HTTP/1.1 200 OK\r\nContent-Length: 7\r\nConnection: close\r\n\r\nescaped"
  const forbidden = createServer((socket) => {
    taken.push("a connection to the forbidden server")
    socket.on("error", () => undefined).end(answer)
  })
  const abstract = `haft-test-network-${process.pid}-${Date.now()}`
  const local = createServer((socket) => {
    taken.push("a connection to an abstract socket")
    socket.end(answer)
  })
  const datagrams = createSocket("udp4")
  datagrams.on("message", () => taken.push("a datagram"))
  await Promise.all([
    listening(allowed, { host: "127.0.0.1", port: 0 }),
    listening(tls, { host: "127.0.0.1", port: 0 }),
    listening(forbidden, { host: "0.0.0.0", port: 0 }),
    listening(local, { path: `\0${abstract}` }),
    new Promise<void>((resolve) => datagrams.bind(0, "0.0.0.0", resolve))
  ])
  return {
    allowed: portOf(allowed),
    tls: portOf(tls),
    forbidden: portOf(forbidden),
    datagrams: datagrams.address().port,
    abstract,
    addresses: Object.values(networkInterfaces()).flatMap((list) =>
      (list ?? []).filter(({ family }) => family === "IPv4").map(({ address }) => address)
    ),
    taken: () => taken.splice(0),
    close: async () => {
      allowed.closeAllConnections()
      datagrams.close()
      await Promise.all([allowed, tls, forbidden, local].map(closed))
    }
  }
}

const listening = (
  server: Server,
  where: { readonly host: string; readonly port: number } | { readonly path: string }
): Promise<void> => new Promise((resolve) => server.listen(where, resolve))

const closed = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()))

const portOf = (server: Server): number => (server.address() as AddressInfo).port

/** A TLS client's greeting, as hexadecimal digits, in records of at most `size` bytes. */
export const greeting = (names: ReadonlyArray<string>, size = 2 ** 14): string => {
  const uint = (value: number, bytes: number): string => value.toString(16).padStart(bytes * 2, "0")
  const sized = (hex: string, bytes: number): string => uint(hex.length / 2, bytes) + hex
  const hex = (text: string): string => Buffer.from(text, "latin1").toString("hex")
  const list = names.map((name) => `00${sized(hex(name), 2)}`).join("")
  const serverName = names.length === 0 ? "" : `0000${sized(sized(list, 2), 2)}`
  const body = `0303${"11".repeat(32)}00${sized("1301", 2)}0100${sized(`${serverName}002b0003020304`, 2)}`
  const message = `01${sized(body, 3)}`
  const records = message.match(new RegExp(`.{1,${size * 2}}`, "g")) ?? []
  return records.map((record) => `160301${sized(record, 2)}`).join("")
}
