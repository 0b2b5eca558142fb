import { isToolError } from "@haft/core"
import type { OpenHost } from "@haft/core/promise"
import {
  INVALID_PARAMS,
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  ProtocolError,
  type ReadResourceResult,
  type Server
} from "@modelcontextprotocol/server"

const pageSize = 100

/** Offers a host's artifacts as resources: those of the caller, each by its address and in parts. */
export const serveResources = (server: Server, artifacts: OpenHost["artifacts"]): void => {
  server.setRequestHandler("resources/list", async ({ params }): Promise<ListResourcesResult> => {
    const all = await artifacts.list()
    const last = params?.cursor
    const from = last === undefined ? 0 : all.findIndex(({ address }) => address === last) + 1
    const page = all.slice(from, from + pageSize)
    const hasMore = from + pageSize < all.length
    return {
      resources: page.map(({ address, bytes, modified }) => ({
        uri: address,
        name: address.slice(address.indexOf("/") + 1),
        mimeType: mimeTypeOf(address),
        size: bytes,
        annotations: { lastModified: new Date(modified).toISOString() }
      })),
      ...(hasMore && { nextCursor: page.at(-1)?.address ?? "" })
    }
  })
  server.setRequestHandler("resources/templates/list", (): ListResourceTemplatesResult => ({
    resourceTemplates: [
      {
        uriTemplate: "artifact:{run}/{+path}{?start,length}",
        name: "artifact",
        description: "Output that a reply left out, or some bytes of it. Replies name the address."
      }
    ]
  }))
  server.setRequestHandler("resources/read", async ({ params: { uri } }): Promise<ReadResourceResult> => {
    const { address, ...range } = parseUri(uri)
    try {
      const { size: _size, address: _address, ...content } = await artifacts.read(address, range)
      return {
        contents: [{ uri, mimeType: "text" in content ? mimeTypeOf(address) : "application/octet-stream", ...content }]
      }
    } catch (error) {
      if (!isToolError(error)) throw error
      const { message, suggestion = "", code } = error
      throw new ProtocolError(INVALID_PARAMS, `${message}. ${suggestion}`.trim(), { uri, code })
    }
  })
}

const mimeTypeOf = (address: string): string => (address.endsWith(".json") ? "application/json" : "text/plain")

const parseUri = (uri: string): { readonly address: string; readonly start?: number; readonly length?: number } => {
  const [address = "", query = ""] = uri.split("?", 2)
  const given = [...new URLSearchParams(query)]
  for (const [name, value] of given) {
    if ((name !== "start" && name !== "length") || !/^\d{1,15}$/.test(value)) {
      throw new ProtocolError(INVALID_PARAMS, `Invalid range '${query}': expected ?start=BYTE&length=BYTES`, { uri })
    }
  }
  return { address, ...Object.fromEntries(given.map(([name, value]) => [name, Number(value)])) }
}
