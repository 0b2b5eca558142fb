import { expect, it } from "vitest"

import { spansIn, startCollector, withEnvironment } from "./collector.ts"
import { startServer } from "./running.ts"

it("sends a span for every call, below the caller's own, and counts calls, when it is told where to", async () => {
  const { url, received } = await startCollector()
  withEnvironment({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" })
  const { call, post, server } = await startServer()
  const traceId = "0af7651916cd43dd8448eb211c80319c"
  const traceparent = `00-${traceId}-b7ad6b7169203331-01`
  await call("read_file", { path: "a.txt" }, "agent", { headers: { traceparent } })
  await call("read_file", { path: "missing.txt" }, "agent", { headers: { traceparent: "00-broken" } })
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "0" },
    "io.modelcontextprotocol/clientCapabilities": {},
    traceparent
  }
  const params = { name: "list_dir", arguments: {}, _meta: meta }
  const headers = {
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "list_dir"
  }
  const overMcp = await post("/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params }, "agent", { headers })
  expect(await overMcp.json()).toMatchObject({ result: { isError: false } })
  await server.stop()

  const spans = received.filter(({ path }) => path === "/v1/traces").flatMap(({ body }) => spansIn(body))
  const found = spans.filter(({ name }) => name.startsWith("haft "))
  expect(found.map(({ name }) => name)).toEqual(["haft read_file", "haft read_file", "haft list_dir"])
  expect(found[0]).toMatchObject({ traceId, parentSpanId: "b7ad6b7169203331" })
  expect(found[1]?.traceId).not.toBe(traceId)
  expect(found[1]?.attributes).toContainEqual({ key: "error.type", value: { stringValue: "file_not_found" } })
  expect(found[2]).toMatchObject({ traceId })
  const metrics = received.filter(({ path }) => path === "/v1/metrics").map(({ body }) => body)
  expect(metrics.at(-1)).toContain('"name":"haft.calls"')
  expect(metrics.at(-1)).toContain('"name":"haft.http.requests"')
  expect(metrics.at(-1)).toContain('"isMonotonic":true')
  // One exporter a process, whatever the number of its workspaces.
  expect(metrics.at(-1)?.split('"name":"haft.calls"')).toHaveLength(2)
})

it("goes on, and can be stopped, when the collector does not answer", async () => {
  const { url, received } = await startCollector({ answers: false })
  withEnvironment({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" })
  const { call, server, defects } = await startServer()
  expect(await call("read_file", { path: "a.txt" })).toMatchObject({ ok: true })
  await server.stop()
  expect(received.length).toBeGreaterThan(0)
  expect(defects).toEqual([])
})

it("says which variable it can't read", async () => {
  withEnvironment({ OTEL_EXPORTER_OTLP_ENDPOINT: "not an address" })
  await expect(startServer()).rejects.toThrow(/^invalid OTEL_\* environment variables: .*OTEL_EXPORTER_OTLP_ENDPOINT/)
})
