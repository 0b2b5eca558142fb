import { serveHaft } from "@haft/server"
import { temporaryWorkspace } from "@haft/testing"
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { hasBrowser, launchBrowser, openConsole } from "./open-console.ts"

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
