import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

import { Provider } from "oidc-provider"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { hasBrowser, launchBrowser, openConsole } from "./open-console.ts"
import { seriousProblems } from "./serious-problems.ts"

describe.skipIf(!hasBrowser)(
  `signing in to the console${hasBrowser ? "" : ": skipped, /usr/bin/chromium is missing"}`,
  () => {
    let browser: Browser
    beforeAll(async () => {
      browser = await launchBrowser()
    })
    afterAll(() => browser?.close())

    it("by an OpenID provider leads back to the place that was asked for", async () => {
      await using provider = await openProvider()
      const { issuer } = provider
      const grants = [{ claim: "email", value: "alice@example.com", role: "approver" as const }]
      await using console = await openConsole(
        browser,
        { "a.txt": "a\n" },
        {},
        {},
        {},
        {
          signIn: { issuer, clientId: "haft", clientSecret: "secret-of-the-client", grants }
        }
      )
      provider.register(console.origin)
      const reply = console.call("delete_path", { path: "a.txt" })
      const link = `${console.origin}/#/default/rules`

      const stranger = await (await browser.newContext()).newPage()
      await stranger.goto(link)
      await fillForms(stranger, "mallory")
      await stranger.getByText("Your account may not use this server.").waitFor()
      expect(await seriousProblems(stranger)).toEqual([])
      await stranger.context().close()

      const page = await (await browser.newContext()).newPage()
      await page.goto(link)
      await page.getByText("This browser is not signed in").waitFor()
      await fillForms(page, "alice")
      await page.getByText("Live", { exact: true }).waitFor()
      expect(page.url()).toBe(link)
      await page.goto(`${console.origin}/#/default/approvals`)
      await page.getByRole("heading", { name: /delete_path/ }).waitFor()
      await page.getByRole("button", { name: "Deny", exact: true }).click()
      expect(await reply).toMatchObject({ ok: false })
      await console.page.getByText(/^Ended: denied by alice@example.com/).waitFor()
      await page.context().close()
      expect(console.complaints).toEqual([])
    })
  }
)

/** Signs in with the forms of the provider: an account, and consent. */
const fillForms = async (page: Page, account: string): Promise<void> => {
  await page.getByRole("link", { name: "Sign in", exact: true }).click()
  await page.locator("[name=login]").fill(account)
  await page.locator("[name=password]").fill("any password will do")
  await page.getByRole("button", { name: "Sign-in" }).click()
  await page.getByRole("button", { name: "Continue" }).click()
}

/** An OpenID provider on loopback, with its own pages. */
const openProvider = async () => {
  let handle: ReturnType<Provider["callback"]>
  const server = createServer((request, response) => void handle(request, response))
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  // Cookies don't know ports, so the provider has another name than the console.
  const issuer = `http://localhost:${(server.address() as AddressInfo).port}`
  return {
    issuer,
    register: (url: string): void => {
      const redirects = [`${url}/login/oidc/callback`]
      handle = new Provider(issuer, {
        clients: [{ client_id: "haft", client_secret: "secret-of-the-client", redirect_uris: redirects }],
        claims: { openid: ["sub"], email: ["email", "email_verified"] },
        cookies: { keys: ["key-of-the-provider"] },
        findAccount: (_, sub) => ({
          accountId: sub,
          claims: () => ({ sub, email: `${sub}@example.com`, email_verified: true })
        })
      }).callback()
    },
    [Symbol.asyncDispose]: async () => {
      server.close().closeAllConnections()
    }
  }
}
