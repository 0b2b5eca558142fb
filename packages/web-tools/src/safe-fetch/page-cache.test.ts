import { memoryState, StateError, StateFiles } from "@haft/core"
import { approvalgate, haft } from "@haft/dialects"
import { fileState } from "@haft/node"
import { temporaryWorkspace } from "@haft/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { expect, it } from "vitest"

import { type LoopbackServer, serve, webHost } from "../../test/loopback.ts"

/** A server that counts its answers and says how long they hold. */
const counting = (headers: Record<string, string>, answer: { status?: number } = {}) => {
  let count = 0
  return serve((request, response) => {
    if (request.headers["if-none-match"] === '"v1"')
      return response.writeHead(304, { etag: '"v1"', "cache-control": "max-age=60" }).end()
    return response
      .writeHead(answer.status ?? 200, { "content-type": "text/plain", ...headers })
      .end(`answer ${++count}`)
  })
}

const fetchTwice = async (
  server: LoopbackServer,
  config: Parameters<typeof webHost>[1] = {},
  state?: Layer.Layer<StateFiles>
) => {
  const answers = []
  for (let round = 0; round < 2; round++) {
    await using host = await webHost(
      haft,
      { privateHosts: [server.host], ...config },
      state === undefined ? {} : { state }
    )
    const { wire } = await host.call("fetch_url", { url: server.url })
    const { result } = wire as { readonly result: { readonly content: string; readonly from_cache: boolean } }
    answers.push([result.content, result.from_cache])
  }
  return answers
}

const kept = () => {
  const documents = new Map<string, Uint8Array>()
  return { documents, state: memoryState(documents) }
}

it("keeps an answer for as long as the server says, in the state directory, from one host to the next", async () => {
  using workspace = temporaryWorkspace()
  await using server = await counting({ "cache-control": "max-age=60" })
  const answers = await fetchTwice(server, {}, fileState({ directory: workspace.state }))
  expect(answers).toEqual([
    ["answer 1", false],
    ["answer 1", true]
  ])
  expect(server.requests.length).toBe(1)
})

it.each([
  ["no-store", { "cache-control": "no-store" }],
  ["max-age=0", { "cache-control": "max-age=0" }],
  ["nothing", {}],
  ["vary: *", { "cache-control": "max-age=60", vary: "*" }]
])("asks again where the server says %s", async (_name, headers) => {
  await using server = await counting(headers)
  expect((await fetchTwice(server, {}, kept().state))[1]).toEqual(["answer 2", false])
})

it("asks whether a stale answer still holds, and uses it when it does", async () => {
  await using server = await counting({ "cache-control": "no-cache", etag: '"v1"' })
  expect((await fetchTwice(server, {}, kept().state))[1]).toEqual(["answer 1", true])
  expect(server.requests.map(({ headers }) => headers["if-none-match"])).toEqual([undefined, '"v1"'])
})

it.each([
  ["nothing else", {}, ["answer 1", true]],
  ["its own version", { etag: '"v1"' }, ["answer 1", true]],
  ["the encoding of what it does not send", { etag: '"v1"', "content-encoding": "gzip" }, ["answer 1", true]],
  ["another version than it was asked about", { etag: '"v2"' }, ["answer 2", false]]
])("takes an answer for unchanged when the server says so and %s", async (_name, headers, expected) => {
  let count = 0
  await using server = await serve((request, response) =>
    request.headers["if-none-match"] === undefined
      ? response
          .writeHead(200, { etag: '"v1"', "cache-control": "no-cache", "content-type": "text/markdown" })
          .end(`answer ${++count}`)
      : response.writeHead(304, headers).end()
  )
  await using host = await webHost(haft, { privateHosts: [server.host] }, kept())
  await host.call("fetch_url", { url: server.url })
  for (let round = 0; round < (expected[1] === true ? 2 : 1); round++) {
    const { wire } = await host.call("fetch_url", { url: server.url })
    const { result } = wire as { readonly result: Record<string, unknown> }
    expect([result["content"], result["from_cache"]]).toEqual(expected)
    expect(result["content_type"]).toBe("text/markdown")
  }
})

it("forgets an answer that may not be kept any longer", async () => {
  const { documents, state } = kept()
  await using server = await serve((request, response) =>
    response
      .writeHead(request.headers["if-none-match"] === undefined ? 200 : 304, {
        etag: '"v1"',
        "cache-control": request.headers["if-none-match"] === undefined ? "no-cache" : "no-store"
      })
      .end()
  )
  await fetchTwice(server, {}, state)
  expect([documents.size, server.requests.length]).toEqual([0, 2])
})

it("asks again after something was posted to the same place, unless that failed", async () => {
  const { state } = kept()
  let status = 500
  await using server = await serve((request, response) =>
    response
      .writeHead(request.method === "POST" ? status : 200, { "cache-control": "max-age=60" })
      .end(String(server.requests.length))
  )
  await using host = await webHost(approvalgate, { privateHosts: [server.host] }, { state })
  const get = async () => (await host.call("web_fetch", { url: server.url })).wire
  const post = () => host.call("web_fetch", { url: server.url, method: "POST", body: "x" })
  expect(await get()).toMatchObject({ value: { body: "1" } })
  await post()
  expect(await get()).toMatchObject({ value: { body: "1", headers: { age: expect.any(String) as string } } })
  status = 200
  await post()
  expect(await get()).toMatchObject({ value: { body: "4" } })
})

it.each([
  ["language", "accept-language", { "accept-language": "de" }, {}],
  ["user agent", "user-agent", {}, { userAgent: "another" }]
])("keeps an answer for the %s that it was given for", async (_name, vary, headers, config) => {
  const { state } = kept()
  await using server = await counting({ "cache-control": "max-age=60", vary })
  const bodies = []
  for (const other of [false, false, true]) {
    const settings = { privateHosts: [server.host], ...(other && config) }
    await using host = await webHost(approvalgate, settings, { state })
    const { wire } = await host.call("web_fetch", { url: server.url, headers: other ? headers : {} })
    bodies.push((wire as { readonly value: { readonly body: string } }).value.body)
  }
  expect(bodies).toEqual(["answer 1", "answer 1", "answer 2"])
})

it("keeps nothing where the cache is switched off", async () => {
  const { documents, state } = kept()
  await using server = await counting({ "cache-control": "max-age=60" })
  expect((await fetchTwice(server, { cache: false }, state))[1]).toEqual(["answer 2", false])
  expect(documents.size).toBe(0)
})

it("keeps nothing that was asked for under a name, or by POST", async () => {
  const { documents, state } = kept()
  await using server = await counting({ "cache-control": "max-age=60" })
  await using host = await webHost(approvalgate, { privateHosts: [server.host] }, { state })
  await host.call("web_fetch", { url: server.url, headers: { authorization: "Bearer 12345678" } })
  await host.call("web_fetch", { url: server.url, method: "POST", body: "x" })
  expect([documents.size, server.requests.length]).toEqual([0, 2])
})

it("keeps nothing that was cut off", async () => {
  const { documents, state } = kept()
  await using server = await counting({ "cache-control": "max-age=60" })
  await fetchTwice(server, { maxBytes: 3 }, state)
  expect(documents.size).toBe(0)
})

it("cuts a kept answer to what a later call may have", async () => {
  const { state } = kept()
  await using server = await counting({ "cache-control": "max-age=60" })
  await fetchTwice(server, {}, state)
  await using host = await webHost(haft, { privateHosts: [server.host], maxBytes: 3 }, { state })
  const { wire } = await host.call("fetch_url", { url: server.url })
  expect(wire).toMatchObject({ result: { content: "ans", truncated: true, from_cache: true } })
})

it("caches redirects, and still checks their targets", async () => {
  const { state } = kept()
  await using target = await counting({ "cache-control": "max-age=60" })
  await using server = await serve((_request, response) =>
    response.writeHead(301, { location: target.url, "cache-control": "max-age=60" }).end()
  )
  const both = { privateHosts: [server.host, target.host] }
  expect((await fetchTwice(server, both, state))[1]).toEqual(["answer 1", true])
  expect([server.requests.length, target.requests.length]).toEqual([1, 1])
  await using host = await webHost(haft, { privateHosts: [server.host] }, { state })
  expect((await host.call("fetch_url", { url: server.url })).error?.code).toBe("url_blocked")
})

it("does not let a public page send its reader to a private host", async () => {
  const { state } = kept()
  const resolve = () => Promise.resolve(["127.0.0.1"])
  await using target = await counting({})
  await using server = await serve((_request, response) =>
    response.writeHead(301, { location: target.url, "cache-control": "max-age=60" }).end()
  )
  // Once, so that it is in the cache and can be asked for when it is no longer named, as any public page.
  const url = `http://public.test:${server.port}/`
  await using before = await webHost(haft, { privateHosts: [`public.test:${server.port}`] }, { state, resolve })
  await before.call("fetch_url", { url })
  await using host = await webHost(haft, { privateHosts: [target.host] }, { state, resolve })
  const reply = await host.call("fetch_url", { url })
  expect(reply.error?.details?.["reason"]).toBe(`it redirects to the private host ${target.host}`)
  expect([server.requests.length, target.requests.length]).toEqual([1, 0])
})

it("does without a state directory that can't be used, and without entries that are damaged", async () => {
  await using server = await counting({ "cache-control": "max-age=60" })
  const broken = Effect.fail(new StateError({ name: "cache", problem: "can't be used" }))
  const unusable = Layer.succeed(StateFiles, {
    read: () => broken,
    write: () => broken,
    remove: () => broken,
    version: () => broken,
    exclusively: () => broken
  })
  expect((await fetchTwice(server, {}, unusable))[1]).toEqual(["answer 2", false])
  const { documents, state } = kept()
  await fetchTwice(server, {}, state)
  for (const name of documents.keys()) documents.set(name, Buffer.from("{not json\n"))
  expect((await fetchTwice(server, {}, state))[0]).toEqual(["answer 4", false])
})

it("never takes one page for another that falls into the same place", async () => {
  const { documents, state } = kept()
  await using server = await serve((request, response) =>
    response.writeHead(200, { "content-type": "text/plain", "cache-control": "max-age=60" }).end(request.path)
  )
  await using host = await webHost(haft, { privateHosts: [server.host] }, { state })
  // One more page than there are places; the last ones are asked for twice.
  const paths = Array.from({ length: 257 }, (_, index) => `/${index}`)
  for (const path of [...paths, ...paths.slice(-5)]) {
    expect((await host.call("fetch_url", { url: server.url + path })).wire).toMatchObject({ result: { content: path } })
  }
  expect(documents.size).toBeLessThanOrEqual(256)
})
