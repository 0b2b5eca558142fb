import { createHash, randomBytes, randomUUID } from "node:crypto"

import { StateFiles, type StateFilesService } from "@haft/core"
import { plainIssues } from "@haft/core/internal"
import { fileState } from "@haft/node"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { ConfigError, type HaftConfig } from "../config/config.ts"
import { stateOf } from "../host/standard-host.ts"

/** Role of a token: an agent calls tools, an approver also decides and reads the audit log, an admin also makes tokens. */
export const tokenRoles = ["agent", "approver", "admin"] as const
export type TokenRole = (typeof tokenRoles)[number]

const Token = z.strictObject({
  id: z.string(),
  name: z.string().regex(/^[\w.@-]{1,64}$/, "a name is made of letters, digits, and . _ - @"),
  role: z.enum(tokenRoles),
  workspaces: z.array(z.string().min(1)).min(1).optional().describe("Names of workspaces; all when absent."),
  created: z.iso.datetime(),
  expires: z.iso.datetime({ offset: true }).optional(),
  revoked: z.iso.datetime().optional()
})

/** A token without its secret. */
export type TokenInfo = Readonly<z.output<typeof Token>>

const TokenFile = z.strictObject({
  version: z.literal(1),
  tokens: z.array(Token.extend({ sha256: z.string().regex(/^[\da-f]{64}$/) }))
})
type StoredToken = z.output<typeof TokenFile>["tokens"][number]

export interface NewToken {
  readonly name: string
  readonly role: TokenRole
  /** All when absent. */
  readonly workspaces?: ReadonlyArray<string>
  /** ISO 8601; never when absent. */
  readonly expires?: string
  /** Made when absent. */
  readonly secret?: string
}

/** The tokens of a server. Their secrets are stored as SHA-256 only. */
export interface Tokens {
  /** Stores a token. The secret is returned this once. */
  readonly create: (token: NewToken) => Promise<{ readonly secret: string; readonly token: TokenInfo }>
  /** All tokens, also those that are revoked or have expired. */
  readonly list: () => Promise<ReadonlyArray<TokenInfo>>
  /** False when no token in force has this name or id. */
  readonly revoke: (name: string) => Promise<boolean>
  /** The token in force with this secret. Sees at once what another process has created or revoked. */
  readonly find: (secret: string) => Promise<TokenInfo | undefined>
  /** Tests whether a token is in force. */
  readonly isInForce: (id: string) => Promise<boolean>
}

const document = "tokens.json"

/** 256 bits from the system's source of randomness. */
export const makeToken = (): string => randomBytes(32).toString("base64url")

/** Refuses a secret that could be guessed: one with fewer than 128 bits by its length and the kinds of its characters. */
export const requireStrongToken = (secret: string): void => {
  const isStrong =
    /^[!-~]{16,512}$/.test(secret) &&
    secret.length * bitsOfCharacter(secret) >= 128 &&
    new Set(secret).size >= 8 &&
    !isRepeated(secret)
  if (isStrong) return
  throw new ConfigError(
    "this token is too weak: it needs 128 bits, such as 32 random hexadecimal digits or 22 random letters and digits, and " +
      "no more than 512 visible ASCII characters. Make one with `haft token create`, or with `openssl rand -hex 16`"
  )
}

/** Bits of a random character: of a digit, of a hexadecimal digit, of a letter, or of one of several kinds. */
const bitsOfCharacter = (secret: string): number => {
  if (/^[0-9]+$/.test(secret)) return Math.log2(10)
  if (/^(?:[0-9a-f]+|[0-9A-F]+)$/.test(secret)) return 4
  return Math.log2(/^(?:[a-z]+|[A-Z]+)$/.test(secret) ? 26 : 62)
}

/** True for a text that is the same part three times or more. */
const isRepeated = (secret: string): boolean => (secret + secret).indexOf(secret, 1) <= secret.length / 3

/** The tokens of the server whose default workspace this is. */
export const openTokens = async (config: HaftConfig = {}): Promise<Tokens> => {
  const directory = await Effect.runPromise(stateOf(config))
  const files = await Effect.runPromise(StateFiles.pipe(Effect.provide(fileState({ directory }))))
  return tokensIn(files)
}

/** Tokens in a store of documents. */
export const tokensIn = (files: StateFilesService): Tokens => {
  let known: { readonly version: string; readonly tokens: ReadonlyArray<StoredToken> } | undefined
  const current = Effect.gen(function* () {
    const version = yield* files.version(document)
    if (known?.version !== version) known = { version, tokens: parsed(yield* files.read(document)) }
    return known.tokens
  })
  const change = <A>(edit: (tokens: ReadonlyArray<StoredToken>) => readonly [ReadonlyArray<StoredToken>, A]) =>
    Effect.runPromise(
      files.exclusively(
        document,
        Effect.gen(function* () {
          const [tokens, answer] = edit(yield* current)
          const content = `${JSON.stringify({ version: 1, tokens }, null, 2)}\n`
          known = { version: yield* files.write(document, new TextEncoder().encode(content)), tokens }
          return answer
        })
      )
    )
  return {
    create: async ({ secret = makeToken(), name, role, workspaces, expires }) => {
      requireStrongToken(secret)
      const token = checked({
        id: randomUUID(),
        name,
        role,
        ...(workspaces !== undefined && { workspaces: [...workspaces] }),
        created: new Date().toISOString(),
        ...(expires !== undefined && { expires })
      })
      const sha256 = hashOf(secret)
      await change((tokens) => {
        if (tokens.some((other) => isInForce(other) && other.name === name)) {
          throw new ConfigError(`there is a token '${name}' already; revoke it, or choose another name`)
        }
        if (tokens.some((other) => other.sha256 === sha256))
          throw new ConfigError("this token is in use or was revoked; choose another")
        return [[...tokens, { ...token, sha256 }], undefined]
      })
      return { secret, token }
    },
    list: async () => (await Effect.runPromise(current)).map(withoutSecret),
    revoke: (name) =>
      change((tokens) => {
        const found = tokens.find((token) => isInForce(token) && (token.name === name || token.id === name))
        const revoked = new Date().toISOString()
        return [tokens.map((token) => (token === found ? { ...token, revoked } : token)), found !== undefined]
      }),
    // By hash, so that the time it takes tells nothing about the secrets that are stored.
    find: async (secret) => {
      const sha256 = hashOf(secret)
      const found = (await Effect.runPromise(current)).find((token) => token.sha256 === sha256)
      return found !== undefined && isInForce(found) ? withoutSecret(found) : undefined
    },
    isInForce: async (id) => (await Effect.runPromise(current)).some((token) => token.id === id && isInForce(token))
  }
}

const isInForce = ({ revoked, expires }: TokenInfo): boolean =>
  revoked === undefined && (expires === undefined || Date.now() < Date.parse(expires))

const withoutSecret = ({ sha256: _sha256, ...token }: StoredToken): TokenInfo => token

const hashOf = (secret: string): string => createHash("sha256").update(secret).digest("hex")

const checked = (token: TokenInfo): TokenInfo => {
  const result = Token.safeParse(token)
  if (result.success) return result.data
  const [issue] = plainIssues(result.error)
  throw new ConfigError(`this is not a token: ${issue?.path.join(".")}: ${issue?.message}`)
}

const parsed = (content: Uint8Array | undefined): ReadonlyArray<StoredToken> => {
  if (content === undefined) return []
  try {
    return TokenFile.parse(JSON.parse(new TextDecoder().decode(content))).tokens
  } catch (cause) {
    throw new ConfigError(`${document} in the state directory can't be read, so no token is known`, { cause })
  }
}
