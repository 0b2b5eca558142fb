import { temporaryWorkspace } from "@haft/testing"
import { expect, it } from "vitest"

import { startServer } from "./running.ts"

it("serves the console's files, with types and for as long as they stay the same", async () => {
  const built = temporaryWorkspace({
    "index.html": "<!doctype html><title>haft</title>",
    "assets/index-Ab12Cd34.js": "export {}",
    "favicon.svg": "<svg/>"
  })
  const { send } = await startServer({}, { console: built.root })
  const get = async (path: string) => {
    const response = await send(path)
    const { headers } = response
    return [response.status, headers.get("content-type"), headers.get("cache-control"), await response.text()]
  }
  const page = [200, "text/html; charset=utf-8", "no-cache", "<!doctype html><title>haft</title>"]
  expect(await get("/")).toEqual(page)
  expect((await get("/approvals/123"))[0]).toBe(404)
  const immutable = "public, max-age=31536000, immutable"
  expect(await get("/assets/index-Ab12Cd34.js")).toEqual([
    200,
    "text/javascript; charset=utf-8",
    immutable,
    "export {}"
  ])
  expect(await get("/favicon.svg")).toEqual([200, "image/svg+xml", "no-cache", "<svg/>"])
  expect((await get("/assets/missing.js"))[0]).toBe(404)
  expect((await get("/v1/nothing"))[0]).toBe(404)
  const posted = await send("/", undefined, { method: "POST" })
  expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET"])
  expect((await send("/nowhere", undefined, { method: "POST" })).status).toBe(404)
  expect((await send("/")).headers.get("content-security-policy")).toContain("script-src 'self';")
  built.remove()
})

it("compresses files for clients that take them compressed", async () => {
  const script = "export const text = 1\n".repeat(1_000)
  const built = temporaryWorkspace({ "index.html": "<!doctype html>", "assets/index-Ab12Cd34.js": script })
  const { send } = await startServer({}, { console: built.root })
  for (const [accepted, expected] of [
    ["gzip, deflate, br", "br"],
    ["gzip", "gzip"],
    ["identity", null],
    ["brotli", null]
  ] as const) {
    const response = await send("/assets/index-Ab12Cd34.js", undefined, { headers: { "accept-encoding": accepted } })
    expect([accepted, response.headers.get("content-encoding")]).toEqual([accepted, expected])
    expect(await response.text()).toBe(script)
    const isSmall = Number(response.headers.get("content-length")) < script.length / 10
    expect([accepted, isSmall]).toEqual([accepted, expected !== null])
  }
  expect((await send("/", undefined, { headers: { "accept-encoding": "br" } })).headers.get("content-encoding")).toBe(
    null
  )
  built.remove()
})

it("answers with headers that keep a browser from doing harm, on pages, data and refusals alike", async () => {
  const { send } = await startServer()
  const policies = await Promise.all(
    ["/", "/healthz", "/v1/workspaces", "/nowhere"].map(async (path) => {
      const { headers } = await send(path)
      expect(headers.get("x-content-type-options")).toBe("nosniff")
      expect(headers.get("referrer-policy")).toBe("no-referrer")
      return headers.get("content-security-policy") ?? ""
    })
  )
  const [page = "", ...data] = policies
  expect(page).toContain("script-src 'self';")
  expect(page).toContain("frame-ancestors 'none'")
  expect(data).toEqual(Array.from({ length: 3 }, () => "default-src 'none'; frame-ancestors 'none'"))
})

it("says so where there is no console", async () => {
  const { send, workspace } = await startServer({}, { console: "/nowhere/at/all" })
  const page = await send("/")
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("not part of this build")])
  expect((await send("/approvals")).status).toBe(404)
  expect(workspace.exists("a.txt")).toBe(true)
})
