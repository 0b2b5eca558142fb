import { type ClusterStatus, membership, migrate, openDatabase, stateDocuments } from "@haft/cluster"
import type { StateFilesService } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
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

/** Connects to the database of a cluster without becoming a member. */
export const openAdministration = async (url: string): Promise<ClusterAdministration> => {
  const scope = await Effect.runPromise(Scope.make())
  const close = (): Promise<void> => Effect.runPromise(Scope.close(scope, Exit.void))
  try {
    const database = await Effect.runPromise(openDatabase({ url }).pipe(Scope.provide(scope)))
    await Effect.runPromise(migrate(database))
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
