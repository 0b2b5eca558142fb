import { expect, it } from "vitest"

import { startServer } from "./running.ts"

it("an approver changes the mode of a workspace while it runs, and an agent can only read it", async () => {
  const { base, send, post, call } = await startServer({ approval: "none" })
  const put = (mode: string, as: "agent" | "approver") => post(`${base}/mode`, { mode }, as, { method: "PUT" })
  const write = async () => (await call("write_file", { path: "b.txt", content: "b" }))["ok"]
  expect(await (await send(`${base}/mode`, "agent")).json()).toEqual({ mode: "ask" })
  expect([(await put("auto", "agent")).status, (await put("sometimes", "approver")).status]).toEqual([403, 400])
  expect(await write()).toBe(false)
  expect(await (await put("accept-edits", "approver")).json()).toEqual({ mode: "accept-edits" })
  expect(await write()).toBe(true)
  const listed = (await (await send("/v1/workspaces", "agent")).json()) as { workspaces: ReadonlyArray<object> }
  expect(listed.workspaces).toMatchObject([{ name: "default", mode: "accept-edits" }])
  await put("plan", "approver")
  expect(await write()).toBe(false)
})
