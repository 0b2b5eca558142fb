import { type Endpoint, type EmbedderService, makeToolError, Network, reasonOf, type ToolError } from "@haft/core"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as z from "zod"

/** An embeddings service that speaks the protocol of OpenAI. Its key comes from the environment, never from a call. */
export const embeddingsConfig = z.strictObject({
  url: z
    .url({ protocol: /^https?$/ })
    .describe("Address of the service, such as `https://api.openai.com/v1/embeddings`; `network.allow` has to list it"),
  model: z.string().min(1).describe("Name of the model"),
  keyVariable: z.string().min(1).optional().describe("Environment variable with the key of the service")
})

const embeddings = z.object({
  data: z.array(z.object({ index: z.number().int(), embedding: z.array(z.number()) }))
})

/** Milliseconds that the service has: results by words are there already, and worth more than a long wait. */
const timeLimit = 10_000

/** Bytes of an answer at most: 51 vectors of 4,096 numbers in JSON are about 5 MB. */
const mostBytes = 32 * 1024 * 1024

/** An embedder at an OpenAI-compatible endpoint, under the network policy of the host. */
export const openaiEmbedder = ({ url, model, keyVariable }: z.output<typeof embeddingsConfig>): EmbedderService => {
  const target = new URL(url)
  const endpoint = endpointOf(target)
  const request = (texts: ReadonlyArray<string>) =>
    Effect.tryPromise({
      try: async (signal) => {
        const key = keyVariable === undefined ? undefined : process.env[keyVariable]
        const response = await fetch(target, {
          method: "POST",
          // A redirect would lead to a host that the policy has not judged.
          redirect: "error",
          signal: AbortSignal.any([signal, AbortSignal.timeout(timeLimit)]),
          headers: {
            "content-type": "application/json",
            ...(key !== undefined && { authorization: `Bearer ${key}` })
          },
          body: JSON.stringify({ model, input: texts, encoding_format: "float" })
        })
        if (!response.ok) throw new Error(`${target.host} answered with status ${response.status}`)
        return await readLimited(response)
      },
      catch: networkError(endpoint)
    })
  return {
    endpoint: url,
    embed: Effect.fnUntraced(
      function* (texts) {
        const network = yield* Network
        const { by } = yield* network.admit(endpoint)
        yield* network.record({ type: "connection_opened", ...endpoint, protocol: "fetch", by })
        const began = yield* Clock.currentTimeMillis
        const body = yield* request(texts).pipe(
          Effect.onExit((exit) =>
            Effect.flatMap(Clock.currentTimeMillis, (now) =>
              Effect.ignore(
                network.record({
                  type: "connection_closed",
                  ...endpoint,
                  bytes_sent: Buffer.byteLength(texts.join("")),
                  bytes_received: Exit.isSuccess(exit) ? Buffer.byteLength(exit.value) : 0,
                  duration_sec: (now - began) / 1000
                })
              )
            )
          )
        )
        return yield* Effect.try({ try: () => vectorsIn(body, texts.length), catch: networkError(endpoint) })
      },
      Effect.mapError(networkError(endpoint))
    )
  }
}

const networkError =
  ({ host }: Endpoint) =>
  (cause: unknown): ToolError<"network_error"> =>
    makeToolError("network_error", reasonOf(cause), { details: { host } })

const readLimited = async (response: Response): Promise<string> => {
  const parts: Array<Uint8Array> = []
  let size = 0
  for await (const part of response.body ?? []) {
    size += part.length
    if (size > mostBytes) throw new Error(`the answer has more than ${mostBytes} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString("utf8")
}

const vectorsIn = (body: string, count: number): ReadonlyArray<ReadonlyArray<number>> => {
  const parsed = embeddings.safeParse(jsonOf(body))
  if (!parsed.success) throw new Error("the answer is not a list of embeddings")
  const vectors = new Map(parsed.data.data.map(({ index, embedding }) => [index, embedding]))
  return Array.from({ length: count }, (_, index) => {
    const vector = vectors.get(index)
    if (vector === undefined) throw new Error(`the answer has no embedding of text ${index}`)
    return vector
  })
}

const jsonOf = (body: string): unknown => {
  try {
    return JSON.parse(body) as unknown
  } catch {
    return undefined
  }
}

const endpointOf = ({ hostname, port, protocol }: URL): Endpoint => ({
  host: hostname.replace(/^\[(.*)\]$/, "$1"),
  port: Number(port || (protocol === "https:" ? 443 : 80))
})
