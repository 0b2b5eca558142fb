import { isIP, isIPv4 } from "node:net"

import { isPublicAddress } from "@haft/core"
import { haft } from "@haft/dialects"
import * as fc from "fast-check"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { type LoopbackServer, serve, webHost, type WebHost } from "../../test/loopback.ts"

describe("isPublicAddress", () => {
  it.each([
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "100.63.255.255",
    "100.128.0.1",
    "172.15.0.1",
    "172.32.0.1",
    "192.167.1.1",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "2a00:1450:4001:80b::200e",
    "2001:4860:4860::8888"
  ])("lets %s through", (address) => expect(isPublicAddress(address)).toBe(true))

  it.each([
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "100.64.0.1",
    "100.100.100.200",
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.7",
    "203.0.113.9",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "::ffff:0:127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::8.8.8.8",
    "64:ff9b:1::a00:1",
    "100::1",
    "2001::1",
    "2001:0:7f00:1::",
    "2001:10::1",
    "2001:20::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:a00:1::1",
    "3fff::1",
    "4000::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "2606:4700::1%lo",
    "fec0::1",
    "ff02::1",
    "",
    "localhost",
    "127.1",
    "0x7f000001",
    "2130706433"
  ])("refuses %j", (address) => expect(isPublicAddress(address)).toBe(false))

  it("refuses every IPv4 address in each of its IPv6 disguises", () => {
    const octets = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255))
    fc.assert(
      fc.property(octets, ([a, b, c, d]) => {
        const dotted = `${a}.${b}.${c}.${d}`
        const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
        expect(isIPv4(dotted)).toBe(true)
        const disguises = [`::${dotted}`, `::ffff:${dotted}`, `::ffff:0:${dotted}`, `64:ff9b::${dotted}`]
        const tunnels = [`2002:${hex}::1`, `2001:0:${hex}::1`, `::ffff:${hex}`, `fe80::5efe:${hex}`]
        expect([...disguises, ...tunnels].filter(isPublicAddress)).toEqual([])
      }),
      { seed: 1 }
    )
  })
})

describe("a server on loopback that nobody named", () => {
  let server: LoopbackServer
  let host: WebHost
  beforeAll(async () => {
    server = await serve((_request, response) => response.end("secret"))
    host = await webHost(haft, {}, { resolve: () => Promise.resolve(["127.0.0.1"]) })
  })
  afterAll(async () => {
    await host.dispose()
    await server[Symbol.asyncDispose]()
  })

  const fetchCode = async (authority: string, path = "/") => {
    const reply = await host.call("fetch_url", { url: `http://${authority}:${server.port}${path}` })
    return reply.error?.code
  }

  it.each([
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.0.0.1",
    "0x7F.1",
    "0177.0.0.1",
    "017700000001",
    "0177.0x0.0.01",
    "127.0.0.1.",
    "127.000.000.001",
    "0",
    "0.0.0.0",
    "[::1]",
    "[::]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[2002:7f00:1::]",
    "[2001:0:7f00:1::1]",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "a.localhost",
    "printer.local",
    "metadata.google.internal",
    "router.home.arpa",
    "１２７.０.０.１",
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",
    "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
    "%31%32%37.0.0.1",
    "xn--fsq.test",
    "intranet",
    "rebinding.test"
  ])("is not reached as %s", async (authority) => {
    expect(await fetchCode(authority)).toBe("url_blocked")
    expect(server.connections()).toBe(0)
  })

  it.each([
    "[fe80::1%25eth0]",
    "[::1%25lo]",
    "127.0.0.1@public.test",
    "public.test@127.0.0.1",
    "user:password@public.test"
  ])("is not reached as %s, which is no usable URL", async (authority) => {
    expect(await fetchCode(authority)).toBe("invalid_url")
    expect(server.connections()).toBe(0)
  })

  it("is not reached by any spelling a generator can think of", async () => {
    const number = (value: number) =>
      fc.constantFrom(
        String(value),
        `0x${value.toString(16)}`,
        `0X${value.toString(16).toUpperCase()}`,
        `0${value.toString(8)}`,
        `000${value.toString(8)}`
      )
    const loopback = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255)).map((rest) => [127].concat(rest))
    const privateNetworks = fc.tuple(
      fc.constantFrom([10, 0] as const, [192, 168] as const, [172, 20] as const, [169, 254] as const, [0, 0] as const),
      fc.nat(255),
      fc.nat(255)
    )
    const octets = fc.oneof(
      loopback,
      privateNetworks.map(([[a, b], c, d]) => [a, b, c, d])
    )
    const join = (parts: ReadonlyArray<number>) => parts.reduce((all, part) => all * 256 + part, 0)
    const ipv4 = octets.chain((parts) =>
      fc.nat(3).chain((split) => {
        const pieces = [...parts.slice(0, split), join(parts.slice(split))]
        return fc.tuple(...pieces.map(number)).map((spelled) => spelled.join("."))
      })
    )
    const ipv6 = octets.chain((parts) =>
      fc
        .constantFrom("::", "::ffff:", "64:ff9b::", "::ffff:0:", "fe80::", "fd00::")
        .map((prefix) => `[${prefix}${parts.join(".")}]`)
    )
    const fullwidth = ipv4.map((text) =>
      text.replaceAll(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)))
    )
    const escaped = ipv4.map((text) => text.replaceAll(/\d/g, (digit) => `%3${digit}`))
    const name = fc.domain()
    const authority = fc.oneof(
      ipv4,
      ipv6,
      fullwidth,
      escaped,
      name,
      ipv4.map((text) => `${text}.`)
    )
    await fc.assert(
      fc.asyncProperty(authority, fc.webPath(), async (spelled, path) => {
        expect(["url_blocked", "invalid_url"]).toContain(await fetchCode(spelled, path))
      }),
      { numRuns: 200, seed: 1 }
    )
    expect(server.connections()).toBe(0)
    // Nobody is asked about what can't be allowed: only about names, which may lead anywhere.
    const asked = host.questions.map(({ facts }) => new URL(facts.fetches ?? "").hostname)
    expect(
      asked.filter((hostname) => hostname === "localhost" || isIP(hostname.replaceAll(/[[\]]/g, "")) !== 0)
    ).toEqual([])
  })
})
