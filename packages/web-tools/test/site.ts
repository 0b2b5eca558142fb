import { type LoopbackServer, serve } from "./loopback.ts"

const sentence = "People read whole sentences, with commas, and not the furniture around them. "

/** The site that the contracts' cases speak of as `http://site.test`. */
export const serveSite = (): Promise<LoopbackServer> =>
  serve((request, response) => {
    response.sendDate = false
    const send = (status: number, headers: Record<string, string>, body: string | Buffer = "") => {
      const always = { "cache-control": "no-store", connection: "close", "content-length": Buffer.byteLength(body) }
      return response.writeHead(status, { ...always, ...headers }).end(body)
    }
    const [path = "/"] = request.path.split("?")
    switch (path) {
      case "/article":
        return send(
          200,
          { "content-type": "text/html; charset=utf-8" },
          `<!doctype html><html><head><title>Sentences</title></head><body><nav><a href="/">Home</a></nav><article><h1>On reading</h1><p>${sentence.repeat(4)}</p><p>See <a href="/more">more</a>.</p></article><footer>Imprint</footer></body></html>`
        )
      case "/data":
        return send(200, { "content-type": "application/json" }, '{"name":"haft","tags":["a","b"]}')
      case "/text":
        return send(200, { "content-type": "text/plain" }, "plain text\n")
      case "/emoji":
        return send(200, { "content-type": "text/plain; charset=utf-8" }, "ab😀cd")
      case "/latin":
        return send(200, { "content-type": "text/plain; charset=iso-8859-1" }, Buffer.from([0x63, 0x61, 0x66, 0xe9]))
      case "/picture":
        return send(200, { "content-type": "image/png" }, Buffer.from([0x89, 0x50, 0x4e, 0x47]))
      case "/empty":
        return send(200, { "content-type": "text/html" })
      case "/kilobytes":
        return send(200, { "content-type": "text/plain" }, "x".repeat(5324))
      case "/large":
        return send(200, { "content-type": "text/plain" }, "y".repeat(2 * 1024 * 1024))
      case "/long":
        return send(200, { "content-type": "text/html" }, `<p>${"word ".repeat(201_000)}</p>`)
      case "/echo":
        return send(
          200,
          { "content-type": "text/plain" },
          `${request.method} ${String(request.headers["x-color"] ?? "no color")} ${request.body}`
        )
      case "/moved":
        return send(301, { location: "/text" })
      case "/to-private":
        return send(302, { location: "http://10.0.0.1/" })
      case "/search":
        return search(new URLSearchParams(request.path.split("?")[1]), send)
      case "/slow":
        return undefined
      default:
        return send(404, { "content-type": "text/plain" }, "no such page")
    }
  })

/** A SearXNG instance that knows eighteen pages about everything, and answers in pages of ten. */
const search = (
  parameters: URLSearchParams,
  send: (status: number, headers: Record<string, string>, body?: string) => unknown
): unknown => {
  const query = parameters.get("q") ?? ""
  if (query === "quota") return send(429, { "retry-after": "30" }, "Too Many Requests")
  if (query === "forbidden" || parameters.get("format") !== "json") return send(403, {}, "Forbidden")
  if (query === "trouble") return send(500, {}, "Internal Server Error")
  if (query === "broken") return send(200, { "content-type": "text/html" }, "<html>")
  const page = Number(parameters.get("pageno"))
  const numbers = query === "nothing" ? [] : Array.from({ length: 18 }, (_, index) => index + 1)
  const results = numbers.slice((page - 1) * 10, page * 10).map((number) => ({
    url: `https://example.com/${number}`,
    title: `Result <b>${number}</b>`,
    content: `About  ${number} &amp; more`,
    engine: "test",
    score: 1 / number
  }))
  return send(
    200,
    { "content-type": "application/json" },
    JSON.stringify({ query, number_of_results: 0, results, answers: [], suggestions: [], unresponsive_engines: [] })
  )
}
