import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

import { onTestFinished } from "vitest"

interface Span {
  readonly name: string
  readonly spanId: string
  readonly traceId: string
  readonly parentSpanId?: string
  readonly attributes: ReadonlyArray<{ readonly key: string; readonly value: { readonly stringValue?: string } }>
}

/** A telemetry collector on a local port, which keeps what it is sent. */
export const startCollector = async ({ answers = true } = {}) => {
  const received: Array<{ readonly path: string; readonly body: string }> = []
  const collector = createServer((request, response) => {
    let body = ""
    request.on("data", (chunk: Buffer) => (body += chunk.toString()))
    request.on("end", () => {
      received.push({ path: request.url ?? "", body })
      if (answers) response.setHeader("content-type", "application/json").end("{}")
    })
  })
  await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    collector.close()
    collector.closeAllConnections()
  })
  const { port } = collector.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, received }
}

/** Sets variables until the test ends. */
export const withEnvironment = (variables: Readonly<Record<string, string>>): void => {
  Object.assign(process.env, variables)
  onTestFinished(() => {
    for (const name of Object.keys(variables)) delete process.env[name]
  })
}

/** The spans in the body of a request to a collector. */
export const spansIn = (body: string): ReadonlyArray<Span> => {
  const { resourceSpans } = JSON.parse(body) as { resourceSpans: Array<{ scopeSpans: Array<{ spans: Array<Span> }> }> }
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
}
