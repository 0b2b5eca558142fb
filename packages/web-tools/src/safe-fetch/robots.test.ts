import { haft } from "@haft/dialects"
import { describe, expect, it } from "vitest"

import { serve, webHost } from "../../test/loopback.ts"
import { isAllowedByRobots } from "./robots.ts"

const robots = `
# a comment
User-agent: other
User-agent: haft   # two names, one group
Disallow: /private
Allow: /private/open$
Disallow: /*.pdf$
Disallow: /search*q=
Disallow: /a*b*c

User-agent: *
Disallow: /
`

describe("robots.txt", () => {
  it.each([
    ["haft/1.0 (a comment)", "/", true],
    ["haft", "/private", false],
    ["haft", "/private/x", false],
    ["haft", "/private/open", true],
    ["haft", "/private/open/x", false],
    ["haft", "/file.pdf", false],
    ["haft", "/file.pdf?x", true],
    ["haft", "/search?a=1&q=x", false],
    ["haft", "/a/1/b/2/c", false],
    ["haft", "/a/1/c/2", true],
    ["OTHER", "/private", false],
    ["stranger", "/", false]
  ])("says for %s at %s: %s", (agent, path, expected) => expect(isAllowedByRobots(robots, agent, path)).toBe(expected))

  it.each([
    ["is empty", ""],
    ["forbids nothing", "User-agent: *\nDisallow:"],
    ["allows what it forbids", "User-agent: *\nDisallow: /a\nAllow: /a"],
    ["is a web page", "<html>Disallow: /</html>"],
    ["names nobody", "Disallow: /"]
  ])("that %s forbids nothing", (_name, text) => expect(isAllowedByRobots(text, "haft", "/a")).toBe(true))
})

it.each([
  ["spaces", `User-agent: *\nDisallow: /x${" ".repeat(500_000)}y\n`],
  ["names", `${"user-agent: a\n".repeat(36_000)}User-agent: *\n`],
  ["names and rules", `${"user-agent: a\n".repeat(18_000)}User-agent: *\n${"allow: /b\n".repeat(25_000)}`]
])("is read in a moment although it has half a megabyte of %s", (_name, text) => {
  expect(isAllowedByRobots(`${text}Disallow: /a`, "haft", "/a")).toBe(false)
})

describe("a host that obeys it", () => {
  const fetchUnder = async (status: number, text: string, path = "/page") => {
    await using server = await serve((request, response) =>
      response
        .writeHead(request.path === "/robots.txt" ? status : 200, { "content-type": "text/plain" })
        .end(request.path === "/robots.txt" ? text : "page")
    )
    await using host = await webHost(haft, { privateHosts: [server.host], robots: true, userAgent: "haft-test/1" })
    const reply = await host.call("fetch_url", { url: `${server.url}${path}` })
    return [
      reply.error?.code ?? "fetched",
      server.requests.map(({ path }) => path),
      server.requests[0]?.headers["user-agent"]
    ]
  }

  it("stays away from what is forbidden, or can't be known", async () => {
    expect(await fetchUnder(200, "User-agent: haft-test\nDisallow: /page")).toEqual([
      "url_blocked",
      ["/robots.txt"],
      "haft-test/1"
    ])
    expect(await fetchUnder(503, "")).toEqual(["url_blocked", ["/robots.txt"], "haft-test/1"])
  })

  it("reads robots.txt itself whatever it says", async () => {
    expect(await fetchUnder(200, "User-agent: *\nDisallow: /", "/robots.txt")).toEqual([
      "fetched",
      ["/robots.txt"],
      "haft-test/1"
    ])
  })

  it("fetches what is not", async () => {
    expect(await fetchUnder(200, "User-agent: *\nDisallow: /other")).toEqual([
      "fetched",
      ["/robots.txt", "/page"],
      "haft-test/1"
    ])
    expect(await fetchUnder(404, "User-agent: *\nDisallow: /")).toEqual([
      "fetched",
      ["/robots.txt", "/page"],
      "haft-test/1"
    ])
  })
})
