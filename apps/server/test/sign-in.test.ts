import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

import type { SignInConfig } from "haft/internal"
import { openSessions } from "haft/internal"
import { Provider } from "oidc-provider"
import { describe, expect, it, onTestFinished } from "vitest"

import { type Running, sendRaw, startServer } from "./running.ts"

type People = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** An OpenID provider on loopback where `who` is signed in without a form. */
const startProvider = async (people: People) => {
  const server = createServer((request, response) => void handle(request, response))
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(() => server.close().closeAllConnections())
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let handle: ReturnType<Provider["callback"]>
  let who = ""
  return {
    issuer,
    server,
    /** Registers a server of haft as the client. */
    register: (url: string): void => {
      const provider = new Provider(issuer, {
        clients: [
          {
            client_id: "haft",
            client_secret: "secret-of-the-client",
            redirect_uris: [`${url}/login/oidc/callback`]
          }
        ],
        claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["groups"] },
        cookies: { keys: ["key-of-the-provider"] },
        pkce: { required: () => true },
        features: { devInteractions: { enabled: false } },
        interactions: { url: (_, { uid }) => `/interaction/${uid}` },
        findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub, ...people[sub] }) }),
        loadExistingGrant: async ({ oidc }) => {
          const grant = new oidc.provider.Grant({
            clientId: oidc.client?.clientId ?? "",
            accountId: oidc.session?.accountId ?? ""
          })
          grant.addOIDCScope("openid email profile")
          await grant.save()
          return grant
        }
      })
      const callback = provider.callback()
      handle = async (request, response) => {
        if (request.url?.startsWith("/interaction/") !== true) return callback(request, response)
        const result = who === "" ? { error: "access_denied" } : { login: { accountId: who } }
        await provider.interactionFinished(request, response, result)
      }
    },
    signInAs: (name: string): void => {
      who = name
    }
  }
}

const grants: SignInConfig["grants"] = [
  { claim: "email", value: "alice@example.com", role: "approver", workspaces: ["default"] },
  { claim: "groups", value: "operators", role: "admin" }
]

/** Cookies by origin, as a browser keeps them. */
const cookieJar = () => {
  const jar = new Map<string, Map<string, string>>()
  return {
    of: (origin: string): string => [...(jar.get(origin) ?? [])].map(([name, value]) => `${name}=${value}`).join("; "),
    take: (origin: string, response: Response): void => {
      const own = jar.get(origin) ?? new Map<string, string>()
      for (const line of response.headers.getSetCookie()) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        own.set(name, value)
      }
      jar.set(origin, own)
    }
  }
}
type Jar = ReturnType<typeof cookieJar>

/** Follows redirects like a browser, until one leads to the console or `isEnd` says so. */
const browse = async (from: string, jar: Jar, isEnd = (_url: URL): boolean => false): Promise<string> => {
  let url = new URL(from)
  for (let step = 0; step < 12; step++) {
    const response = await fetch(url, { redirect: "manual", headers: { cookie: jar.of(url.origin) } })
    jar.take(url.origin, response)
    await response.body?.cancel()
    const location = response.headers.get("location")
    if (location === null) throw new Error(`${url.href} answered ${response.status}`)
    url = new URL(location, url)
    if (url.hash !== "" || isEnd(url)) return url.href
  }
  throw new Error("too many redirects")
}

const isCallback = ({ pathname }: URL): boolean => pathname === "/login/oidc/callback"

const start = async (people: People, options: Parameters<typeof startServer>[1] = {}) => {
  const provider = await startProvider(people)
  const signIn = { issuer: provider.issuer, clientId: "haft", clientSecret: "secret-of-the-client", grants }
  const running = await startServer({}, { signIn, ...options })
  const { url } = running.server
  provider.register(url)
  return { ...running, provider, url, signIn }
}

const me = async ({ send }: Pick<Running, "send">, cookie: string, key: string): Promise<unknown> =>
  (await send("/v1/me", undefined, { headers: { cookie, "haft-session-key": key } })).json()

const keyIn = (address: string): string => /#key=([\w-]+)$/.exec(address)?.[1] ?? ""

const alice = { email: "alice@example.com", email_verified: true }

describe("sign-in by an OpenID provider", () => {
  it("gives people the role and workspaces of the first grant that fits", async () => {
    const running = await start({ a1: alice, b2: { groups: ["staff", "operators"] } })
    const { provider, url, send } = running
    expect(await (await send("/v1/sign-in")).json()).toEqual({ oidc: true })
    for (const [who, expected] of [
      ["a1", { name: "alice@example.com", role: "approver", workspaces: ["default"] }],
      ["b2", { name: "b2", role: "admin" }]
    ] as const) {
      provider.signInAs(who)
      const jar = cookieJar()
      const key = keyIn(await browse(`${url}/login/oidc`, jar))
      expect(await me(running, jar.of(url), key)).toEqual(expected)
    }
    expect(running.defects).toEqual([])
  })

  it("records the person by name as the approver", async () => {
    const running = await start({ a1: alice })
    running.provider.signInAs("a1")
    const jar = cookieJar()
    const key = keyIn(await browse(`${running.url}/login/oidc`, jar))
    const headers = { cookie: jar.of(running.url), "haft-session-key": key, "content-type": "application/json" }
    const reply = running.call("write_file", { path: "b.txt", content: "b" })
    const listed = async () =>
      (await (await running.send("/v1/approvals", undefined, { headers })).json()) as { approvals: [{ id: string }] }
    await expect.poll(async () => (await listed()).approvals.length).toBe(1)
    const [{ id }] = (await listed()).approvals
    await running.send(`${running.base}/approvals/${id}`, undefined, {
      method: "POST",
      headers,
      body: JSON.stringify({ approved: true })
    })
    expect(await reply).toMatchObject({ ok: true })
    const found = await running.send(`${running.base}/record?tool=write_file&limit=1`, "approver")
    const { calls } = (await found.json()) as { calls: [{ run: string; step: number }] }
    const events = await running.send(`${running.base}/runs/${calls[0].run}/calls/${calls[0].step}`, "approver")
    expect(await events.text()).toContain('"person":{"name":"alice@example.com","role":"approver"}')
  })

  it.each([
    ["whom no grant fits", { c3: { email: "mallory@example.com", email_verified: true } }, "not_granted"],
    ["whose address is not verified", { c3: { email: alice.email, email_verified: false } }, "not_granted"]
  ])("refuses somebody %s", async (_, people, problem) => {
    const { provider, url } = await start(people)
    provider.signInAs("c3")
    expect(await browse(`${url}/login/oidc`, cookieJar())).toBe(`${url}/#sign-in=${problem}`)
  })

  it("leads back to the console when the person cancels", async () => {
    const { provider, url, defects } = await start({})
    provider.signInAs("")
    expect(await browse(`${url}/login/oidc`, cookieJar())).toBe(`${url}/#sign-in=denied`)
    expect(defects).toEqual([])
  })

  it("refuses an answer that belongs to another browser's sign-in", async () => {
    const { provider, url } = await start({ a1: alice })
    provider.signInAs("a1")
    const [attacker, victim] = [cookieJar(), cookieJar()]
    const stolen = await browse(`${url}/login/oidc`, attacker, isCallback)
    // Without a sign-in of its own, and in the middle of one.
    expect(await browse(stolen, victim)).toBe(`${url}/#sign-in=expired`)
    await browse(`${url}/login/oidc`, victim, isCallback)
    expect(await browse(stolen, victim)).toBe(`${url}/#sign-in=expired`)
    // With the other state in the address, the code does not fit the verifier.
    const own = new URL(await browse(`${url}/login/oidc`, victim, isCallback))
    own.searchParams.set("code", new URL(stolen).searchParams.get("code") ?? "")
    expect(await browse(own.href, victim)).toBe(`${url}/#sign-in=expired`)
  })

  it("takes the answer of the provider once", async () => {
    const { provider, url } = await start({ a1: alice })
    provider.signInAs("a1")
    const jar = cookieJar()
    const callback = await browse(`${url}/login/oidc`, jar, isCallback)
    const head = await fetch(callback, { method: "HEAD", redirect: "manual", headers: { cookie: jar.of(url) } })
    expect(head.status).toBe(405)
    expect(await browse(callback, jar)).toContain("#key=")
    expect(await browse(callback, jar)).toBe(`${url}/#sign-in=expired`)
  })

  it("refuses a sign-in that was forged or begun too long ago", async () => {
    const { provider, url } = await start({ a1: alice })
    provider.signInAs("a1")
    const port = new URL(url).port
    for (const state of [`${(Date.now() - 11 * 60_000).toString(36)}.x`, "x.y", ""]) {
      const response = await fetch(`${url}/login/oidc/callback?code=c&state=${state}`, {
        redirect: "manual",
        headers: { cookie: `haft_sign_in_${port}=${state}` }
      })
      expect(response.headers.get("location")).toBe("/#sign-in=expired")
    }
  })

  it("ends a session when its grant is not in the configuration any more", async () => {
    const first = await start({ a1: alice })
    const { root, state } = first.workspace
    await first.server.stop()
    const sessions = await openSessions({ root, state })
    const options = { workspace: first.workspace, sessionStore: sessions, port: Number(new URL(first.url).port) }
    const second = await startServer({}, { ...options, signIn: first.signIn })
    first.provider.signInAs("a1")
    const jar = cookieJar()
    const key = keyIn(await browse(`${first.url}/login/oidc`, jar))
    await second.server.stop()
    const third = await startServer(
      {},
      { ...options, signIn: first.signIn, sessionStore: await openSessions({ root, state }) }
    )
    expect(await me(third, jar.of(first.url), key)).toMatchObject({ name: "alice@example.com" })
    await third.server.stop()
    const others = grants.filter(({ claim }) => claim !== "email")
    const fourth = await startServer(
      {},
      { ...options, signIn: { ...first.signIn, grants: others }, sessionStore: await openSessions({ root, state }) }
    )
    expect(await me(fourth, jar.of(first.url), key)).toMatchObject({ error: { code: "unauthorized" } })
  })

  it("says so when the provider can't be reached, and tries again with the next sign-in", async () => {
    const running = await start({ a1: alice })
    const { provider, url, defects } = running
    provider.signInAs("a1")
    const port = Number(new URL(provider.issuer).port)
    provider.server.close().closeAllConnections()
    expect(await browse(`${url}/login/oidc`, cookieJar())).toBe(`${url}/#sign-in=unavailable`)
    expect(defects).toHaveLength(1)
    provider.server.listen(port, "127.0.0.1")
    await once(provider.server, "listening")
    expect(await browse(`${url}/login/oidc`, cookieJar())).toContain("#key=")
  })

  it("marks cookies as secure where people reach the server by https", async () => {
    const { url, server } = await start({}, { publicUrl: "https://haft.example" })
    for (const [path, host, isSecure] of [
      ["/login/oidc", "haft.example", true],
      [new URL(server.consoleLink()).pathname + new URL(server.consoleLink()).search, "haft.example", true],
      ["/login/oidc", new URL(url).host, false]
    ] as const) {
      const answer = await sendRaw(url, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
      expect(/^set-cookie: .*; Secure\r$/im.test(answer)).toBe(isSecure)
      expect(answer).toMatch(/^set-cookie: /im)
    }
  })
})
