import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { type ApprovalQuestion, Approver, type Verdict } from "../services/approver.ts"
import { type JournalEvent, memoryJournal } from "../services/journal.ts"
import { canonicalHost, parseEndpoint, parseHostPattern, printEndpoint } from "./host-pattern.ts"
import { networkConfig, type NetworkConfig } from "./network-config.ts"
import { Network, networkPolicy } from "./network.ts"
import { isAddress, isPublicAddress } from "./public-address.ts"

describe("canonicalHost", () => {
  it.each([
    ["Example.COM.", "example.com"],
    ["0x7f.1", "127.0.0.1"],
    ["2130706433", "127.0.0.1"],
    ["0177.0.0.1", "127.0.0.1"],
    ["127.1", "127.0.0.1"],
    ["[::FFFF:127.0.0.1]", "::ffff:7f00:1"],
    ["2001:DB8:0::1", "2001:db8::1"],
    ["bücher.example", "xn--bcher-kva.example"],
    ["a_b.example", "a_b.example"]
  ])("spells %s as %s", (text, host) => expect(canonicalHost(text)).toBe(host))

  it.each([
    "",
    ".",
    "a..b",
    "a b",
    "a/b",
    "a@b",
    "a:80",
    "[::1",
    "%6cocalhost",
    "a\0b",
    "a\r\nb",
    "-a.example",
    "256.1.1.1"
  ])("refuses %j", (text) => expect(canonicalHost(text)).toBeUndefined())
})

describe("endpoints and patterns", () => {
  it("parses and prints host and port", () => {
    expect(parseEndpoint("[::1]:443")).toEqual({ host: "::1", port: 443 })
    expect(printEndpoint({ host: "::1", port: 443 })).toBe("[::1]:443")
    expect(parseEndpoint("Example.com:8080")).toEqual({ host: "example.com", port: 8080 })
    for (const text of ["example.com", "example.com:0", "example.com:65536", ":80", "::1:443", "a:b:80"]) {
      expect(parseEndpoint(text)).toBeUndefined()
    }
  })

  it("tells exact entries, wildcards and ports apart", () => {
    expect(parseHostPattern("*.example.com")?.matchesHost("a.example.com")).toBe(true)
    expect(parseHostPattern("*.example.com")?.matchesHost("example.com")).toBe(false)
    expect(parseHostPattern("*.example.com")?.matchesHost("evilexample.com")).toBe(false)
    expect(parseHostPattern("*:8080")).toMatchObject({ port: 8080, isExact: false })
    expect(parseHostPattern("[::1]:80")).toMatchObject({ port: 80, isExact: true })
    for (const text of ["", "*.", "**", "*.*", "a.*", "*.127.0.0.1", "a:0", "a:99999", "http://a"]) {
      expect(parseHostPattern(text), text).toBeUndefined()
    }
  })
})

describe("isPublicAddress", () => {
  it.each([
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "127.0.0.1",
    "169.254.169.254",
    "168.63.129.16",
    "172.31.255.255",
    "192.168.0.1",
    "198.19.255.255",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
    "fc00::1",
    "fe80::1",
    "fe80::1%eth0",
    "ff02::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "not an address",
    "08.8.8.8"
  ])("is false for %s", (address) => expect(isPublicAddress(address)).toBe(false))

  it.each(["8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1", "198.20.0.1", "2606:4700::1111", "2a00:1450::1"])(
    "is true for %s",
    (address) => expect(isPublicAddress(address)).toBe(true)
  )

  it("knows addresses from names", () => {
    expect(["1.2.3.4", "::1", "a.b", "1.2.3", "1.2.3.4.5", ":", "a:b"].map(isAddress)).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
      false
    ])
  })
})

const policyOf = (config: NetworkConfig, verdict: Partial<Verdict> = {}, approved = true) => {
  const questions: Array<ApprovalQuestion> = []
  const events: Array<JournalEvent> = []
  const approver = Layer.succeed(Approver, {
    judge: ({ asks }) => Effect.succeed({ decision: asks ? "ask" : "allow", reason: "the policy", ...verdict }),
    ask: (question) =>
      Effect.sync(() => {
        questions.push(question)
        return { approved, by: { name: "alice", role: "approver" } }
      })
  })
  const layer = networkPolicy(config).pipe(Layer.provide(Layer.merge(approver, memoryJournal(events))))
  const admit = (endpoint: string) =>
    Effect.runPromise(
      Network.use(({ admit }) => admit({ ...parseEndpoint(endpoint)!, command: "npm ci" })).pipe(
        Effect.match({ onFailure: ({ reason }) => reason, onSuccess: (admission) => admission }),
        Effect.provide(layer)
      )
    )
  return { admit, questions, events, layer }
}

describe("networkPolicy", () => {
  it("admits listed hosts on the web's ports, and others only on the port that is named", async () => {
    const { admit, questions } = policyOf({ allow: ["example.com", "*.example.org", "git.example.net:22"], ask: false })
    expect(await admit("example.com:443")).toMatchObject({ by: "network.allow example.com", anyProtocol: false })
    expect(await admit("a.b.example.org:80")).toMatchObject({ by: "network.allow *.example.org", mayBePrivate: false })
    expect(await admit("git.example.net:22")).toMatchObject({ anyProtocol: true, mayBePrivate: true })
    for (const name of [
      "example.com:8443",
      "example.org:443",
      "git.example.net:443",
      "example.com:22",
      "other.com:443"
    ]) {
      expect(typeof (await admit(name)), name).toBe("string")
    }
    expect(questions).toEqual([])
  })

  it.each(["localhost:80", "127.0.0.1:443", "printer.local:80", "[::1]:443", "metadata.internal:80", "10.0.0.1:443"])(
    "refuses %s unless it is listed with its port",
    async (name) => {
      expect(
        await policyOf({ allow: ["*", "localhost", "127.0.0.1", "[::1]", "*.local:80"], ask: true }).admit(name)
      ).toContain("is not a public host")
      expect(await policyOf({ allow: [name] }).admit(name)).toMatchObject({ mayBePrivate: true })
    }
  )

  it("refuses ports of other protocols unless an entry names them", async () => {
    expect(await policyOf({ allow: ["*"] }).admit("example.com:25")).toContain("belongs to another protocol")
    expect(await policyOf({ allow: ["*:25"] }).admit("example.com:25")).toMatchObject({ by: "network.allow *:25" })
  })

  it("lets deny win, on every port or on the one it names", async () => {
    const { admit } = policyOf({ allow: ["*", "*:8443"], deny: ["bad.com", "half.com:443"] })
    expect(await admit("bad.com:443")).toBe("network.deny bad.com forbids bad.com:443")
    expect(await admit("bad.com:8443")).toContain("network.deny")
    expect(await admit("half.com:443")).toContain("network.deny")
    expect(await admit("half.com:80")).toMatchObject({ by: "network.allow *" })
  })

  it("asks about other hosts, with host, port and command, and remembers that it was an answer", async () => {
    const { admit, questions } = policyOf({ ask: true })
    expect(await admit("new.example:8443")).toMatchObject({ by: "person alice", isAnswer: true, anyProtocol: true })
    expect(questions[0]).toMatchObject({
      reason: expect.stringContaining("new.example:8443"),
      input: { host: "new.example", port: 8443, command: "npm ci" },
      facts: { connects: "new.example:8443" },
      call: { tool: "connect", operation: "connect" }
    })
    expect(await policyOf({ ask: true }, {}, false).admit("new.example:443")).toContain("was not approved")
  })

  it("follows the approver's rules: deny beats the list, allow spares the question, ask asks", async () => {
    const denied = policyOf({ allow: ["example.com"] }, { decision: "deny", reason: "rule no forbids it", rule: "no" })
    expect(await denied.admit("example.com:443")).toContain("rule no forbids it")
    const allowed = policyOf({ ask: false }, { decision: "allow", rule: "yes" })
    expect(await allowed.admit("example.com:443")).toMatchObject({ by: "rule yes" })
    const asked = policyOf({ allow: ["example.com"], ask: false }, { decision: "ask", rule: "look" })
    expect(await asked.admit("example.com:443")).toMatchObject({ by: "person alice" })
  })

  it("lets the approval mode `all` stand in for a person, and never for `ask: false`", async () => {
    expect(await policyOf({ ask: true }, { decision: "allow" }).admit("example.com:443")).toMatchObject({
      by: "approval mode"
    })
    expect(await policyOf({ ask: false }, { decision: "allow" }).admit("example.com:443")).toBe(
      "network.allow does not list example.com:443"
    )
  })

  it("puts connections on record with the call they belong to", async () => {
    const { layer, events } = policyOf({ allow: ["example.com"] })
    const event = { type: "connection_refused", host: "a", port: 1, reason: "no" } as const
    await Effect.runPromise(Network.use(({ record }) => record(event)).pipe(Effect.provide(layer)))
    expect(events).toEqual([{ request_id: "none", step: 0, tool: "none", ...event }])
  })

  it("is closed without a host to reach, and where there is no policy", async () => {
    const closedOf = (layer: Layer.Layer<never>) =>
      Effect.runPromise(Network.useSync(({ closed }) => closed).pipe(Effect.provide(layer)))
    expect(await closedOf(policyOf({ ask: false }).layer)).toBe("the network policy allows no host")
    expect(await closedOf(policyOf({}).layer)).toBeUndefined()
    expect(await closedOf(Layer.empty)).toBe("this host has no network policy")
    const refused = Network.use(({ admit }) => Effect.flip(admit({ host: "a", port: 1 })))
    expect((await Effect.runPromise(refused)).message).toBe("this host has no network policy")
  })

  it("refuses lists with something else than hosts", () => {
    expect(() => networkConfig.parse({ allow: ["https://example.com"] })).toThrow("expected a host such as")
  })
})
