import { statSync, writeFileSync } from "node:fs"

import { afterEach, beforeEach, expect, it } from "@effect/vitest"
import { temporaryWorkspace, type TemporaryWorkspace } from "@haft/testing"

import { serverTokens } from "../internal.ts"

let workspace: TemporaryWorkspace
beforeEach(() => {
  workspace = temporaryWorkspace()
})
afterEach(() => workspace.remove())

const config = () => ({ root: workspace.root, state: workspace.state })

it("makes two tokens at the first start, keeps them to their owner, and finds them again", async () => {
  const first = await serverTokens(config())
  expect(first.agent).toMatch(/^[\w-]{43}$/)
  expect(first.approver).toMatch(/^[\w-]{43}$/)
  expect(first.approver).not.toBe(first.agent)
  expect(statSync(first.file).mode & 0o777).toBe(process.platform === "win32" ? 0o666 : 0o600)
  expect(await serverTokens(config())).toEqual(first)
})

it("takes an agent's token that is given, and remembers it", async () => {
  const { approver } = await serverTokens(config())
  expect(await serverTokens(config(), { agent: "mine" })).toMatchObject({ agent: "mine", approver })
  expect(await serverTokens(config())).toMatchObject({ agent: "mine", approver })
})

it("never lets the agent's token be the approver's", async () => {
  const { agent, approver } = await serverTokens(config())
  await expect(serverTokens(config(), { agent: approver })).rejects.toThrow("an agent would approve its own calls")
  expect(await serverTokens(config())).toMatchObject({ agent, approver })
})

it.each(["{", "[]", '{"agent":""}'])("refuses a file that holds %s, and says what to do", async (content) => {
  const { file } = await serverTokens(config())
  writeFileSync(file, content)
  await expect(serverTokens(config())).rejects.toThrow(/does not hold the server's tokens; remove it/)
})
