import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

import { type EmbedderService, type JournalEvent, toolError } from "@haft/core"
import { haft } from "@haft/dialects"
import * as Effect from "effect/Effect"
import { describe, expect, it, onTestFinished } from "vitest"

import { callIn, type HostOptions } from "../../test/hosts.ts"

// Words share nothing with the query but "user"; the meaning of the second file does.
const files = {
  "src/user-list.ts":
    "/** Lists a user, and one more user. */\nexport function listUser(user: string) {\n  return user\n}\n",
  "src/erase.ts":
    "/** Erases the account of a user. */\nexport function eraseAccount(id: string) {\n  return id.length\n}\n",
  "src/user-name.ts": "/** Formats a user. */\nexport function formatUser(user: string) {\n  return user\n}\n"
}
const query = "delete a user"

/** Groups of words with one meaning: each is a dimension of the test's vectors. */
const meanings = [/\b(?:delete|erase|remove)/gi, /\b(?:list|show)/gi, /\bformat/gi]

const vectorOf = (text: string): ReadonlyArray<number> => [
  ...meanings.map((meaning) => Math.min(1, text.match(meaning)?.length ?? 0)),
  0.01
]

/** An embedder on this machine: deterministic, without a model. */
const local: EmbedderService = { embed: (texts) => Effect.succeed(texts.map(vectorOf)) }

interface Found {
  readonly paths: ReadonlyArray<string>
  readonly why: string
  readonly remarks: ReadonlyArray<string>
}

const search = async (options: HostOptions = {}, max = 3): Promise<Found> => {
  const reply = await callIn(haft, files, "search_code", { query, max_results: max }, options)
  expect(reply.error).toBeUndefined()
  const { results, remarks } = reply.output as {
    results: ReadonlyArray<{ readonly path: string; readonly why: string }>
    remarks: ReadonlyArray<string>
  }
  return { paths: results.map(({ path }) => path), why: results[0]?.why ?? "", remarks }
}

interface Received {
  readonly authorization: string | undefined
  readonly body: { readonly model: string; readonly input: ReadonlyArray<string> }
}

/** A service that speaks OpenAI's protocol of embeddings. */
const startService = async (answer = (input: ReadonlyArray<string>): unknown => embeddingsOf(input)) => {
  const received: Array<Received> = []
  const server = createServer((request, response) => {
    let text = ""
    request.on("data", (chunk: Buffer) => (text += chunk.toString()))
    request.on("end", () => {
      const body = JSON.parse(text) as Received["body"]
      received.push({ authorization: request.headers.authorization, body })
      const said = answer(body.input)
      if (typeof said === "number") response.writeHead(said, { location: "/elsewhere" }).end()
      else response.end(typeof said === "string" ? said : JSON.stringify(said))
    })
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  return { received, port, embeddings: { url: `http://127.0.0.1:${port}/v1/embeddings`, model: "tiny" } }
}

// In another order than the texts, as the protocol allows.
const embeddingsOf = (input: ReadonlyArray<string>) => ({
  data: input.map((text, index) => ({ index, embedding: vectorOf(text) })).toReversed()
})

describe("search_code with an embedder", () => {
  it("moves a file up that means what the query says in other words", async () => {
    const before = await search()
    expect(before.paths[0]).not.toBe("src/erase.ts")
    expect(before.why).not.toContain("similarity")
    const after = await search({ embedder: local })
    expect(after.paths[0]).toBe("src/erase.ts")
    expect(after.paths.toSorted()).toEqual(Object.keys(files).toSorted())
    expect(after.why).toMatch(/; similarity: 1\.00$/)
    expect(after.remarks).toEqual([])
  })

  it("ranks before it cuts the results", async () => {
    expect((await search({ embedder: local }, 1)).paths).toEqual(["src/erase.ts"])
  })

  it.each<[string, EmbedderService["embed"], string]>([
    ["fails", () => toolError("network_error", "no way"), "no way"],
    ["answers with vectors of different lengths", () => Effect.succeed([[1], [1, 2]]), "can't be compared"],
    ["answers with too few vectors", () => Effect.succeed([[1, 2]]), "can't be compared"],
    ["answers with zeros", (texts) => Effect.succeed(texts.map(() => [0, 0])), "can't be compared"]
  ])("keeps the order of the index, with a remark, where the embedder %s", async (_, embed, why) => {
    const { paths, remarks } = await search({ embedder: { embed } })
    expect(paths).toEqual((await search()).paths)
    expect(remarks).toEqual([expect.stringContaining(why)])
  })
})

describe("search_code with an embeddings service", () => {
  it("sends the query and the results there, with the key of the environment, and puts the connection on record", async () => {
    const { received, port, embeddings } = await startService()
    process.env["HAFT_TEST_EMBEDDINGS_KEY"] = "k-1"
    onTestFinished(() => void delete process.env["HAFT_TEST_EMBEDDINGS_KEY"])
    const events: Array<JournalEvent> = []
    const { paths, remarks } = await search({
      settings: { embeddings: { ...embeddings, keyVariable: "HAFT_TEST_EMBEDDINGS_KEY" } },
      network: { allow: [`127.0.0.1:${port}`] },
      events
    })
    expect([paths[0], remarks]).toEqual(["src/erase.ts", []])
    expect(received).toHaveLength(1)
    expect(received[0]).toMatchObject({ authorization: "Bearer k-1", body: { model: "tiny" } })
    expect(received[0]?.body.input[0]).toBe(query)
    expect(received[0]?.body.input.toSorted().at(-1)).toContain("formatUser")
    expect(events.filter(({ type }) => type.startsWith("connection_"))).toMatchObject([
      { type: "connection_opened", host: "127.0.0.1", port, by: `network.allow 127.0.0.1:${port}` },
      { type: "connection_closed", host: "127.0.0.1", port, tool: "search_code" }
    ])
    expect(events.at(-1)).toMatchObject({ type: "tool_call_finished", touches: { fetches: embeddings.url } })
  })

  it.each([
    ["without a network policy", undefined, "this host has no network policy"],
    ["where the policy does not list it", { allow: ["other.example"] }, "is not a public host"]
  ] as const)("sends nothing %s", async (_, network, why) => {
    const { received, embeddings } = await startService()
    const { paths, remarks } = await search({
      settings: { embeddings },
      ...(network !== undefined && { network: { allow: [...network.allow] } })
    })
    expect(paths).toEqual((await search()).paths)
    expect(remarks).toEqual([expect.stringContaining(why)])
    expect(received).toEqual([])
  })

  it.each([
    ["a status of failure", () => 500, "answered with status 500"],
    ["a redirect", () => 307, "ranked by words only"],
    ["no JSON", () => "no", "not a list of embeddings"],
    ["something else", () => ({ data: [{ index: 0 }] }), "not a list of embeddings"],
    ["too few embeddings", (input: ReadonlyArray<string>) => embeddingsOf(input.slice(1)), "has no embedding of text"]
  ])("keeps the order of the index where the service answers with %s", async (_, answer, why) => {
    const { received, port, embeddings } = await startService(answer)
    const { paths, remarks } = await search({ settings: { embeddings }, network: { allow: [`127.0.0.1:${port}`] } })
    expect(paths).toEqual((await search()).paths)
    expect(remarks).toEqual([expect.stringContaining(why)])
    expect(received).toHaveLength(1)
  })

  it("sends no secrets that stand in the code", async () => {
    const { received, port, embeddings } = await startService()
    const secret = `ghp_${"a1B2c3D4e5F6".repeat(3)}`
    const reply = await callIn(
      haft,
      { ...files, "src/token.ts": `/** Deletes a user. */\nexport const deleteUser = "${secret}"\n` },
      "search_code",
      { query },
      { settings: { embeddings }, network: { allow: [`127.0.0.1:${port}`] } }
    )
    expect(reply.ok).toBe(true)
    expect(JSON.stringify(received)).toContain("deleteUser")
    expect(JSON.stringify(received)).not.toContain(secret)
  })
})
