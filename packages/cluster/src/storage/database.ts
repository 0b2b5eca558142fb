import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { Client, type ClientConfig, DatabaseError as ServerError, Pool, type PoolClient } from "pg"

/** Why a statement failed. */
export class DatabaseError extends Data.TaggedError("DatabaseError")<{
  readonly problem: string
  /** SQLSTATE, where the server answered. */
  readonly state?: string
  /** True when the connection ended before the answer: the statement may have been executed. */
  readonly isUncertain: boolean
}> {
  override get message(): string {
    return `the cluster's database ${this.problem}`
  }
  /** True where the server did not answer, or said that it is starting. */
  get isUnreachable(): boolean {
    return this.state === undefined || this.state === "57P03"
  }
}

export type Query = <Row extends object>(
  text: string,
  values?: ReadonlyArray<unknown>
) => Effect.Effect<ReadonlyArray<Row>, DatabaseError>

/** A pool of connections to PostgreSQL. Every wait has a limit, so no statement hangs. */
export interface Database {
  /** Executes one statement, as a transaction of its own. */
  readonly query: Query
  /** Executes several statements as one transaction. */
  readonly transaction: <A, E>(use: (query: Query) => Effect.Effect<A, E>) => Effect.Effect<A, E | DatabaseError>
  /** Calls back for each notification on the channel, and after each time the connection was lost; until the scope ends. */
  readonly listen: (channel: string, onNotified: () => void) => Effect.Effect<void, never, Scope.Scope>
}

export interface DatabaseOptions {
  /** `postgres://user:password@host:port/name?sslmode=…` */
  readonly url: string
  /** Milliseconds until a connection or a statement is given up. */
  readonly timeoutMs?: number
  readonly connections?: number
}

const standardTimeoutMs = 5_000
const reconnectMs = 1_000

/** Connects to a database. It is closed with the scope. */
export const openDatabase = (options: DatabaseOptions): Effect.Effect<Database, DatabaseError, Scope.Scope> => {
  const { url, timeoutMs = standardTimeoutMs, connections = 8 } = options
  const connection = {
    connectionString: url,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
    statement_timeout: timeoutMs,
    application_name: "haft",
    keepAlive: true
  }
  return Effect.gen(function* () {
    const pool = yield* Effect.acquireRelease(
      Effect.try({
        try: () => {
          const made = new Pool({ ...connection, max: connections, idleTimeoutMillis: 30_000 })
          // An idle connection that ends is replaced by the next statement.
          made.on("error", () => {})
          made.on("connect", (client) => client.on("error", () => {}))
          return made
        },
        catch: (cause) => failure(cause, false)
      }),
      (made) => Effect.promise(() => made.end().catch(() => {}))
    )
    const acquired = Effect.acquireRelease(
      Effect.tryPromise({ try: () => pool.connect(), catch: (cause) => failure(cause, false) }).pipe(
        Effect.map((client) => ({ client, isBroken: false }))
      ),
      ({ client, isBroken }) => Effect.sync(() => client.release(isBroken))
    )
    const database: Database = {
      query: <Row extends object>(text: string, values?: ReadonlyArray<unknown>) =>
        Effect.scoped(Effect.flatMap(acquired, (held) => queryOn(held)<Row>(text, values))).pipe(
          Effect.uninterruptible
        ),
      transaction: (use) =>
        Effect.scoped(
          Effect.gen(function* () {
            const held = yield* acquired
            const query = queryOn(held)
            yield* query("BEGIN")
            const done = yield* use(query).pipe(Effect.onError(() => Effect.ignore(query("ROLLBACK"))))
            yield* query("COMMIT")
            return done
          })
        ).pipe(Effect.uninterruptible),
      listen: (channel, onNotified) =>
        Effect.forkScoped(
          Effect.forever(
            listenOnce(connection, channel, onNotified).pipe(
              Effect.ignore,
              Effect.andThen(Effect.sync(onNotified)),
              Effect.andThen(Effect.sleep(reconnectMs))
            )
          )
        ).pipe(Effect.asVoid)
    }
    return database
  })
}

/** Listens until the connection ends. */
const listenOnce = (connection: ClientConfig, channel: string, onNotified: () => void) =>
  Effect.scoped(
    Effect.gen(function* () {
      const client = yield* Effect.acquireRelease(
        Effect.sync(() => new Client({ ...connection, query_timeout: 0, statement_timeout: 0 })),
        (made) => Effect.promise(() => made.end().catch(() => {}))
      )
      const ended = Effect.callback<void>((resume) => {
        client.on("error", () => resume(Effect.void))
        client.on("end", () => resume(Effect.void))
      })
      client.on("error", () => {})
      client.on("notification", onNotified)
      yield* Effect.tryPromise(() => client.connect())
      yield* Effect.tryPromise(() => client.query(`LISTEN ${channel}`))
      yield* ended
    })
  )

const queryOn =
  (held: { readonly client: PoolClient; isBroken: boolean }): Query =>
  (text, values = []) =>
    Effect.tryPromise({
      try: async () => (await held.client.query(text, [...values])).rows,
      catch: (cause) => {
        const error = failure(cause, true)
        held.isBroken ||= error.state === undefined || error.isUncertain
        return error
      }
    })

// A server that shuts down says so with a state, but may have committed before.
const uncertainStates = /^(?:08|57P)/

const failure = (cause: unknown, wasSent: boolean): DatabaseError => {
  const message = cause instanceof Error ? cause.message : String(cause)
  const code = cause instanceof ServerError ? cause.code : undefined
  return new DatabaseError({
    problem: code === undefined ? `can't be reached: ${message || "no connection"}` : `refused a statement: ${message}`,
    isUncertain: wasSent && (code === undefined || uncertainStates.test(code)),
    ...(code !== undefined && { state: code })
  })
}
