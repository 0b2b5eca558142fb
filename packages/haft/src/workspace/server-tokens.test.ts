import { randomBytes, randomUUID } from "node:crypto"
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { afterEach, beforeEach, describe, expect, it } from "@effect/vitest"
import { temporaryWorkspace, type TemporaryWorkspace } from "@haft/testing"

import { openTokens, requireStrongToken, serverTokens } from "../internal.ts"

let workspace: TemporaryWorkspace
beforeEach(() => {
  workspace = temporaryWorkspace()
})
afterEach(() => workspace.remove())

const config = () => ({ root: workspace.root, state: workspace.state })

describe("the tokens of a server", () => {
  it("are two at the first start, kept to their owner, and stay", async () => {
    const { store, file, secrets } = await serverTokens(config())
    expect(secrets).toEqual({
      agent: expect.stringMatching(/^[\w-]{43}$/),
      approver: expect.stringMatching(/^[\w-]{43}$/)
    })
    expect(secrets.approver).not.toBe(secrets.agent)
    expect(statSync(file).mode & 0o777).toBe(process.platform === "win32" ? 0o666 : 0o600)
    expect(await store.find(secrets.agent ?? "")).toMatchObject({ name: "agent", role: "agent" })
    expect(await store.find(secrets.approver ?? "")).toMatchObject({ name: "approver", role: "approver" })
    expect((await serverTokens(config())).secrets).toEqual(secrets)
  })

  it("are checked by their hashes: the file with the secrets may be removed", async () => {
    const { file, secrets } = await serverTokens(config())
    rmSync(file)
    const again = await serverTokens(config())
    expect(again.secrets).toEqual({})
    expect(await again.store.find(secrets.agent ?? "")).toMatchObject({ name: "agent" })
    const stored = readFileSync(join(workspace.state, "tokens.json"), "utf8")
    for (const secret of Object.values(secrets)) expect(stored).not.toContain(secret)
  })

  it("can be an agent's that is given, which is not stored", async () => {
    const agent = "an-agents-own-long-token"
    expect(await serverTokens(config(), { agent })).toMatchObject({ agent, secrets: { approver: expect.any(String) } })
    const { store, secrets } = await serverTokens(config(), { agent })
    expect(Object.keys(secrets)).toEqual(["approver"])
    expect(await store.find(agent)).toBe(undefined)
  })

  it("never let the agent's token be the approver's", async () => {
    const { secrets } = await serverTokens(config())
    await expect(serverTokens(config(), { agent: secrets.approver ?? "" })).rejects.toThrow(
      "an agent would approve its own calls"
    )
  })

  it.each([
    "a",
    "",
    " ",
    "0123456789",
    "aaaaaaaaaaaaaaaaaaaa",
    "a token with blanks in it",
    "1234567890123456",
    "12345678901234567890123456789012345678901234567890",
    "correcthorsebatterystaple",
    "0123456789abcdef",
    "f1e2d3c4f1e2d3c4f1e2d3c4f1e2d3c4",
    "Passw0rd!Passw0rd!Passw0rd!",
    "3141592653589793238462643383",
    "x".repeat(513)
  ])("are refused when they are weak: %j", async (agent) => {
    await expect(serverTokens(config(), { agent })).rejects.toThrow("too weak")
  })

  it.each(["agent-token-0123456789abcdef", "0123456789abcdef0123456789abcdef"])(
    "are judged by length and kinds of characters, not by guesses: %s",
    (secret) => {
      expect(() => requireStrongToken(secret)).not.toThrow()
    }
  )

  it("are taken with 128 random bits, however they are spelled", () => {
    for (let round = 0; round < 500; round++) {
      const bytes = randomBytes(16)
      for (const secret of [
        bytes.toString("hex"),
        bytes.toString("base64"),
        bytes.toString("base64url"),
        randomUUID()
      ]) {
        expect(() => requireStrongToken(secret)).not.toThrow()
      }
    }
  })

  it.each(["{", "[]", '{"agent":""}'])("are not read from a file that holds %s", async (content) => {
    const { file } = await serverTokens(config())
    writeFileSync(file, content)
    await expect(serverTokens(config())).rejects.toThrow(/does not hold the server's tokens; remove it/)
  })
})

describe("stored tokens", () => {
  it("are found by their secret until they are revoked or expire, and not made again", async () => {
    const tokens = await openTokens(config())
    const { secret, token } = await tokens.create({ name: "ci", role: "agent", workspaces: ["docs"] })
    // As another process would have it.
    const others = await openTokens(config())
    expect(await others.find(secret)).toEqual(token)
    await expect(others.create({ name: "ci", role: "agent" })).rejects.toThrow("there is a token 'ci' already")
    expect(await tokens.revoke("ci")).toBe(true)
    expect(await tokens.revoke("ci")).toBe(false)
    expect([await others.find(secret), await others.isInForce(token.id)]).toEqual([undefined, false])
    expect(await others.list()).toMatchObject([{ name: "ci", revoked: expect.any(String) }])
    const { secret: old } = await tokens.create({ name: "old", role: "agent", expires: "2020-01-01T00:00:00Z" })
    expect(await tokens.find(old)).toBe(undefined)
    // The first two are not made again once they are revoked.
    await serverTokens(config())
    await tokens.revoke("approver")
    await serverTokens(config())
    expect((await tokens.list()).filter(({ name }) => name === "approver")).toHaveLength(1)
  })

  it.each([
    { name: "", role: "agent" },
    { name: "a b", role: "agent" }
  ] as const)("have a name: %j", async (wanted) => {
    await expect((await openTokens(config())).create(wanted)).rejects.toThrow("this is not a token")
  })

  it("are not guessed at when they can't be read", async () => {
    writeFileSync(join(workspace.state, "tokens.json"), "{}")
    const tokens = await openTokens(config())
    await expect(tokens.find("x")).rejects.toThrow("can't be read, so no token is known")
  })
})
