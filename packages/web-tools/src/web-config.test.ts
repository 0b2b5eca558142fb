import { PluginError, use } from "@haft/core"
import { approvalgate, haft } from "@haft/dialects"
import { describe, expect, it } from "vitest"

import { serve, webHost } from "../test/loopback.ts"
import { webTools } from "./index.ts"
import { isOnList } from "./safe-fetch/host-list.ts"
import { searchFromEnvironment } from "./web-config.ts"

describe("the list of allowed hosts", () => {
  it.each([
    [["example.com"], "example.com", true],
    [["example.com"], "EXAMPLE.com.", true],
    [["example.com"], "www.example.com", false],
    [["example.com"], "notexample.com", false],
    [["*.example.com"], "www.example.com", true],
    [["*.example.com"], "a.b.example.com", true],
    [["*.example.com"], "example.com", false],
    [["*.example.com"], "notexample.com", false],
    [["*.example.com"], "example.com.evil.test", false],
    [[], "example.com", false]
  ])("%j on %s: %s", (list, host, expected) => expect(isOnList(list, host)).toBe(expected))

  it("allows listed hosts without asking, and shows the whole URL where it asks", async () => {
    await using server = await serve((_request, response) => response.end("x"))
    const named = [`docs.test:${server.port}`, `other.test:${server.port}`]
    await using host = await webHost(
      approvalgate,
      { privateHosts: named, allowedHosts: ["Docs.test"] },
      { resolve: () => Promise.resolve(["127.0.0.1"]) }
    )
    await host.call("web_fetch", { url: `http://docs.test:${server.port}/a` })
    await host.call("web_fetch", { url: `http://OTHER.test:${server.port}/a/../b?token=1#part` })
    expect(host.questions.map(({ facts }) => facts.fetches)).toEqual([`http://other.test:${server.port}/b?token=1`])
  })
})

describe("a configuration", () => {
  it.each([
    ["an allowed host with a scheme", { allowedHosts: ["https://example.com"] }],
    ["a star in the middle", { allowedHosts: ["www.*.com"] }],
    ["a star alone", { allowedHosts: ["*"] }],
    ["a private host without a port", { privateHosts: ["localhost"] }],
    ["a private host with a port that is none", { privateHosts: ["localhost:70000"] }],
    ["a private host with a user", { privateHosts: ["me@localhost:80"] }],
    ["a private host with a path", { privateHosts: ["localhost:80/x"] }],
    ["a user agent with a line break", { userAgent: "haft\r\nx: y" }],
    ["a limit of nothing", { maxBytes: 0 }],
    ["no parallel request", { requestsPerHost: 0 }],
    ["an unknown search service", { search: { provider: "altavista", key: "k" } }],
    ["a search service without its key", { search: { provider: "brave" } }],
    ["an unknown setting", { proxy: "http://proxy.test" }]
  ])("with %s is refused", (_name, config) => {
    expect(() => use(webTools, config as never)).toThrow(PluginError)
  })

  it("means the same host in every spelling", async () => {
    await using server = await serve((_request, response) => response.end("x"))
    for (const spelling of ["127.1", "0x7f000001", "127.0.0.1."]) {
      await using host = await webHost(haft, { privateHosts: [`${spelling}:${server.port}`] })
      expect((await host.call("fetch_url", { url: `http://2130706433:${server.port}/` })).ok).toBe(true)
    }
  })

  it("may be left out", () => {
    expect(use(webTools).tools.map(({ name }) => name)).toEqual([
      "fetch_url",
      "search_web",
      "web_fetch",
      "web_search",
      "fetch_webpage"
    ])
  })

  it("names haft to the servers, unless told otherwise", async () => {
    await using server = await serve((_request, response) => response.end("x"))
    await using host = await webHost(haft, { privateHosts: [server.host] })
    await host.call("fetch_url", { url: server.url })
    expect(server.requests[0]?.headers["user-agent"]).toMatch(/^haft/)
  })
})

describe("the search service in the environment", () => {
  it.each([
    [{}, undefined],
    [{ SEARXNG_URL: "http://localhost:8888" }, { provider: "searxng", endpoint: "http://localhost:8888" }],
    [{ SEARXNG_URL: "nonsense" }, undefined],
    [{ BRAVE_API_KEY: "" }, undefined],
    [
      { BRAVE_API_KEY: "b" },
      { provider: "brave", key: "b", endpoint: "https://api.search.brave.com/res/v1/web/search" }
    ],
    [
      { TAVILY_API_KEY: "t", EXA_API_KEY: "e" },
      { provider: "tavily", key: "t", endpoint: "https://api.tavily.com/search" }
    ],
    [
      { TAVILY_API_KEY: "t", EXA_API_KEY: "e", HAFT_SEARCH_PROVIDER: "exa" },
      { provider: "exa", key: "e", endpoint: "https://api.exa.ai/search" }
    ]
  ])("%j gives %j", (environment, expected) => expect(searchFromEnvironment(environment)).toEqual(expected))
})
