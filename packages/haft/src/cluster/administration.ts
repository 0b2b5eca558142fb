import {
  type ClusterStatus,
  type DatabaseError,
  membership,
  migrate,
  openDatabase,
  type SchemaError,
  stateDocuments
} from "@haft/cluster"
import type { StateFilesService } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"

import { ConfigError } from "../config/config.ts"
import { type Sessions, sessionsIn } from "../workspace/sessions.ts"
import { type Tokens, tokensIn } from "../workspace/tokens.ts"

/** A cluster as its administrator sees it, from any machine that reaches the database. */
export interface ClusterAdministration {
  readonly status: () => Promise<ClusterStatus>
  /** False when there is no such workspace, or no such member that takes one. */
  readonly move: (workspace: string, address: string) => Promise<boolean>
  /** False when no member is active at the address. */
  readonly drain: (address: string) => Promise<boolean>
  /** The documents of the whole cluster, such as its tokens. */
  readonly documents: StateFilesService
  readonly tokens: Tokens
  readonly sessions: Sessions
  readonly close: () => Promise<void>
}

const retryMs = 500

export interface AdministrationOptions {
  /** Milliseconds to wait for a database that can't be reached yet; none by default. */
  readonly waitMs?: number
  /** Told once, when the wait begins. */
  readonly onWait?: (problem: string) => void
}

/** Connects to the database of a cluster without becoming a member. */
export const openAdministration = async (
  url: string,
  { waitMs = 0, onWait }: AdministrationOptions = {}
): Promise<ClusterAdministration> => {
  const scope = await Effect.runPromise(Scope.make())
  const close = (): Promise<void> => Effect.runPromise(Scope.close(scope, Exit.void))
  try {
    const database = await Effect.runPromise(openDatabase({ url }).pipe(Scope.provide(scope)))
    const deadline = performance.now() + waitMs
    let isWaiting = false
    const isStarting = (error: DatabaseError | SchemaError): boolean => {
      if (error._tag !== "DatabaseError" || !error.isUnreachable || performance.now() > deadline) return false
      if (!isWaiting) onWait?.(error.message)
      isWaiting = true
      return true
    }
    await Effect.runPromise(Effect.retry(migrate(database), { while: isStarting, schedule: Schedule.spaced(retryMs) }))
    const members = membership(database)
    const documents = stateDocuments(database, { scope: "", cacheMs: 1_000, staleMs: 6_000 })
    return {
      status: () => Effect.runPromise(members.status),
      move: (workspace, address) => Effect.runPromise(members.move(workspace, address)),
      drain: (address) => Effect.runPromise(members.drain(address)),
      documents,
      tokens: tokensIn(documents),
      sessions: await sessionsIn(documents),
      close
    }
  } catch (cause) {
    await close()
    throw new ConfigError(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}
