// node cluster-member.ts OPTIONS: a member of a cluster that runs until SIGTERM, or until its parent process disconnects.
import { join } from "node:path"

import { serveHaft } from "@haft/server"
import type { HaftConfig } from "haft/internal"

import { type MemberSetting, memberTokens } from "./member-tokens.ts"

const { database, address, directory, seed, workspaces, leaseMs, host, skewMs } = JSON.parse(
  process.argv[2] ?? "{}"
) as MemberSetting
const clock = Date.now
Date.now = () => clock() + skewMs
const config: HaftConfig = { root: seed, approval: "all", sandbox: "none", packages: ["fs", "exec"] }
const server = await serveHaft({
  workspaces: Object.fromEntries(
    workspaces.map((name) => [name, { ...config, state: join(directory, "unused", name) }])
  ),
  cluster: { database, address, directory, leaseMs, secret: "secret-of-the-stress-test", plaintext: true },
  tokens: memberTokens,
  version: "0.0.0",
  host,
  port: 0,
  onDefect: (error) => console.error(error)
})
process.send?.({ url: server.url })
const stop = (): void => void server.stop().then(() => process.exit(0))
process.once("SIGTERM", stop)
process.once("disconnect", stop)
