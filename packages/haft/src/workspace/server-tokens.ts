import { join } from "node:path"

import { StateFiles, type StateFilesService } from "@haft/core"
import { fileState } from "@haft/node"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { ConfigError, type HaftConfig } from "../config/config.ts"
import { stateOf } from "../host/standard-host.ts"
import { makeToken, requireStrongToken, tokensIn, type Tokens } from "./tokens.ts"

const document = "server-tokens.json"
const Secrets = z.object({ agent: z.string().min(1).optional(), approver: z.string().min(1).optional() })

/** The tokens of a server, and the file that holds the secrets of its first two. */
export interface ServerTokens {
  /** The agent's token for this start, where one was given: it is not stored. */
  readonly agent?: string
  readonly store: Tokens
  /** Readable by its owner alone. It may be removed: the server needs the hashes only. */
  readonly file: string
  /** Content of the file. */
  readonly secrets: Readonly<z.output<typeof Secrets>>
}

/** The tokens of a server on this workspace. At its first start one for an agent and one for an approver are made. */
export const serverTokens = async (
  config: HaftConfig,
  { agent, documents }: { readonly agent?: string; readonly documents?: StateFilesService } = {}
): Promise<ServerTokens> => {
  if (agent !== undefined) requireStrongToken(agent)
  const directory = await Effect.runPromise(stateOf(config))
  const file = join(directory, document)
  // A cluster shares the hashes of its tokens; secrets stay with the member that made them.
  const files = await Effect.runPromise(StateFiles.pipe(Effect.provide(fileState({ directory }))))
  const store = tokensIn(documents ?? files)
  const known = await store.list()
  const secrets = { ...secretsIn(await Effect.runPromise(files.read(document)), file) }
  let isChanged = false
  for (const role of ["agent", "approver"] as const) {
    // One that was revoked stays so; one that is given takes the place of the first.
    if (known.some(({ name }) => name === role) || (role === "agent" && agent !== undefined)) continue
    const secret = secrets[role] ?? makeToken()
    const isMade = await store.create({ name: role, role, secret }).then(
      () => true,
      async (error: unknown) => {
        // Another member, which started at the same time, was first.
        if (documents !== undefined && (await store.list()).some(({ name }) => name === role)) return false
        throw error
      }
    )
    if (!isMade) continue
    secrets[role] = secret
    isChanged = true
  }
  if (isChanged) {
    const content = new TextEncoder().encode(`${JSON.stringify(secrets, null, 2)}\n`)
    await Effect.runPromise(files.write(document, content))
  }
  if (agent !== undefined && ((await store.find(agent))?.role ?? "agent") !== "agent") {
    throw new ConfigError("the agent's token must not be the approver's: an agent would approve its own calls")
  }
  return { ...(agent !== undefined && { agent }), store, file, secrets }
}

const secretsIn = (content: Uint8Array | undefined, file: string): z.output<typeof Secrets> => {
  if (content === undefined) return {}
  try {
    return Secrets.parse(JSON.parse(new TextDecoder().decode(content)))
  } catch {
    throw new ConfigError(`${file} does not hold the server's tokens; remove it, and make new ones: haft token create`)
  }
}
