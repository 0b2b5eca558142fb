import { mcpFetchHandler, mcpServer } from "@haft/adapters/mcp"
import { Host, type HostService, type Reply } from "@haft/core"
import { openHost as openLayer } from "@haft/core/promise"
import { type CaseHost, loadCases, playCase } from "@haft/testing"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { describe, expect, it } from "vitest"

import { packagedNames } from "./host/dialects.ts"
import { standardHost } from "./host/standard-host.ts"

const contracts = new URL("../../../contracts", import.meta.url).pathname

/** A host whose calls go through an MCP server and a client of the SDK. */
const overMcp =
  (dialect: (typeof packagedNames)[number]): CaseHost =>
  ({ root, state }) =>
    Layer.effect(
      Host,
      Effect.gen(function* () {
        const host = yield* Effect.acquireRelease(
          Effect.promise(() => openLayer(standardHost({ root, state, dialect, sandbox: "none", approval: "all" }))),
          (opened) => Effect.promise(() => opened.dispose())
        )
        const handler = mcpFetchHandler(mcpServer(host, { version: "0" }))
        const client = new Client({ name: "test", version: "0" }, { versionNegotiation: { mode: "legacy" } })
        const fetchHere = (url: string | URL, init?: RequestInit) => handler.fetch(new Request(url, init))
        const transport = new StreamableHTTPClientTransport(new URL("http://haft.test/mcp"), { fetch: fetchHere })
        yield* Effect.acquireRelease(
          Effect.promise(() => client.connect(transport)),
          () => Effect.promise(() => client.close().then(handler.close))
        )
        // The client checks structured content against a tool's schema, once it has listed the tools.
        yield* Effect.promise(() => client.listTools())
        const call = (name: string, args: unknown): Effect.Effect<Reply> =>
          Effect.map(
            Effect.promise(() => client.callTool({ name, arguments: args as Record<string, unknown> })),
            ({ structuredContent, content, isError }) => {
              const [block] = content
              const text = block?.type === "text" ? block.text : ""
              return { ok: isError !== true, wire: structuredContent, text } as Reply
            }
          )
        return { call } as unknown as HostService
      })
    )

describe.each(packagedNames)("%s over MCP", (dialect) => {
  // Whom the host asks is no matter of the protocol: here everything is allowed.
  const cases = loadCases(contracts, dialect).filter(({ approve, asked }) => approve && asked === undefined)
  it.each(cases)("$tool: $name", async (contractCase) => {
    await expect(playCase(contractCase, overMcp(dialect))).resolves.toHaveProperty("wire")
  })
})
