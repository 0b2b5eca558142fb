import { serveHaft } from "@haft/server"
import { temporaryWorkspace } from "@haft/testing"
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { hasBrowser, launchBrowser, openConsole } from "./open-console.ts"
import { seriousProblems } from "./serious-problems.ts"

describe.skipIf(!hasBrowser)(
  `the record in the console${hasBrowser ? "" : ": skipped, /usr/bin/chromium is missing"}`,
  () => {
    let browser: Browser
    beforeAll(async () => {
      browser = await launchBrowser()
    })
    afterAll(() => browser?.close())

    it("gives metrics of all runs, of this one, and of an older one", async () => {
      const workspace = temporaryWorkspace({ "a.txt": "a\n" })
      const { root, state } = workspace
      await using console = await openConsole(browser, {}, {}, await withOlderRun(root, state))
      const { page } = console
      await console.call("read_file", { path: "a.txt" })
      await console.call("read_file", { path: "absent.txt" })
      await console.goTo("metrics")
      const tile = (name: string) => page.locator(".tiles > div", { hasText: new RegExp(`^${name}`) }).locator("dd")
      await expect.poll(() => tile("calls").innerText()).toBe("5")
      expect(await tile("runs").innerText()).toBe("2")
      expect(await tile("failed").innerText()).toBe("1 (20.0 %)")
      const run = page.getByLabel("Run")
      await run.selectOption("This run")
      await expect.poll(() => tile("calls").innerText()).toBe("2")
      await console.call("read_file", { path: "a.txt" })
      await expect.poll(() => tile("calls").innerText()).toBe("3")
      await run.selectOption({ index: 2 })
      await expect.poll(() => tile("calls").innerText()).toBe("3")
      expect(await tile("failed").innerText()).toBe("0 (0.0 %)")
      expect(console.complaints).toEqual([])
      workspace.remove()
    })

    it("replays a run on a copy, and lets only an admin remove old runs", async () => {
      const workspace = temporaryWorkspace({ "a.txt": "a\n" })
      const { root, state } = workspace
      await using console = await openConsole(browser, {}, {}, await withOlderRun(root, state))
      const { page } = console
      await console.call("read_file", { path: "a.txt" })
      await console.goTo("review")
      await page.getByRole("button", { name: "Replay on a copy" }).click()
      await page.getByText("1 call: 1 with the same reply, 0 with another, 0 skipped.").waitFor()
      await console.goTo("overview")
      await page.getByLabel("Runs to remove").selectOption("All but the current run")
      await page.getByRole("button", { name: "Find runs" }).click()
      await page.getByText("Only an admin may do this").waitFor()
      await page.route("**/runs?before=*", async (route) => {
        const headers = { ...route.request().headers(), authorization: "Bearer the-admin-of-this-test" }
        await route.continue({ headers })
      })
      await page.getByRole("button", { name: "Find runs" }).click()
      await page.getByText(/^1 run with/).waitFor()
      await page.getByRole("button", { name: "Delete", exact: true }).click()
      await page.getByText(/^Removed 1 run with/).waitFor()
      expect(((await console.asApprover("runs")) as { runs: ReadonlyArray<object> }).runs).toHaveLength(1)
      expect(await seriousProblems(page)).toEqual([])
      workspace.remove()
    })
  }
)

/** The configuration of a workspace with an older run of three calls. */
const withOlderRun = async (root: string, state: string) => {
  const token = "the-agent-of-an-older-run"
  const config = { root, state, sandbox: "none" as const }
  const server = await serveHaft({ workspaces: { default: config }, tokens: { agent: token }, version: "0", port: 0 })
  for (let call = 0; call < 3; call++) {
    await fetch(`${server.url}/v1/workspaces/default/calls`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ tool: "read_file", params: { path: "a.txt" } })
    })
  }
  await server.stop()
  return config
}
