import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

import { Client } from "pg"

import { freePort } from "./free-port.ts"

/** A PostgreSQL server of its own on loopback, for tests. */
export interface TestPostgres {
  readonly url: string
  /** The URL of a new, empty database on the server. */
  readonly newDatabase: () => Promise<string>
  /** Ends the server at once, as a crash would. */
  readonly kill: () => Promise<void>
  /** Stops the server, with connections that are open. */
  readonly stop: () => Promise<void>
  readonly start: () => Promise<void>
  /** Freezes the server, as a machine that is too busy would be. */
  readonly signal: (signal: "SIGSTOP" | "SIGCONT") => void
  /** Stops the server and removes its files. */
  readonly remove: () => Promise<void>
}

/** The directory of PostgreSQL's programs: on the PATH, or where Debian puts the newest version; undefined without one. */
export const findPostgres = (): string | undefined => {
  const onPath = (process.env["PATH"] ?? "").split(":").find((directory) => existsSync(join(directory, "initdb")))
  if (onPath !== undefined) return onPath
  const versions = "/usr/lib/postgresql"
  const newest = existsSync(versions)
    ? readdirSync(versions).toSorted((one, other) => Number(other) - Number(one))[0]
    : undefined
  return newest === undefined ? undefined : join(versions, newest, "bin")
}

/** Starts a PostgreSQL server on a free port of loopback, with a data directory of its own. */
export const startPostgres = async (): Promise<TestPostgres> => {
  const programs = findPostgres()
  if (programs === undefined)
    throw new Error("PostgreSQL is not installed: no initdb on the PATH or in /usr/lib/postgresql")
  const directory = mkdtempSync(join(tmpdir(), "haft-postgres-"))
  // PostgreSQL refuses to run as root.
  const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  if (account.uid !== undefined) chownSync(directory, account.uid, account.gid)
  const data = join(directory, "data")
  const made = spawnSync(
    join(programs, "initdb"),
    ["-D", data, "-U", "haft", "-A", "trust", "-E", "UTF8", "--no-sync"],
    {
      ...account,
      cwd: directory,
      encoding: "utf8"
    }
  )
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`)
  const port = await freePort()
  const url = `postgres://haft@127.0.0.1:${port}/postgres`
  let server: ChildProcess | undefined

  const start = async (): Promise<void> => {
    const settings = [`port=${port}`, "listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=200"]
    server = spawn(join(programs, "postgres"), ["-D", data, ...settings.flatMap((one) => ["-c", one])], {
      ...account,
      cwd: directory,
      stdio: "ignore"
    })
    await untilReady(url)
  }
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const running = server
    server = undefined
    if (running === undefined || running.exitCode !== null) return
    const ended = new Promise((resolve) => running.once("exit", resolve))
    running.kill("SIGCONT")
    running.kill(signal)
    await ended
  }
  await start()
  let count = 0
  return {
    url,
    newDatabase: async () => {
      const name = `test_${++count}`
      const client = new Client({ connectionString: url })
      await client.connect()
      await client.query(`CREATE DATABASE ${name}`)
      await client.end()
      return url.replace(/\/postgres$/, `/${name}`)
    },
    // The postmaster's immediate shutdown is a crash for the data directory: it recovers at the next start.
    kill: () => end("SIGQUIT"),
    stop: () => end("SIGINT"),
    start,
    signal: (signal) => void server?.kill(signal),
    remove: async () => {
      await end("SIGQUIT")
      rmSync(directory, { recursive: true, force: true })
    }
  }
}

const untilReady = async (url: string): Promise<void> => {
  const deadline = Date.now() + 60_000
  for (;;) {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
    client.on("error", () => {})
    try {
      await client.connect()
      await client.query("SELECT 1")
      await client.end()
      return
    } catch (error) {
      await client.end().catch(() => {})
      if (Date.now() > deadline) throw error
      await sleep(50)
    }
  }
}
