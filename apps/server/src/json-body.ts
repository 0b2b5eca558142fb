import { Problem } from "./problem.ts"

export interface BodyLimits {
  readonly bytes: number
  /** How deep arrays and objects may lie inside each other. */
  readonly depth: number
  /** How long a client may take to send it. */
  readonly milliseconds: number
}

/** Reads a JSON object or array, counting while it arrives, so that no client can fill the memory or keep a place. */
export const readJson = async (request: Request, limits: BodyLimits): Promise<unknown> => {
  const [type = ""] = (request.headers.get("content-type") ?? "").split(";")
  if (type.trim().toLowerCase() !== "application/json") {
    throw new Problem(415, "unsupported_media_type", "Send JSON, with Content-Type: application/json.")
  }
  const text = decode(await readBytes(request, limits))
  const value = parse(text)
  checkShape(value, limits.depth)
  return value
}

const readBytes = async (request: Request, { bytes: limit, milliseconds }: BodyLimits): Promise<Uint8Array> => {
  if (Number(request.headers.get("content-length") ?? 0) > limit) throw tooLarge(limit)
  const reader = request.body?.getReader()
  if (reader === undefined) return new Uint8Array()
  const chunks: Array<Uint8Array> = []
  let size = 0
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(tooSlow(milliseconds)), milliseconds)
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), late.promise])
      if (done) return Buffer.concat(chunks)
      size += value.length
      if (size > limit) throw tooLarge(limit)
      chunks.push(value)
    }
  } catch (error) {
    // The rest is not wanted; whether the client hears of that does not matter here.
    reader.cancel().catch(() => {})
    throw error instanceof Problem
      ? error
      : new Problem(400, "incomplete_body", "The body ended before it was complete.")
  } finally {
    clearTimeout(timer)
  }
}

const decode = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    throw new Problem(400, "invalid_json", "The body is not UTF-8.")
  }
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

// Without recursion: a body may be as deep as it is long.
const checkShape = (root: unknown, maximumDepth: number): void => {
  const pending: Array<{ readonly value: unknown; readonly depth: number }> = [{ value: root, depth: 1 }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, depth } = next
    if (typeof value !== "object" || value === null) continue
    if (depth > maximumDepth) {
      throw new Problem(400, "too_deep", `The body has values more than ${maximumDepth} levels deep.`)
    }
    for (const [key, inner] of Object.entries(value)) {
      if (dangerousKeys.has(key) && !Array.isArray(value)) {
        throw new Problem(400, "invalid_json", `The key "${key}" is not accepted.`)
      }
      if (typeof inner === "object" && inner !== null) pending.push({ value: inner, depth: depth + 1 })
    }
  }
}

const tooLarge = (limit: number): Problem =>
  new Problem(413, "body_too_large", `The body is larger than ${limit} bytes.`, { connection: "close" })

const tooSlow = (milliseconds: number): Problem =>
  new Problem(408, "body_too_slow", `The body did not arrive within ${milliseconds / 1000} seconds.`, {
    connection: "close"
  })
