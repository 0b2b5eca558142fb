import { createHash } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/** The document npm asks for about a package: the manifests of all versions, and the dist-tags. */
interface Packument {
  readonly name: string
  readonly versions: Record<string, Manifest>
  readonly "dist-tags": Record<string, string>
  readonly time: Record<string, string>
}

export interface Manifest {
  readonly name: string
  readonly version: string
  readonly dist: { readonly tarball: string; readonly integrity?: string }
  readonly [field: string]: unknown
}

export interface LoopbackRegistry {
  readonly url: string
  /** The packages that were published here, with the manifest and the size of the newest version. */
  readonly published: () => ReadonlyMap<string, { readonly manifest: Manifest; readonly bytes: number }>
  readonly close: () => void
}

/**
 * An npm registry on a local port, for the rehearsal of a release. Published packages are kept in memory; requests for
 * others are passed on to the registry that this machine uses.
 */
export const openLoopbackRegistry = async (upstream: string): Promise<LoopbackRegistry> => {
  const packages = new Map<string, Packument>()
  const tarballs = new Map<string, Buffer>()
  let url = ""

  const publish = (name: string, body: Buffer): { readonly status: number; readonly answer: unknown } => {
    const sent = JSON.parse(body.toString()) as Packument & { _attachments: Record<string, { data: string }> }
    const known = packages.get(name) ?? { name, versions: {}, "dist-tags": {}, time: {} }
    const [attachment] = Object.values(sent._attachments)
    const tarball = Buffer.from(attachment?.data ?? "", "base64")
    for (const [version, manifest] of Object.entries(sent.versions)) {
      if (known.versions[version] !== undefined)
        return { status: 409, answer: { error: `${version} is there already` } }
      const path = `/tarballs/${encodeURIComponent(name)}/${version}.tgz`
      tarballs.set(path, tarball)
      const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`
      known.versions[version] = { ...manifest, dist: { ...manifest.dist, integrity, tarball: `${url}${path}` } }
      known.time[version] = new Date().toISOString()
    }
    Object.assign(known["dist-tags"], sent["dist-tags"])
    packages.set(name, known)
    return { status: 201, answer: { ok: true } }
  }

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url?.split("?")[0] ?? "/"
    const name = decodeURIComponent(path.slice(1))
    if (request.method === "PUT") {
      const { status, answer } = publish(name, await bodyOf(request))
      response.writeHead(status, json).end(JSON.stringify(answer))
      return
    }
    const own = tarballs.get(path) ?? packages.get(name)
    if (own instanceof Buffer) return void response.writeHead(200).end(own)
    if (own !== undefined) return void response.writeHead(200, json).end(JSON.stringify(own))
    const accept = request.headers.accept ?? "application/json"
    const passed = await fetch(new URL(path.slice(1), upstream), {
      method: request.method === "POST" ? "POST" : "GET",
      headers: { accept },
      ...(request.method === "POST" && { body: new Uint8Array(await bodyOf(request)) })
    })
    response
      .writeHead(passed.status, { "content-type": passed.headers.get("content-type") ?? "application/json" })
      .end(Buffer.from(await passed.arrayBuffer()))
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      response.writeHead(502, json).end(JSON.stringify({ error: String(error) }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    published: () =>
      new Map(
        [...packages].flatMap(([name, { versions, "dist-tags": tags }]) => {
          const manifest = versions[tags["latest"] ?? ""]
          if (manifest === undefined) return []
          const path = manifest.dist.tarball.slice(url.length)
          return [[name, { manifest, bytes: tarballs.get(path)?.length ?? 0 }] as const]
        })
      ),
    close: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}

const json = { "content-type": "application/json" }

const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
