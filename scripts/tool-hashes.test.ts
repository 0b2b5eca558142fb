import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

import { dialectNames, type ToolDescription } from "haft/internal"
import { openHost } from "haft/promise"
import { expect, test } from "vitest"

import { toolHashes } from "./reference/tool-hashes.ts"

const root = dirname(import.meta.dirname)

test("contracts/tool-hashes.json has the schemas of every tool in every dialect (update it with: npm run docs)", async () => {
  const state = mkdtempSync(join(tmpdir(), "haft-hashes-"))
  const tools = new Map<string, ReadonlyArray<ToolDescription>>()
  for (const dialect of dialectNames) {
    await using host = await openHost({ root, state, dialect })
    tools.set(dialect, host.tools)
  }
  rmSync(state, { recursive: true })
  const written: unknown = JSON.parse(readFileSync(join(root, "contracts/tool-hashes.json"), "utf8"))
  expect(toolHashes(tools)).toEqual(written)
})

test("a hash tells schemas apart, and not their descriptions", () => {
  const hash = (properties: object): unknown =>
    toolHashes(new Map([["d", [{ name: "t", inputSchema: { type: "object", properties }, replySchema: {} }]]]))
  const plain = hash({ a: { type: "string" } })
  expect(hash({ a: { type: "string", description: "words" } })).toEqual(plain)
  expect(hash({ a: { type: "number" } })).not.toEqual(plain)
  expect(hash({ a: { type: "string" }, description: { type: "string" } })).not.toEqual(plain)
})
