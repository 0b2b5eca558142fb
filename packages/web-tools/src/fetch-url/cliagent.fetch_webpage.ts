import { cliagent } from "@haft/dialects"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { mediaType } from "../readable-page/readable-page.ts"
import { fetchPage, fetchTouches } from "./fetch-url.ts"

const maxBytes = 1024 * 1024

export const cliagentFetchWebpage = cliagent.tool({
  name: "fetch_webpage",
  operation: "fetch-url",
  description: "Fetch a web page and return its main content as Markdown.",
  input: z.strictObject({
    url: z.string().describe("Address of the page, starting with http:// or https://"),
    timeout_seconds: z.number().int().min(1).max(60).default(10).describe("Seconds until the request is given up")
  }),
  output: z.object({
    output: z.string(),
    files_affected: z.array(z.string()),
    metadata: z.object({
      url: z.string(),
      status_code: z.number(),
      content_length: z.number(),
      content_type: z.string()
    })
  }),
  risk: "dangerous",
  openWorld: true,
  timeout: ({ timeout_seconds }) => Duration.seconds(timeout_seconds + 5),
  touches: fetchTouches,
  execute: Effect.fnUntraced(function* ({ url, timeout_seconds }) {
    const { text, isCut, response, contentType } = yield* fetchPage({
      url,
      timeoutMs: timeout_seconds * 1000,
      maxBytes
    })
    const size = response.bytes.length
    return {
      output: `${warningAbout(response.truncated, isCut)}Fetched content from ${url} (${inUnits(size)})\n\n${text}`,
      files_affected: [],
      metadata: {
        url,
        status_code: response.status,
        content_length: size,
        content_type: mediaType(contentType)
      }
    }
  }),
  render: ({ output }) => output,
  wording: {
    invalid_url: () => "Invalid URL format",
    network_error: ({ details }) => `Failed to fetch - ${String(details?.["reason"])}`,
    timeout: (_error, { timeout_seconds }) => `Request timed out after ${timeout_seconds} seconds`
  }
})

const warningAbout = (truncated: boolean, isCut = false): string => {
  if (truncated) return "Warning: Response too large (>1MB), truncating\n"
  return isCut ? "Warning: Only the beginning of this page could be read\n" : ""
}

const inUnits = (bytes: number): string => {
  if (bytes < 1024) return `${bytes} bytes`
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`
}
