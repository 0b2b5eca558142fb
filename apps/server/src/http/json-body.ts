import { isUtf8 } from "node:buffer"
import { Readable } from "node:stream"

import { type JsonExcess, type JsonLimits, JsonScanner } from "haft/internal"
import type { ServerRequest } from "srvx"

import { Problem } from "./problem.ts"

/** Reads a JSON body. Its bytes, values and levels are counted as they arrive, so that no client can fill the memory. */
export const readJson = async (request: ServerRequest, limits: JsonLimits): Promise<unknown> => {
  const [type = ""] = (request.headers.get("content-type") ?? "").split(";")
  if (type.trim().toLowerCase() !== "application/json") {
    throw new Problem(415, "unsupported_media_type", "Send JSON, with Content-Type: application/json.")
  }
  if ((request.headers.get("content-encoding") ?? "identity").toLowerCase() !== "identity") {
    throw new Problem(415, "unsupported_encoding", "Send the body as it is, without a Content-Encoding.")
  }
  const value = parse(decode(await readBytes(request, limits)))
  refuseDangerousKeys(value)
  return value
}

// The limit of all bodies together: many clients that each stay just below the limit of one could fill the memory too.
const mostArriving = 48 * 1024 * 1024
let arriving = 0

// Read from Node's request where there is one, because the web stream around it costs more than everything else here.
// There is no timeout: the server has one for the whole request.
const readBytes = (request: ServerRequest, limits: JsonLimits): Promise<Buffer> => {
  const scanner = new JsonScanner(limits)
  if (Number(request.headers.get("content-length") ?? 0) > limits.bytes) {
    return Promise.reject(refused({ limit: "bytes", message: `larger than ${limits.bytes} bytes` }))
  }
  const source = request.runtime?.node?.req ?? (request.body === null ? undefined : Readable.fromWeb(request.body))
  if (source === undefined) return Promise.resolve(Buffer.alloc(0))
  return new Promise((resolve, reject) => {
    const chunks: Array<Buffer> = []
    let size = 0
    const fail = (problem: Problem): void => {
      settle()
      // The rest is discarded, and the connection closed, when the refusal is sent.
      source.pause()
      reject(problem)
    }
    const onData = (chunk: Buffer): void => {
      size += chunk.length
      arriving += chunk.length
      chunks.push(chunk)
      const excess = scanner.push(chunk)
      if (excess !== undefined) fail(refused(excess))
      else if (arriving > mostArriving) fail(tooBusy)
    }
    const onEnd = (): void => {
      settle()
      const [first] = chunks
      resolve(first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks))
    }
    const onClose = (): void => fail(incomplete)
    const settle = (): void => {
      arriving -= size
      size = 0
      source.off("data", onData).off("end", onEnd).off("close", onClose)
    }
    source.on("data", onData).on("end", onEnd).on("close", onClose).on("error", onClose)
  })
}

const decode = (bytes: Buffer): string => {
  if (!isUtf8(bytes)) throw new Problem(400, "invalid_json", "The body is not UTF-8.")
  return bytes.toString()
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Problem(
      400,
      "invalid_json",
      `The body is not JSON: ${error instanceof Error ? error.message : "it can't be read"}`
    )
  }
}

const dangerousKeys = new Set(["__proto__", "constructor", "prototype"])

// Not recursive, because a body can be nested deeply enough to overflow the stack.
const refuseDangerousKeys = (root: unknown): void => {
  const pending: Array<unknown> = [root]
  while (pending.length > 0) {
    const value = pending.pop()
    if (typeof value !== "object" || value === null) continue
    for (const [key, inner] of Object.entries(value)) {
      if (dangerousKeys.has(key) && !Array.isArray(value)) {
        throw new Problem(400, "invalid_json", `The key "${key}" is not accepted.`)
      }
      if (typeof inner === "object" && inner !== null) pending.push(inner)
    }
  }
}

const incomplete = new Problem(400, "incomplete_body", "The body ended before it was complete.")

const tooBusy = new Problem(503, "too_busy", "Too many bodies arrive at once; send this one again in a moment.", {
  connection: "close",
  "retry-after": "1"
})

const codes = { bytes: "body_too_large", values: "too_many_values", depth: "too_deep" }

const refused = ({ limit, message }: JsonExcess): Problem =>
  new Problem(limit === "depth" ? 400 : 413, codes[limit], `The body is ${message}.`, { connection: "close" })
