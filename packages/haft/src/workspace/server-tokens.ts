import { randomBytes } from "node:crypto"
import { join } from "node:path"

import { StateFiles } from "@haft/core"
import { fileState } from "@haft/node"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { ConfigError, type HaftConfig } from "../config/config.ts"
import { stateOf } from "../host/standard-host.ts"

/** The two tokens of a server: the agent's for calls, the approver's to decide what the agent may do. */
export interface ServerTokens {
  readonly agent: string
  readonly approver: string
  /** The file they are kept in, which only its owner can read. */
  readonly file: string
}

const document = "server-tokens.json"
const Stored = z.object({ agent: z.string().min(1), approver: z.string().min(1) })

/** 256 bits from the system's source of randomness. */
export const makeToken = (): string => randomBytes(32).toString("base64url")

/** The tokens of a server on this workspace: made at its first start, and kept for the next. */
export const serverTokens = async (
  config: HaftConfig,
  { agent }: { readonly agent?: string } = {}
): Promise<ServerTokens> => {
  const directory = await Effect.runPromise(stateOf(config))
  const file = join(directory, document)
  const tokens = await Effect.runPromise(
    StateFiles.use((state) =>
      state.exclusively(
        document,
        Effect.gen(function* () {
          const stored = storedIn(yield* state.read(document), file)
          const tokens = {
            agent: agent ?? stored?.agent ?? makeToken(),
            approver: stored?.approver ?? makeToken()
          }
          if (tokens.agent === tokens.approver) return yield* Effect.die(sameToken())
          yield* state.write(document, new TextEncoder().encode(`${JSON.stringify(tokens, null, 2)}\n`))
          return tokens
        })
      )
    ).pipe(Effect.provide(fileState({ directory })))
  )
  return { ...tokens, file }
}

const sameToken = (): ConfigError =>
  new ConfigError("the agent's token must not be the approver's: an agent would approve its own calls")

const storedIn = (content: Uint8Array | undefined, file: string): z.output<typeof Stored> | undefined => {
  if (content === undefined) return undefined
  try {
    return Stored.parse(JSON.parse(new TextDecoder().decode(content)))
  } catch {
    throw new ConfigError(`${file} does not hold the server's tokens; remove it, and new ones are made`)
  }
}
