import { once } from "node:events"
import { mkdirSync, writeFileSync } from "node:fs"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer, type Server } from "node:https"
import type { AddressInfo } from "node:net"
import { dirname, join } from "node:path"

import {
  denyAll,
  type JournalEvent,
  memoryJournal,
  type NetworkConfig,
  networkPolicy,
  Processes,
  Sandbox,
  type SandboxRequest,
  Workspace
} from "@haft/core"
import { temporaryWorkspace, type TemporaryWorkspace } from "@haft/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { nodeProcesses } from "../../process/processes.ts"
import { systemProgram } from "../../process/system-programs.ts"
import type { SandboxOptions } from "../../sandbox/limits.ts"
import { bubblewrapSandbox } from "../../sandbox/linux/bubblewrap.ts"
import { unshareSandbox } from "../../sandbox/linux/unshare.ts"
import { NameResolver, TrustedAuthorities } from "../sandbox-networks.ts"
import { CertificateAuthority } from "./certificate-authority.ts"

const secret = "s3cret-value-that-nobody-inside-may-see"
const variable = "HAFT_TEST_BROKERED_TOKEN"
const fileSecret = "another-secret-from-a-file"

/** Requests that the server got: the request line and all headers. */
const received: Array<string> = []
let server: Server
let port = 0
let outside: TemporaryWorkspace
// The authority of the hosts themselves, which commands don't trust.
const world = new CertificateAuthority(["api.test", "other.test", "elsewhere.test"])

const answer = (request: IncomingMessage, response: ServerResponse): void => {
  const { authorization = "" } = request.headers
  received.push(`${request.method} ${request.headers.host}${request.url} ${JSON.stringify(request.headers)}`)
  if (request.url === "/pkg") {
    const version = { name: "pkg", version: "1.2.3", dist: { tarball: `https://api.test:${port}/x.tgz` } }
    response.setHeader("content-type", "application/json")
    return void response.end(
      JSON.stringify({ name: "pkg", "dist-tags": { latest: "1.2.3" }, versions: { "1.2.3": version } })
    )
  }
  if (request.url?.startsWith("/repo.git/info/refs") === true) {
    if (authorization === "") return void response.writeHead(401, { "www-authenticate": "Basic realm=x" }).end()
    response.setHeader("content-type", "application/x-git-upload-pack-advertisement")
    const flush = "0000"
    const line = `${"0".repeat(40)} capabilities^{}\0agent=x\n`
    const packet = (text: string): string => (text.length + 4).toString(16).padStart(4, "0") + text
    return void response.end(`${packet("# service=git-upload-pack\n")}${flush}${packet(line)}${flush}`)
  }
  // Sends back what it got, in a header, and in two pieces of the body.
  response.setHeader("x-echo", authorization)
  const half = Math.floor(authorization.length / 2)
  response.write(`got ${authorization.slice(0, half)}`)
  setTimeout(() => response.end(`${authorization.slice(half)} end\n`), 20)
}

beforeAll(async () => {
  process.env[variable] = secret
  outside = temporaryWorkspace({ token: `${fileSecret}\n` })
  server = createServer({ SNICallback: (name, done) => done(null, world.contextFor(name)) }, answer)
  server.on("tlsClientError", () => undefined)
  await once(server.listen(0, "127.0.0.1"), "listening")
  port = (server.address() as AddressInfo).port
})
afterAll(() => {
  delete process.env[variable]
  server.close()
  server.closeAllConnections()
  outside.remove()
})

type Make = (options: SandboxOptions) => Layer.Layer<Sandbox, never, Workspace | Processes>

const open = (make: Make, policy: Partial<NetworkConfig> = {}) => {
  const workspace = temporaryWorkspace()
  const events: Array<JournalEvent> = []
  const config: NetworkConfig = {
    allow: [`api.test:${port}`, `other.test:${port}`],
    ask: false,
    credentials: [{ variable: "API_TOKEN", hosts: [`api.test:${port}`], from: { env: variable } }],
    ...policy
  }
  const options = {
    state: workspace.state,
    readOnlyPaths: [dirname(process.execPath)],
    environment: [variable, "API_TOKEN"]
  }
  const runtime = ManagedRuntime.make(
    make(options).pipe(
      Layer.provideMerge(nodeProcesses),
      Layer.provide(
        Layer.mock(Workspace)({ root: workspace.root, roots: [], isSecret: () => false, secretFiles: () => [] })
      ),
      Layer.provide(networkPolicy(config).pipe(Layer.provide(Layer.merge(denyAll, memoryJournal(events))))),
      Layer.provide(Layer.succeed(NameResolver, async () => ["127.0.0.1"])),
      Layer.provide(Layer.succeed(TrustedAuthorities, () => [world.certificate]))
    )
  )
  const sh = async (code: string, request: SandboxRequest = { network: true }): Promise<string> => {
    let printed = ""
    const hear = (chunk: Uint8Array): void => void (printed += Buffer.from(chunk).toString())
    const env = { PATH: `/usr/local/bin:/usr/bin:/bin:${dirname(process.execPath)}` }
    await runtime.runPromise(
      Effect.gen(function* () {
        const { wrap } = yield* Sandbox
        const { run } = yield* Processes
        const command = { program: "bash", args: ["-c", code], directory: workspace.root, env }
        yield* run(yield* wrap(command, request), { onStdout: hear, onStderr: hear, timeoutMs: 60_000 })
      })
    )
    return printed
  }
  return {
    sh,
    events,
    workspace,
    [Symbol.asyncDispose]: async () => {
      await runtime.dispose()
      workspace.remove()
    }
  }
}

interface Case {
  readonly program: string
  readonly what: string
  readonly code: () => string
  readonly sends?: string
}

const basic = (text: string): string => Buffer.from(text).toString("base64")
const header = "Authorization: Bearer $API_TOKEN"
const cases: ReadonlyArray<Case> = [
  { program: "curl", what: "a proxy", code: () => `curl -sS -i -H "${header}" https://api.test:${port}/` },
  {
    program: "curl",
    what: "no proxy",
    code: () => `curl -sS --noproxy '*' -H "${header}" https://api.test:${port}/direct`
  },
  {
    program: "curl",
    what: "SOCKS 5",
    code: () => `curl -sS -x socks5h://127.0.0.1:3128 -H "${header}" https://api.test:${port}/socks`
  },
  {
    program: "curl",
    what: "a user and a password",
    code: () => `curl -sS -u "me:$API_TOKEN" https://api.test:${port}/basic`,
    sends: `Basic ${basic(`me:${secret}`)}`
  },
  { program: "wget", what: "a header", code: () => `wget -qO- --header="${header}" https://api.test:${port}/` },
  {
    program: "python3",
    what: "urllib",
    code: () =>
      `python3 -c "import os, urllib.request as r; print(r.urlopen(r.Request('https://api.test:${port}/', headers={'Authorization': 'Bearer ' + os.environ['API_TOKEN']})).read())"`
  },
  {
    program: "node",
    what: "fetch",
    code: () =>
      `node -e 'fetch("https://api.test:${port}/", { headers: { authorization: "Bearer " + process.env.API_TOKEN } }).then((r) => r.text()).then(console.log)'`
  },
  {
    program: "npm",
    what: "a registry",
    code: () =>
      `npm view pkg version --registry https://api.test:${port}/ "--//api.test:${port}/:_authToken=$API_TOKEN" 2>&1`
  },
  {
    program: "git",
    what: "a URL with a password",
    code: () => `git ls-remote "https://me:$API_TOKEN@api.test:${port}/repo.git" 2>&1; echo $?`,
    sends: `Basic ${basic(`me:${secret}`)}`
  }
]

const put = (make: Make, given: ReadonlyArray<Case>): void => {
  for (const { program, what, code, sends = `Bearer ${secret}` } of given) {
    it.runIf(systemProgram(program) !== undefined)(
      `${program}, ${what}: the server gets the value, and nobody else (not on this platform)`,
      async () => {
        received.length = 0
        await using opened = open(make)
        const printed = await opened.sh(`${code()}; env; cat /proc/*/environ`)
        expect(received.join("\n")).toContain(sends)
        for (const shown of [printed, JSON.stringify(opened.events)]) {
          expect(shown).not.toContain(secret)
          expect(shown).not.toContain(basic(`me:${secret}`))
        }
        expect(opened.events[0]).toMatchObject({ type: "connection_opened", host: "api.test", protocol: "brokered" })
      }
    )
  }

  it("puts the value into the named header of the named host, and nowhere else", async () => {
    await using opened = open(make)
    received.length = 0
    const printed = await opened.sh(
      [
        `curl -sSk -H "${header}" https://other.test:${port}/other-host`,
        `curl -sS -H "X-Other: $API_TOKEN" -d "$API_TOKEN" "https://api.test:${port}/$API_TOKEN"`,
        `curl -sS -H "${header}" -H "Host: other.test:${port}" https://api.test:${port}/fronted`,
        `curl -sSk -H "${header}" --connect-to other.test:${port}:api.test:${port} https://other.test:${port}/sni`,
        `curl -sS -H "${header}" http://api.test:${port}/plain`
      ].join("; ")
    )
    expect(received.join("\n")).not.toContain(secret)
    expect(received.map((line) => line.split(" ")[1]).filter((url) => /fronted|sni|plain/.test(url ?? ""))).toEqual([])
    expect(printed).toContain("the Host header names another host than the address")
  })

  it("speaks with no server whose certificate is not trusted", async () => {
    const hosts = [`stranger.test:${port}`]
    const credentials = [{ variable: "API_TOKEN", hosts, from: { env: variable } }]
    await using opened = open(make, { allow: hosts, credentials })
    received.length = 0
    const printed = await opened.sh(`curl -sS -H "${header}" https://stranger.test:${port}/`)
    expect(printed).toContain("can't be reached")
    expect(received).toEqual([])
  })

  it("refuses a host that the policy does not admit, though it has a credential", async () => {
    await using opened = open(make, { allow: [`other.test:${port}`] })
    received.length = 0
    expect(await opened.sh(`curl -sS -H "${header}" https://api.test:${port}/ 2>&1`)).toContain("403")
    expect(received).toEqual([])
  })

  it("reads a value from a file", async () => {
    const credentialFrom = (file: string) => [{ variable: "API_TOKEN", hosts: [`api.test:${port}`], from: { file } }]
    await using good = open(make, { credentials: credentialFrom(join(outside.root, "token")) })
    received.length = 0
    await good.sh(`curl -sS -H "${header}" https://api.test:${port}/`)
    expect(received.join("\n")).toContain(`Bearer ${fileSecret}`)
    await using bad = open(make, { credentials: credentialFrom("/nonexistent/token") })
    await expect(bad.sh("true")).rejects.toThrow("ENOENT")
  })

  it("passes the variable with the value on to no command, with network or without", async () => {
    await using opened = open(make)
    expect(await opened.sh("env")).not.toContain(secret)
    expect(await opened.sh("env", {})).not.toContain(secret)
    expect(await opened.sh('echo "${#API_TOKEN}"')).toBe(`${secret.length}\n`)
  })
}

describe.runIf(process.platform === "linux")("credential brokering: unshare (not on this platform)", () => {
  put(unshareSandbox, cases)

  it("refuses a file in the workspace", async () => {
    const shared = temporaryWorkspace()
    mkdirSync(join(shared.root, "run"), { recursive: true })
    writeFileSync(join(shared.root, "run/token"), fileSecret)
    const from = { file: join(shared.root, "run/token") }
    const make: Make = (options) => unshareSandbox({ ...options, readOnlyPaths: [shared.root] })
    await using opened = open(make, { credentials: [{ variable: "API_TOKEN", hosts: ["api.test"], from }] })
    await expect(opened.sh("true")).rejects.toThrow("is in a file that commands can read")
    shared.remove()
  })

  it("refuses a value that is too short", async () => {
    const from = { env: "HOME" }
    const home = process.env["HOME"]
    process.env["HOME"] = "/x"
    try {
      await using opened = open(unshareSandbox, { credentials: [{ variable: "API_TOKEN", hosts: ["api.test"], from }] })
      await expect(opened.sh("true")).rejects.toThrow("has no usable value: the variable HOME")
    } finally {
      process.env["HOME"] = home
    }
  })
})
describe.runIf(process.platform === "linux" && systemProgram("bwrap") !== undefined)(
  "credential brokering: bubblewrap (needs bwrap)",
  () => {
    put(
      bubblewrapSandbox,
      cases.filter(({ program }) => program === "wget" || program === "git")
    )
  }
)
