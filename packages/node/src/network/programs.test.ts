import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer as createHttpServer, type IncomingMessage } from "node:http"
import { createSecureServer } from "node:http2"
import { type AddressInfo, createServer, type Server } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { Duplex } from "node:stream"

import { denyAll, memoryJournal, networkPolicy, Processes, Sandbox, Workspace } from "@haft/core"
import { temporaryWorkspace, type TemporaryWorkspace } from "@haft/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { nodeProcesses } from "../process/processes.ts"
import { systemProgram } from "../process/system-programs.ts"
import { unshareSandbox } from "../sandbox/linux/unshare.ts"
import { NameResolver } from "./sandbox-networks.ts"

// Programs that people run, as they are installed here, against servers on this machine. What is not installed is skipped.

const servers: Array<Server> = []
const ports = { plain: 0, secure: 0, banner: 0 }
let workspace: TemporaryWorkspace
let runtime: ManagedRuntime.ManagedRuntime<Sandbox | Processes, never>

const listen = async (server: Server): Promise<number> => {
  servers.push(server.listen(0, "127.0.0.1"))
  await once(server, "listening")
  return (server.address() as AddressInfo).port
}

const makeCertificate = (): { readonly key: string; readonly cert: string } => {
  const directory = mkdtempSync(join(tmpdir(), "haft-cert-"))
  const [key, cert] = [join(directory, "key"), join(directory, "cert")]
  const words = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=web.test -addext subjectAltName=DNS:web.test -keyout ${key} -out ${cert}`
  execFileSync("openssl", words.split(" "), { stdio: "ignore" })
  const made = { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") }
  rmSync(directory, { recursive: true })
  return made
}

/** Accepts a WebSocket and sends one message. */
const upgrade = (request: IncomingMessage, socket: Duplex): void => {
  const accept = createHash("sha1")
    .update(`${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest("base64")
  socket.on("error", () => undefined)
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`
  )
  socket.write(Buffer.concat([Buffer.from([0x81, 7]), Buffer.from("reached")]))
}

beforeAll(async () => {
  workspace = temporaryWorkspace()
  const plain = createHttpServer((request, response) => {
    if (request.url === "/pkg") {
      const version = { name: "pkg", version: "1.2.3", dist: { tarball: "http://web.test/x.tgz" } }
      response.setHeader("content-type", "application/json")
      response.end(JSON.stringify({ name: "pkg", "dist-tags": { latest: "1.2.3" }, versions: { "1.2.3": version } }))
    } else if (request.url?.startsWith("/simple/") === true) {
      response.setHeader("content-type", "text/html")
      response.end('<a href="pkg-4.5.6.tar.gz">pkg-4.5.6.tar.gz</a>')
    } else response.end("reached")
  })
  plain.on("upgrade", upgrade)
  ports.plain = await listen(plain)
  const secure = createSecureServer({ ...makeCertificate(), allowHTTP1: true }, (request, response) =>
    response.end(`reached over ${request.httpVersion}`)
  )
  secure.on("upgrade", upgrade)
  ports.secure = await listen(secure)
  ports.banner = await listen(
    createServer((socket) => {
      socket.on("error", () => undefined)
      socket.write("SSH-2.0-reached\r\n")
      socket.once("data", () => socket.end())
    })
  )
  const allow = Object.values(ports).map((port) => `web.test:${port}`)
  runtime = ManagedRuntime.make(
    unshareSandbox({ state: workspace.state, readOnlyPaths: [dirname(process.execPath)] }).pipe(
      Layer.provide(networkPolicy({ allow, ask: false }).pipe(Layer.provide(Layer.merge(denyAll, memoryJournal())))),
      Layer.provide(Layer.succeed(NameResolver, async () => ["127.0.0.1"])),
      Layer.provide(
        Layer.mock(Workspace)({ root: workspace.root, roots: [], isSecret: () => false, secretFiles: () => [] })
      ),
      Layer.provideMerge(nodeProcesses)
    )
  )
})
afterAll(async () => {
  await runtime.dispose()
  for (const server of servers) server.close()
  workspace.remove()
})

const sh = async (code: string): Promise<string> => {
  let printed = ""
  const hear = (chunk: Uint8Array): void => void (printed += Buffer.from(chunk).toString())
  await runtime.runPromise(
    Effect.gen(function* () {
      const { wrap } = yield* Sandbox
      const { run } = yield* Processes
      const command = { program: "bash", args: ["-c", code], directory: workspace.root, env: {} }
      yield* run(yield* wrap(command, { network: true }), { onStdout: hear, onStderr: hear, timeoutMs: 60_000 })
    })
  )
  return printed
}

const noVariables = "unset HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy https_proxy all_proxy NODE_USE_ENV_PROXY; "

interface Case {
  readonly program: string
  readonly what: string
  readonly code: () => string
  readonly prints: RegExp
}

const node = (code: string): string => `NODE_TLS_REJECT_UNAUTHORIZED=0 NODE_NO_WARNINGS=1 node -e '${code}'`
const cases: ReadonlyArray<Case> = [
  { program: "curl", what: "HTTP", code: () => `curl -sS http://web.test:${ports.plain}/`, prints: /reached/ },
  {
    program: "curl",
    what: "HTTP/2",
    code: () => `curl -sSk --http2 https://web.test:${ports.secure}/`,
    prints: /reached over 2/
  },
  {
    program: "curl",
    what: "SOCKS 5",
    code: () => `curl -sSk --socks5-hostname 127.0.0.1:3128 https://web.test:${ports.secure}/`,
    prints: /reached/
  },
  {
    program: "curl",
    what: "SOCKS 5 by address",
    code: () => `curl -sSk --socks5 127.0.0.1:3128 https://web.test:${ports.secure}/`,
    prints: /reached/
  },
  {
    program: "wget",
    what: "TLS",
    code: () => `wget -qO- --no-check-certificate https://web.test:${ports.secure}/`,
    prints: /reached/
  },
  {
    program: "openssl",
    what: "s_client",
    code: () =>
      `printf 'GET / HTTP/1.0\\r\\n\\r\\n' | openssl s_client -quiet -connect web.test:${ports.secure} -servername web.test 2>&1`,
    prints: /web\.test/
  },
  {
    program: "python3",
    what: "urllib",
    code: () => `python3 -c "import urllib.request as r; print(r.urlopen('http://web.test:${ports.plain}/').read())"`,
    prints: /reached/
  },
  {
    program: "pip3",
    what: "an index",
    code: () =>
      `pip3 index versions pkg --index-url http://web.test:${ports.plain}/simple --trusted-host web.test 2>&1`,
    prints: /4\.5\.6|unknown command/
  },
  {
    program: "npm",
    what: "a registry",
    code: () => `npm view pkg version --registry http://web.test:${ports.plain}/ 2>&1`,
    prints: /1\.2\.3/
  },
  {
    program: "node",
    what: "https",
    code: () => node(`require("https").get("https://web.test:${ports.secure}/", (r) => r.pipe(process.stdout))`),
    prints: /reached/
  },
  {
    program: "node",
    what: "fetch",
    code: () => node(`fetch("http://web.test:${ports.plain}/").then((r) => r.text()).then(console.log)`),
    prints: /reached/
  },
  {
    program: "node",
    what: "WebSocket",
    code: () =>
      `"${process.execPath}" -e 'const s = new WebSocket("ws://web.test:${ports.plain}/"); s.onmessage = (e) => { console.log(e.data); process.exit() }'`,
    prints: /reached/
  },
  {
    program: "bash",
    what: "a protocol in which the server speaks first",
    code: () => `exec 5<>/dev/tcp/web.test/${ports.banner}; read -r line <&5; echo "$line"`,
    prints: /SSH-2\.0-reached/
  },
  {
    program: "bash",
    what: "such a protocol through CONNECT",
    code: () =>
      `exec 5<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT web.test:${ports.banner} HTTP/1.1\\r\\n\\r\\n' >&5; for i in 1 2 3; do read -r line <&5; done; echo "$line"`,
    prints: /SSH-2\.0-reached/
  }
]

describe.runIf(process.platform === "linux" && systemProgram("openssl") !== undefined)(
  "programs (not on this platform)",
  () => {
    for (const { program, what, code, prints } of cases) {
      const isHere = systemProgram(program) !== undefined
      it.runIf(isHere)(`${program}: ${what}, as it is and without proxy variables (not on this platform)`, async () => {
        expect(await sh(code())).toMatch(prints)
        expect(await sh(noVariables + code())).toMatch(prints)
      })
    }
  }
)
