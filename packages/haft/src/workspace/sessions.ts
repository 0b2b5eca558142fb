import { StateFiles } from "@haft/core"
import { fileState } from "@haft/node"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { ConfigError, type HaftConfig } from "../config/config.ts"
import { stateOf } from "../host/standard-host.ts"
import { tokenRoles } from "./tokens.ts"

const sha256 = z.string().regex(/^[\da-f]{64}$/)

const Session = z.strictObject({
  /** SHA-256 of the cookie. */
  id: sha256,
  /** SHA-256 of the key that the console keeps. */
  key: sha256,
  name: z.string(),
  role: z.enum(tokenRoles),
  workspaces: z.array(z.string()).optional(),
  /** The stored token that the session ends with. */
  token: z.string().optional(),
  /** Key of the grant that admitted a person who signed in by an OpenID provider. */
  grant: z.string().optional(),
  /** Milliseconds since the epoch. */
  validUntil: z.number()
})

/** A browser's session, by hashes of its secrets. */
export type StoredSession = Readonly<z.output<typeof Session>>

/** Browser sessions of a server, kept over restarts. */
export interface Sessions {
  /** Sessions that are not over. */
  readonly list: () => Promise<ReadonlyArray<StoredSession>>
  readonly add: (session: StoredSession) => Promise<void>
  readonly remove: (id: string) => Promise<void>
}

const document = "sessions.json"
const SessionFile = z.strictObject({ version: z.literal(1), sessions: z.array(Session) })

/** The browser sessions of the server whose default workspace this is. */
export const openSessions = async (config: HaftConfig = {}): Promise<Sessions> => {
  const directory = await Effect.runPromise(stateOf(config))
  const files = await Effect.runPromise(StateFiles.pipe(Effect.provide(fileState({ directory }))))
  const read = Effect.map(files.read(document), (content) =>
    parsed(content).filter(({ validUntil }) => Date.now() < validUntil)
  )
  // Now, so that a damaged file stops the server from starting instead of failing every request.
  await Effect.runPromise(read)
  const change = (edit: (sessions: ReadonlyArray<StoredSession>) => ReadonlyArray<StoredSession>): Promise<void> =>
    Effect.runPromise(
      files.exclusively(
        document,
        Effect.flatMap(read, (sessions) => {
          const content = `${JSON.stringify({ version: 1, sessions: edit(sessions) }, null, 2)}\n`
          return Effect.asVoid(files.write(document, new TextEncoder().encode(content)))
        })
      )
    )
  return {
    list: () => Effect.runPromise(read),
    add: (session) => change((sessions) => [...sessions, session]),
    remove: (id) => change((sessions) => sessions.filter((session) => session.id !== id))
  }
}

const parsed = (content: Uint8Array | undefined): ReadonlyArray<StoredSession> => {
  if (content === undefined) return []
  try {
    return SessionFile.parse(JSON.parse(new TextDecoder().decode(content))).sessions
  } catch (cause) {
    throw new ConfigError(`${document} in the state directory can't be read; remove it, and sign in again`, { cause })
  }
}
