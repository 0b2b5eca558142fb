import { StateFiles, type StateFilesService } from "@haft/core"
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

/** Browser sessions of a server. Those that are over are not found. */
export interface Sessions {
  /** The session with this id. Sees at once what another process has added. */
  readonly find: (id: string) => Promise<StoredSession | undefined>
  readonly add: (session: StoredSession) => Promise<void>
  readonly remove: (id: string) => Promise<void>
}

const document = "sessions.json"
const SessionFile = z.strictObject({ version: z.literal(1), sessions: z.array(Session) })

/** The browser sessions of the server whose default workspace this is, kept over restarts. */
export const openSessions = async (config: HaftConfig = {}): Promise<Sessions> => {
  const directory = await Effect.runPromise(stateOf(config))
  return sessionsIn(await Effect.runPromise(StateFiles.pipe(Effect.provide(fileState({ directory })))))
}

/** Sessions in a store of documents. Rejects where its content is damaged, before any request depends on it. */
export const sessionsIn = async (files: StateFilesService): Promise<Sessions> => {
  let known: { readonly version: string; readonly sessions: ReadonlyMap<string, StoredSession> } | undefined
  const load = (version: string) =>
    Effect.map(files.read(document), (content) => {
      known = { version, sessions: new Map(parsed(content).map((session) => [session.id, session])) }
      return known.sessions
    })
  const current = Effect.flatMap(files.version(document), (version) =>
    known?.version === version ? Effect.succeed(known.sessions) : load(version)
  )
  const change = (edit: (sessions: ReadonlyArray<StoredSession>) => ReadonlyArray<StoredSession>): Promise<void> =>
    Effect.runPromise(
      files.exclusively(
        document,
        Effect.flatMap(current, (sessions) => {
          const content = `${JSON.stringify({ version: 1, sessions: edit([...sessions.values()].filter((one) => isValid(one))) }, null, 2)}\n`
          return Effect.asVoid(files.write(document, new TextEncoder().encode(content)))
        })
      )
    )
  await Effect.runPromise(current)
  return {
    find: async (id) => {
      const found = (await Effect.runPromise(current)).get(id)
      // A version may count as current for a moment, and the browser of a new session goes to another member at once.
      const session = found ?? (await Effect.runPromise(load(known?.version ?? ""))).get(id)
      return session !== undefined && isValid(session) ? session : undefined
    },
    add: (session) => change((sessions) => [...sessions, session]),
    remove: (id) => change((sessions) => sessions.filter((session) => session.id !== id))
  }
}

/** Sessions that end with the process. */
export const sessionsInMemory = (now: () => number = Date.now): Sessions => {
  const sessions = new Map<string, StoredSession>()
  return {
    find: async (id) => {
      const session = sessions.get(id)
      return session !== undefined && isValid(session, now()) ? session : undefined
    },
    add: async (session) => {
      for (const [id, old] of sessions) if (!isValid(old, now())) sessions.delete(id)
      sessions.set(session.id, session)
    },
    remove: async (id) => void sessions.delete(id)
  }
}

const isValid = ({ validUntil }: StoredSession, now = Date.now()): boolean => now < validUntil

const parsed = (content: Uint8Array | undefined): ReadonlyArray<StoredSession> => {
  if (content === undefined) return []
  try {
    return SessionFile.parse(JSON.parse(new TextDecoder().decode(content))).sessions
  } catch (cause) {
    throw new ConfigError(`${document} in the state directory can't be read; remove it, and sign in again`, { cause })
  }
}
