import { extname } from "node:path"
import { brotliCompressSync, constants, gzipSync } from "node:zlib"

import type { HttpAnswer } from "./http/answer.ts"

/** Answers with a file of the console. The console's routes are in the `#` part of the address, so paths are files. */
export const siteOf = (
  files: ReadonlyMap<string, Uint8Array> | undefined
): ((url: URL, accepted?: string) => HttpAnswer | undefined) => {
  const compressed = new Map<string, Uint8Array>()
  const encoded = (name: string, file: Uint8Array, encoding: Encoding): Uint8Array => {
    const key = `${encoding} ${name}`
    const known = compressed.get(key) ?? encoders[encoding](file)
    compressed.set(key, known)
    return known
  }
  if (files?.has("index.html") !== true) return ({ pathname }) => (pathname === "/" ? notBuilt() : undefined)
  return ({ pathname }, accepted = "") => {
    const name = nameOf(pathname)
    const file = files.get(name)
    if (file === undefined) return undefined
    const encoding = file.length < leastCompressed ? undefined : encodingIn(accepted)
    if (encoding === undefined || !compressible.has(extname(name))) return fileAnswer(name, file)
    const answer = fileAnswer(name, encoded(name, file, encoding))
    return { ...answer, headers: { ...answer.headers, "content-encoding": encoding, vary: "accept-encoding" } }
  }
}

/** Smaller files gain nothing. */
const leastCompressed = 1_024
const compressible = new Set([".html", ".js", ".css", ".json", ".webmanifest", ".svg", ".txt"])

const encoders = {
  br: (file: Uint8Array) => brotliCompressSync(file, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (file: Uint8Array) => gzipSync(file, { level: 9 })
}
type Encoding = keyof typeof encoders

const encodingIn = (accepted: string): Encoding | undefined =>
  (["br", "gzip"] as const).find((name) => new RegExp(`(?:^|,)\\s*${name}\\s*(?:,|$)`).test(accepted))

const pageHeaders = {
  "content-security-policy": [
    "default-src 'self'",
    "script-src 'self'",
    // xterm.js and the charts set styles on elements.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'"
  ].join("; ")
}

const nameOf = (pathname: string): string => {
  try {
    return decodeURIComponent(pathname).slice(1) || "index.html"
  } catch {
    return ""
  }
}

const contentTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".webmanifest": "application/manifest+json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".txt": "text/plain; charset=utf-8"
}

// A file whose name has a hash of its content never changes, and may be cached for ever.
const isHashed = (name: string): boolean => name.startsWith("assets/") && /[-.][\w-]{8,}\.\w+$/.test(name)

const fileAnswer = (name: string, body: Uint8Array): HttpAnswer => ({
  headers: {
    ...pageHeaders,
    "content-type": contentTypes[extname(name)] ?? "application/octet-stream",
    "cache-control": isHashed(name) ? "public, max-age=31536000, immutable" : "no-cache"
  },
  body
})

const notBuilt = (): HttpAnswer => ({
  headers: { ...pageHeaders, "content-type": "text/html; charset=utf-8" },
  body: `<!doctype html>
<html lang="en">
  <head><meta charset="utf-8"><title>haft</title></head>
  <body>
    <h1>haft is running</h1>
    <p>The console is not part of this build. The API is described in <a href="/openapi.json">openapi.json</a>.</p>
  </body>
</html>
`
})
