import { toolError } from "@haft/core"
import { approvalgate } from "@haft/dialects"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { rawText } from "../readable-page/readable-page.ts"
import { checkHeaders } from "../safe-fetch/request-headers.ts"
import { Web } from "../web.ts"
import { asksUnlessAllowed, fetchTouches } from "./fetch-url.ts"

const input = z.strictObject({
  url: z.string().describe("Address to fetch, starting with http:// or https://"),
  method: z.enum(["GET", "POST"]).default("GET").describe("HTTP method"),
  headers: z.record(z.string(), z.string()).default({}).describe("Request headers by name"),
  body: z.string().optional().describe("Request body, for POST only"),
  timeout: z.number().gt(0).max(300).default(30).describe("Seconds until the request is given up")
})

export const approvalgateWebFetch = approvalgate.tool({
  name: "web_fetch",
  operation: "fetch-url",
  description: "Send an HTTP request and return the response's status, headers and body.",
  input,
  output: z.object({ status: z.number(), headers: z.record(z.string(), z.string()), body: z.string() }),
  risk: "dangerous",
  openWorld: true,
  asks: asksUnlessAllowed,
  timeout: ({ timeout }) => Duration.seconds(timeout + 5),
  touches: (request) => Effect.andThen(checkRequest(request), fetchTouches(request)),
  execute: Effect.fnUntraced(function* ({ url, method, body, timeout, ...request }) {
    const web = yield* Web
    const headers = yield* checkHeaders(request.headers)
    const response = yield* web.fetch({
      url: yield* web.target(url),
      method,
      headers: { ...(body !== undefined && { "content-type": "text/plain;charset=UTF-8" }), ...headers },
      timeoutMs: timeout * 1000,
      ...(body !== undefined && { body })
    })
    if (response.truncated) {
      return yield* toolError("response_too_large", `the response has more than ${web.maxBytes} bytes`, {
        suggestion: "Ask for a smaller part of it.",
        details: { url, limit: web.maxBytes }
      })
    }
    const contentType = response.headers["content-type"] ?? ""
    return {
      status: response.status,
      headers: response.headers,
      body: rawText({ bytes: response.bytes, contentType, url: response.url.href })
    }
  })
})

const checkRequest = ({ headers, body, method }: z.output<typeof input>) =>
  body !== undefined && method === "GET"
    ? toolError("invalid_params", "parameter 'body': a GET request has no body", {
        suggestion: "Leave the body out, or use POST.",
        details: { parameter: "body" }
      })
    : checkHeaders(headers)
