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
  /** Starts a second server that replicates this one synchronously, and that can take its place. */
  readonly startStandby: () => Promise<TestStandby>
  /** Stops the server and removes its files. */
  readonly remove: () => Promise<void>
}

/** A replica of a PostgreSQL server. */
export interface TestStandby {
  readonly port: number
  /** Makes it take writes, after the first server is gone. */
  readonly promote: () => Promise<void>
  readonly remove: () => Promise<void>
}

/** The directory of PostgreSQL's programs: on the PATH, or where Debian puts the newest version; undefined without one. */
export const findPostgres = (): string | undefined => {
  const onPath = (process.env["PATH"] ?? "").split(":")
  const versions = "/usr/lib/postgresql"
  const newest = existsSync(versions)
    ? readdirSync(versions).toSorted((one, other) => Number(other) - Number(one))[0]
    : undefined
  return [...onPath, join(versions, newest ?? "", "bin")].find((directory) =>
    ["initdb", "postgres", "pg_basebackup"].every((program) => existsSync(join(directory, program)))
  )
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
  const url = urlOf(port)
  const run = (from: string, at: number, more: ReadonlyArray<string> = []): ChildProcess => {
    const settings = [`port=${at}`, "listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=200"]
    const flags = [...settings, ...more].flatMap((one) => ["-c", one])
    return spawn(join(programs, "postgres"), ["-D", from, ...flags], { ...account, cwd: directory, stdio: "ignore" })
  }
  let server: ChildProcess | undefined
  const start = async (): Promise<void> => {
    server = run(data, port)
    await untilReady(url)
  }
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const running = server
    server = undefined
    await ended(running, signal)
  }
  await start()
  let count = 0
  return {
    url,
    newDatabase: async () => {
      const name = `test_${++count}`
      await query(url, `CREATE DATABASE ${name}`)
      return url.replace(/\/postgres$/, `/${name}`)
    },
    // The postmaster's immediate shutdown is a crash for the data directory: it recovers at the next start.
    kill: () => end("SIGQUIT"),
    stop: () => end("SIGINT"),
    start,
    signal: (signal) => void server?.kill(signal),
    startStandby: async () => {
      const [standbyPort, replica] = [await freePort(), join(directory, "standby")]
      const flags = ["-h", "127.0.0.1", "-p", String(port), "-U", "haft", "-D", replica, "-R", "-c", "fast"]
      const copied = spawnSync(join(programs, "pg_basebackup"), flags, { ...account, cwd: directory, encoding: "utf8" })
      if (copied.status !== 0) throw new Error(`pg_basebackup failed: ${copied.stderr}`)
      const standby = run(replica, standbyPort, ["hot_standby=on"])
      await untilReady(urlOf(standbyPort))
      // From now on a commit counts only when the standby has it, too.
      await query(url, "ALTER SYSTEM SET synchronous_standby_names = '*'")
      await query(url, "SELECT pg_reload_conf()")
      return {
        port: standbyPort,
        promote: () => query(urlOf(standbyPort), "SELECT pg_promote()"),
        remove: () => ended(standby, "SIGQUIT")
      }
    },
    remove: async () => {
      await end("SIGQUIT")
      rmSync(directory, { recursive: true, force: true })
    }
  }
}

const urlOf = (port: number): string => `postgres://haft@127.0.0.1:${port}/postgres`

const query = async (url: string, statement: string): Promise<void> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(statement)
  await client.end()
}

const ended = async (running: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> => {
  if (running === undefined || running.exitCode !== null) return
  const exited = new Promise((resolve) => running.once("exit", resolve))
  running.kill("SIGCONT")
  running.kill(signal)
  await exited
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
