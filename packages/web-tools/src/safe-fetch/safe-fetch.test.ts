import { createServer } from "node:net"
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from "node:zlib"

import { approvalgate, haft } from "@haft/dialects"
import { generate } from "selfsigned"
import { describe, expect, it } from "vitest"

import { type LoopbackServer, type ReceivedRequest, serve, serveBytes, webHost } from "../../test/loopback.ts"

interface Fetched {
  readonly ok: boolean
  readonly value: { readonly status: number; readonly headers: Record<string, string>; readonly body: string }
}

/** Fetches with approvalgate's tool, which shows most of what happens on the wire. */
const fetchFrom = async (
  servers: ReadonlyArray<LoopbackServer>,
  args: Readonly<Record<string, unknown>>,
  config: Parameters<typeof webHost>[1] = {},
  options: Parameters<typeof webHost>[2] = {}
) => {
  await using host = await webHost(
    approvalgate,
    { privateHosts: servers.map((server) => server.host), ...config },
    options
  )
  const reply = await host.call("web_fetch", args)
  return {
    reply,
    value: (reply.wire as Fetched).value,
    reason: reply.error?.details?.["reason"],
    code: reply.error?.code
  }
}

const text = (body: string | Buffer, headers: Record<string, string> = {}) =>
  serve((_request, response) => response.writeHead(200, { "content-type": "text/plain", ...headers }).end(body))

describe("a response", () => {
  it("comes with status, headers in lower case and its text", async () => {
    await using server = await serve((_request, response) =>
      response
        .writeHead(404, { "X-Trace": "7", "content-type": "text/plain", "set-cookie": ["a=1", "b=2"] })
        .end("no such page")
    )
    const { value } = await fetchFrom([server], { url: `${server.url}/missing?q=1#part` })
    expect(value).toMatchObject({
      status: 404,
      body: "no such page",
      headers: { "x-trace": "7", "set-cookie": "a=1, b=2" }
    })
    expect(server.requests.map(({ method, path }) => [method, path])).toEqual([["GET", "/missing?q=1"]])
  })

  it.each([
    ["gzip", gzipSync("hello")],
    ["x-gzip", gzipSync("hello")],
    ["deflate", deflateSync("hello")],
    ["br", brotliCompressSync("hello")],
    ["zstd", zstdCompressSync("hello")],
    ["identity", Buffer.from("hello")],
    ["gzip, br", brotliCompressSync(gzipSync("hello"))]
  ])("is decompressed from %s", async (encoding, body) => {
    await using server = await text(body, { "content-encoding": encoding })
    const { value } = await fetchFrom([server], { url: server.url })
    expect(value.body).toBe("hello")
    expect(value.headers["content-encoding"]).toBe(undefined)
  })

  it.each(["gzip", "br", "zstd", "deflate", "gzip, br"])("without content needs no %s undone", async (encoding) => {
    await using empty = await text("", { "content-encoding": encoding })
    expect((await fetchFrom([empty], { url: empty.url })).value).toMatchObject({ status: 200, body: "" })
    await using none = await serve((_request, response) =>
      response.writeHead(204, { "content-encoding": encoding }).end()
    )
    expect((await fetchFrom([none], { url: none.url })).value).toMatchObject({ status: 204, body: "" })
    await using broken = await serveBytes((socket) =>
      socket.end(`HTTP/1.1 200 OK\r\ncontent-encoding: ${encoding}\r\ncontent-length: 9\r\n\r\n`)
    )
    expect((await fetchFrom([broken], { url: broken.url })).code).toBe("network_error")
  })

  it.each([
    ["constructor", "which can't be undone"],
    ["__proto__", "which can't be undone"],
    ["compress", "which can't be undone"],
    ["gzip, gzip, gzip", "which can't be undone"],
    ["gzip", "the response can't be decompressed"],
    ["br", "the response can't be decompressed"],
    ["zstd", "the response can't be decompressed"]
  ])("with the encoding %s that does not fit is a network error", async (encoding, reason) => {
    await using server = await text("plain text", { "content-encoding": encoding })
    const result = await fetchFrom([server], { url: server.url })
    expect(result.code).toBe("network_error")
    expect(result.reason).toContain(reason)
  })

  it.each([
    ["a zstd bomb", { "content-encoding": "zstd" }, zstdCompressSync(Buffer.alloc(50 * 1024 * 1024))],
    ["a gzip bomb", { "content-encoding": "gzip" }, gzipSync(Buffer.alloc(50 * 1024 * 1024))],
    ["a bomb in a bomb", { "content-encoding": "gzip, gzip" }, gzipSync(gzipSync(Buffer.alloc(50 * 1024 * 1024)))]
  ])("that is %s is too large", async (_name, headers, body) => {
    await using server = await text(body, headers)
    const { code } = await fetchFrom([server], { url: server.url }, { maxBytes: 100_000 })
    expect(code).toBe("response_too_large")
  })

  it("that asks for more memory than HTTP lets it is not decompressed", async () => {
    const params = { [constants.ZSTD_c_windowLog]: 24 }
    const body = zstdCompressSync(Buffer.alloc(16 * 1024 * 1024), { params })
    await using server = await text(body, { "content-encoding": "zstd" })
    expect((await fetchFrom([server], { url: server.url })).reason).toBe("the response can't be decompressed")
  })

  it("without an end is too large, and the connection is closed", async () => {
    let closed: (() => void) | undefined
    const isClosed = new Promise<void>((resolve) => {
      closed = resolve
    })
    await using server = await serve((_request, response) => {
      response.on("close", () => closed?.())
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536, "x"))) {
          // as fast as it goes
        }
      }
      response.on("drain", more)
      more()
    })
    const { code } = await fetchFrom([server], { url: server.url }, { maxBytes: 1_000_000 })
    expect(code).toBe("response_too_large")
    await isClosed
  })

  it("of exactly the limit is whole, of one byte more too large", async () => {
    await using server = await text("12345")
    expect((await fetchFrom([server], { url: server.url }, { maxBytes: 5 })).value.body).toBe("12345")
    expect((await fetchFrom([server], { url: server.url }, { maxBytes: 4, cache: false })).code).toBe(
      "response_too_large"
    )
  })

  it.each([
    ["ends before its announced length", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort"],
    ["ends inside a chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nff\r\nshort"],
    ["is not HTTP", "SSH-2.0-OpenSSH_9.9\r\n"],
    ["is nothing at all", ""],
    ["has two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab"],
    ["has endless headers", `HTTP/1.1 200 OK\r\n${"x: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n".repeat(5000)}`]
  ])("that %s is a network error", async (_name, bytes) => {
    await using server = await serveBytes((socket) => socket.end(bytes))
    expect((await fetchFrom([server], { url: server.url })).code).toBe("network_error")
  })

  it.each([
    ["a negative length", "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\nx"],
    ["another version", "HTTP/2 200\r\n\r\n"],
    ["a chunk longer than anything", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\nx"]
  ])("with %s is not valid HTTP", async (_name, bytes) => {
    await using server = await serveBytes((socket) => socket.end(bytes))
    expect((await fetchFrom([server], { url: server.url })).reason).toBe("the answer is not valid HTTP")
  })

  it("longer than its announced length ends there", async () => {
    await using server = await serveBytes((socket) =>
      socket.end(
        "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello and more"
      )
    )
    const { value, code } = await fetchFrom([server], { url: server.url })
    expect(code ?? value.body).toBe("hello")
  })

  it("from a closed port is NETWORK_ERROR with the reason", async () => {
    const closed = await text("gone")
    await closed[Symbol.asyncDispose]()
    const { reply } = await fetchFrom([closed], { url: closed.url })
    expect(reply.wire).toEqual({
      ok: false,
      error: {
        code: "NETWORK_ERROR",
        message: `${closed.url}/ could not be fetched: connection refused. Check the URL, or try again later.`,
        details: { url: `${closed.url}/`, reason: "connection refused" }
      }
    })
  })
})

describe("the deadline", () => {
  it.each([
    ["says nothing", () => {}],
    [
      "stops inside its headers",
      (socket: { write: (text: string) => void }) => socket.write("HTTP/1.1 200 OK\r\ncontent-")
    ],
    [
      "stops inside its body",
      (socket: { write: (text: string) => void }) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc")
    ]
  ])("ends a request to a server that %s", async (_name, answer) => {
    await using server = await serveBytes(answer)
    const { reply } = await fetchFrom([server], { url: server.url, timeout: 0.2 })
    expect(reply.error).toMatchObject({ code: "timeout", retryable: true, details: { timeout_ms: 200 } })
  })

  it("is not put off by a server that drips", async () => {
    await using server = await serve((_request, response) => {
      const timer = setInterval(() => response.write("x"), 10)
      response.on("close", () => clearInterval(timer))
    })
    expect((await fetchFrom([server], { url: server.url, timeout: 0.3 })).code).toBe("timeout")
  })

  it("counts over all redirects together", async () => {
    await using server = await serve((request, response) => {
      setTimeout(() => response.writeHead(302, { location: `${request.path}x` }).end(), 120)
    })
    expect((await fetchFrom([server], { url: server.url, timeout: 0.3 })).code).toBe("timeout")
  })

  it("covers a name server that never answers", async () => {
    const { code } = await fetchFrom(
      [],
      { url: "http://slow.test/", timeout: 0.1 },
      {},
      { resolve: () => new Promise(() => {}) }
    )
    expect(code).toBe("timeout")
  })

  it("covers the time in the queue of a host, whose concurrent requests are limited", async () => {
    let running = 0
    let most = 0
    await using server = await serve((request, response) => {
      most = Math.max(most, ++running)
      if (request.path === "/never") return
      setTimeout(() => {
        running--
        response.end("done")
      }, 20)
    })
    await using host = await webHost(haft, { privateHosts: [server.host], requestsPerHost: 2, cache: false })
    const replies = await Promise.all(Array.from({ length: 6 }, () => host.call("fetch_url", { url: server.url })))
    expect(replies.every(({ ok }) => ok)).toBe(true)
    expect(most).toBe(2)
    const stuck = ["/never", "/never", "/"].map((path) =>
      host.call("fetch_url", { url: server.url + path, timeout_ms: 200 })
    )
    expect((await Promise.all(stuck)).map(({ error }) => error?.code)).toEqual(["timeout", "timeout", "timeout"])
    expect((await host.call("fetch_url", { url: server.url })).ok).toBe(true)
  })

  it("leaves nothing behind when the call is cancelled", async () => {
    const closed: Array<Promise<void>> = []
    await using server = await serve((_request, response) => {
      closed.push(
        new Promise((resolve) => {
          response.on("close", resolve)
        })
      )
      controller.abort()
    })
    const controller = new AbortController()
    await using host = await webHost(haft, { privateHosts: [server.host] })
    await expect(host.call("fetch_url", { url: server.url }, { signal: controller.signal })).rejects.toThrow(/aborted/)
    await Promise.all(closed)
    expect(host.events.at(-1)).toMatchObject({ error: "cancelled" })
  })
})

describe("names", () => {
  it.each([
    ["a private address", ["10.0.0.1"]],
    ["a public and a private address", ["93.184.215.14", "192.168.0.1"]],
    ["a metadata service", ["169.254.169.254"]],
    ["an IPv4-mapped address", ["::ffff:93.184.215.14"]],
    ["a link-local address with a zone", ["fe80::1%eth0"]],
    ["something that is no address", ["loopback"]]
  ])("that resolve to %s are blocked", async (_name, addresses) => {
    const { code } = await fetchFrom(
      [],
      { url: "http://rebinding.test/" },
      {},
      { resolve: () => Promise.resolve(addresses) }
    )
    expect(code).toBe("url_blocked")
  })

  it("that resolve to nothing, or not at all, are network errors", async () => {
    const nothing = await fetchFrom([], { url: "http://nowhere.test/" }, {}, { resolve: () => Promise.resolve([]) })
    expect(nothing.reason).toBe("host not found")
    const missing = Object.assign(new Error("not found"), { code: "ENOTFOUND" })
    const failing = await fetchFrom([], { url: "http://nowhere.test/" }, {}, { resolve: () => Promise.reject(missing) })
    expect(failing.reason).toBe("host not found")
  })

  it("are looked up once, and the address that was checked is the one connected to", async () => {
    await using server = await text("here")
    let lookups = 0
    const resolve = () => Promise.resolve(++lookups === 1 ? ["127.0.0.1"] : ["127.9.9.9"])
    const named = { privateHosts: [`docs.test:${server.port}`] }
    const { value } = await fetchFrom([], { url: `http://docs.test:${server.port}/` }, named, { resolve })
    expect([value.body, lookups]).toEqual(["here", 1])
    expect(server.requests[0]?.headers.host).toBe(`docs.test:${server.port}`)
  })

  it("named as private are private on that port only", async () => {
    await using server = await text("here")
    await using other = await text("elsewhere")
    const { code } = await fetchFrom([server], { url: other.url })
    expect([code, other.connections()]).toEqual(["url_blocked", 0])
  })

  it("try the next address when the first does not answer", async () => {
    await using server = await text("here")
    const resolve = () => Promise.resolve(["::1", "127.0.0.1"])
    const named = { privateHosts: [`docs.test:${server.port}`] }
    const { value } = await fetchFrom([], { url: `http://docs.test:${server.port}/` }, named, { resolve })
    expect(value.body).toBe("here")
  })
})

describe("redirects", () => {
  const redirecting = (status: number, location: string) =>
    serve((request, response) =>
      request.path === "/start"
        ? response.writeHead(status, { location }).end("moved")
        : response
            .writeHead(200, { "content-type": "text/plain" })
            .end(`${request.method} ${request.path} ${request.body}`)
    )

  it.each([
    [301, "GET /end "],
    [302, "GET /end "],
    [303, "GET /end "],
    [307, "POST /end data"],
    [308, "POST /end data"]
  ])("by %i make of a POST: %s", async (status, expected) => {
    await using server = await redirecting(status, "/end")
    const { value } = await fetchFrom([server], { url: `${server.url}/start`, method: "POST", body: "data" })
    expect(value.body).toBe(expected)
    expect(server.requests.at(-1)?.headers["content-type"]).toBe(status < 304 ? undefined : "text/plain;charset=UTF-8")
  })

  it.each([
    ["a private address", "http://127.0.0.1:1/"],
    ["a private address in disguise", "http://0x7f.1:1/"],
    ["a private address in other letters", Buffer.from("http://①②⑦.⓪.⓪.①:1/").toString("latin1")],
    ["a metadata service", "http://169.254.169.254/latest/meta-data/"],
    ["localhost", "//localhost:1/"],
    ["a file", "file:///etc/passwd"],
    ["a script", "javascript:alert(1)"],
    ["credentials", "http://user:password@public.test/"]
  ])("to %s are not followed", async (_name, location) => {
    await using server = await redirecting(302, location)
    expect((await fetchFrom([server], { url: `${server.url}/start` })).code).toBe("url_blocked")
    expect(server.requests.length).toBe(1)
  })

  it.each([
    ["UTF-8", Buffer.from("/caf\u00e9"), "/caf%C3%A9"],
    ["escapes", Buffer.from("/caf%C3%A9"), "/caf%C3%A9"],
    ["Latin-1", Buffer.from("/caf\u00e9", "latin1"), "/caf%C3%A9"]
  ])("may spell their place in %s", async (_name, location, expected) => {
    await using server = await redirecting(302, location.toString("latin1"))
    const { value } = await fetchFrom([server], { url: `${server.url}/start` })
    expect(value.body).toBe(`GET ${expected} `)
  })

  it("to a file: URL are refused, and the reason says that the page redirects", async () => {
    await using server = await redirecting(302, "file:///etc/passwd")
    const { code, reason } = await fetchFrom([server], { url: `${server.url}/start` })
    expect([code, reason]).toEqual([
      "url_blocked",
      "it redirects to a URL that can't be used: it does not start with http:// or https://"
    ])
  })

  it.each([22, 25, 6379, 6667, 11211])("to port %i, of another protocol, are not followed", async (port) => {
    await using server = await redirecting(302, `http://public.test:${port}/`)
    expect((await fetchFrom([server], { url: `${server.url}/start` })).reason).toBe(
      `port ${port} belongs to another protocol`
    )
  })

  it("to something that is no URL are a network error", async () => {
    await using server = await redirecting(302, "http://[")
    expect((await fetchFrom([server], { url: `${server.url}/start` })).code).toBe("network_error")
  })

  it("without a place to go are answers like any other", async () => {
    await using server = await serve((_request, response) =>
      response.writeHead(302, { "content-type": "text/plain" }).end("where?")
    )
    expect((await fetchFrom([server], { url: server.url })).value).toMatchObject({ status: 302, body: "where?" })
  })

  it("are followed five times and not six", async () => {
    await using server = await serve((request, response) => {
      const left = Number(request.path.slice(1))
      if (left === 0) response.writeHead(200, { "content-type": "text/plain" }).end("there")
      else response.writeHead(302, { location: `/${left - 1}` }).end()
    })
    expect((await fetchFrom([server], { url: `${server.url}/5` })).value.body).toBe("there")
    expect((await fetchFrom([server], { url: `${server.url}/6` })).reason).toBe("it was redirected more than 5 times")
  })

  it("in a circle end", async () => {
    await using server = await serve((_request, response) => response.writeHead(301, { location: "/" }).end())
    expect((await fetchFrom([server], { url: server.url })).code).toBe("network_error")
  })

  it("to another origin lose everything that tells who asks, within one they keep it", async () => {
    await using target = await text("there")
    await using server = await serve((request, response) =>
      response.writeHead(307, { location: request.path === "/out" ? `${target.url}/` : "/out" }).end()
    )
    const headers = { Authorization: "Bearer 12345678", Cookie: "a=1", "X-Api-Key": "k", "Accept-Language": "de" }
    await fetchFrom([server, target], { url: `${server.url}/in`, headers })
    const seen = (request: ReceivedRequest | undefined) =>
      ["authorization", "cookie", "x-api-key", "accept-language"].map((name) => request?.headers[name])
    expect(server.requests.map(seen)).toEqual([
      ["Bearer 12345678", "a=1", "k", "de"],
      ["Bearer 12345678", "a=1", "k", "de"]
    ])
    expect(target.requests.map(seen)).toEqual([[undefined, undefined, undefined, "de"]])
  })

  it("from an allowed host stay on allowed hosts", async () => {
    await using target = await text("there")
    await using server = await redirecting(302, `http://other.test:${target.port}/`)
    const ports = [`docs.test:${server.port}`, `other.test:${target.port}`]
    const options = { resolve: () => Promise.resolve(["127.0.0.1"]) }
    const url = `http://docs.test:${server.port}/start`
    const refused = await fetchFrom([], { url }, { privateHosts: ports, allowedHosts: ["docs.test"] }, options)
    expect(refused.code).toBe("url_blocked")
    expect(refused.reply.error?.suggestion).toContain(`http://other.test:${target.port}/`)
    expect(target.connections()).toBe(0)
    const followed = await fetchFrom([], { url }, { privateHosts: ports, allowedHosts: ["*.test"] }, options)
    expect(followed.value.body).toBe("there")
  })
})

describe("TLS", () => {
  const certificate = () =>
    generate([{ name: "commonName", value: "docs.test" }], {
      algorithm: "sha256",
      extensions: [
        { name: "basicConstraints", cA: true },
        { name: "subjectAltName", altNames: [{ type: 2, value: "docs.test" }] }
      ]
    })
  const resolve = () => Promise.resolve(["127.0.0.1"])
  const secure = async () => {
    const { private: key, cert } = await certificate()
    const server = await serve(
      (request, response) => {
        if (request.path === "/down") response.writeHead(302, { location: "http://docs.test/" }).end()
        else response.writeHead(200, { "content-type": "text/plain" }).end("secure")
      },
      { key, cert }
    )
    return { server, cert, names: [`docs.test:${server.port}`, `other.test:${server.port}`, "docs.test:80"] }
  }

  it("is spoken with a server whose authority the host trusts, under the name in the URL", async () => {
    const { server, cert, names } = await secure()
    await using _ = server
    const config = { privateHosts: names, certificateAuthorities: [cert] }
    const { value } = await fetchFrom([], { url: `https://docs.test:${server.port}/` }, config, { resolve })
    expect(value.body).toBe("secure")
    const other = await fetchFrom([], { url: `https://other.test:${server.port}/` }, config, { resolve })
    expect(other.reason).toBe("the certificate is for another host")
    const down = await fetchFrom([], { url: `https://docs.test:${server.port}/down` }, config, { resolve })
    expect(down.reason).toBe("it redirects from https to http")
  })

  it("is refused with a server whose certificate is not trusted", async () => {
    const { server, names } = await secure()
    await using _ = server
    const { reason } = await fetchFrom(
      [],
      { url: `https://docs.test:${server.port}/` },
      { privateHosts: names },
      { resolve }
    )
    expect(reason).toBe("the certificate is not trusted")
  })
})

describe("a proxy in the environment", () => {
  it("is not used", async () => {
    let used = false
    const proxy = createServer((socket) => {
      used = true
      socket.destroy()
    })
    await new Promise<void>((resolve) => {
      proxy.listen(0, "127.0.0.1", resolve)
    })
    const { port } = proxy.address() as { port: number }
    const names = ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"]
    const before = names.map((name) => process.env[name])
    for (const name of names) process.env[name] = `http://127.0.0.1:${port}`
    try {
      await using server = await text("direct")
      expect((await fetchFrom([server], { url: server.url })).value.body).toBe("direct")
      expect(used).toBe(false)
    } finally {
      names.forEach((name, index) => {
        if (before[index] === undefined) delete process.env[name]
        else process.env[name] = before[index]
      })
      proxy.close()
    }
  })
})

describe("the host's network policy", () => {
  const open = (body = "reached") => text(body)

  it("lets what it lists be fetched without a question, private hosts with their port too", async () => {
    await using server = await open()
    await using host = await webHost(haft, {}, { network: { allow: [server.host], ask: false } })
    const reply = await host.call("fetch_url", { url: server.url })
    expect([reply.ok, host.questions.length]).toEqual([true, 0])
  })

  it("refuses what it denies, what it does not list where it never asks, and asks about others", async () => {
    await using server = await open()
    const denied = await fetchFrom([server], { url: server.url }, {}, { network: { deny: ["127.0.0.1"] } })
    expect([denied.code, denied.reason]).toEqual(["url_blocked", expect.stringContaining("network.deny 127.0.0.1")])
    const unlisted = await fetchFrom([], { url: "https://other.example/" }, {}, { network: { ask: false } })
    expect(unlisted.reason).toBe("network.allow does not list other.example:443")
    await using host = await webHost(haft, {}, { network: { ask: true }, approve: false })
    await host.call("fetch_url", { url: "https://other.example/" })
    expect(host.questions).toHaveLength(1)
    expect(server.requests).toEqual([])
  })

  it("leaves what the web's own settings name, unless it denies it", async () => {
    await using server = await open()
    const { value } = await fetchFrom([server], { url: server.url }, {}, { network: { ask: false } })
    expect(value.body).toBe("reached")
  })

  it("holds for redirects", async () => {
    await using forbidden = await open()
    await using server = await serve((_request, response) => response.writeHead(302, { location: forbidden.url }).end())
    const network = { allow: [server.host, forbidden.host], deny: [forbidden.host] }
    const { code } = await fetchFrom([server], { url: server.url }, {}, { network })
    expect([code, forbidden.requests.length]).toEqual(["url_blocked", 0])
    const unasked = await fetchFrom([forbidden], { url: server.url }, {}, { network: { allow: [server.host] } })
    expect([unasked.code, forbidden.requests.length]).toEqual(["url_blocked", 0])
  })
})
