import type { NewToken, TokenInfo, TokenRole, Tokens } from "haft/internal"

import { type Subcommand, type Given, UsageError } from "../command.ts"
import { configOf } from "../host.ts"
import { table } from "../table.ts"
import { note, print, printJson } from "../terminal.ts"

export const token: Subcommand = {
  name: "token",
  summary: "tokens of `haft serve`: who may call, who may approve, for which workspaces and how long",
  takes: "list | create NAME | revoke NAME",
  atMost: 2,
  subcommands: ["list", "create", "revoke"],
  options: {
    role: {
      value: "ROLE",
      describe: "create: agent calls tools, approver also decides, admin also makes tokens (agent)",
      choices: ["agent", "approver", "admin"]
    },
    workspaces: { value: "NAMES", describe: "create: the workspaces it is for, with commas between (all)" },
    expires: { value: "WHEN", describe: "create: 12h, 30d, or a time as ISO 8601 (never)" },
    cluster: {
      value: "URL",
      describe: "tokens of the cluster with this database (cluster.database of the configuration)"
    }
  },
  examples: [
    "haft token create ci --expires 30d",
    "haft token create alice --role approver --workspaces default,docs",
    "haft token list",
    "haft token revoke ci",
    "haft token create carol --role admin --cluster postgres://haft@db.internal/haft"
  ],
  run: async (given) => {
    const [verb = "list", name] = given.positionals
    if (verb === "list") return withTokens(given, (tokens) => list(tokens, given))
    if (verb !== "create" && verb !== "revoke") {
      throw new UsageError(`unknown subcommand '${verb}'; expected list, create or revoke`)
    }
    if (name === undefined) throw new UsageError(`missing name. Usage: haft token ${verb} NAME`)
    return withTokens(given, (tokens) => (verb === "create" ? create : revoke)(tokens, name, given))
  }
}

/** Uses the tokens of the cluster where there is one, and those of this machine's server otherwise. */
const withTokens = async (given: Given, use: (tokens: Tokens) => Promise<number>): Promise<number> => {
  const { config } = await configOf(given)
  const database = given.value("cluster") ?? config.cluster?.database
  if (database === undefined) return use(await (await import("haft/internal")).openTokens(config))
  const administration = await (await import("haft/cluster")).openAdministration(database)
  try {
    return await use(administration.tokens)
  } finally {
    await administration.close()
  }
}

const list = async (tokens: Tokens, given: Given): Promise<number> => {
  const all = await tokens.list()
  if (given.has("json")) printJson(all)
  else if (all.length === 0) print("No tokens. The first start of haft serve makes two.")
  else print(table([["NAME", "ROLE", "WORKSPACES", "STATE"], ...all.map(row)]))
  return 0
}

const row = (token: TokenInfo): Array<string> => [
  token.name,
  token.role,
  token.workspaces?.join(", ") ?? "all",
  stateOf(token)
]

const stateOf = ({ expires, revoked }: TokenInfo): string => {
  if (revoked !== undefined) return `revoked ${revoked}`
  if (expires === undefined) return "in force"
  return `${Date.parse(expires) <= Date.now() ? "expired" : "until"} ${expires}`
}

const create = async (tokens: Tokens, name: string, given: Given): Promise<number> => {
  const workspaces = given.value("workspaces")?.split(",")
  const expires = given.value("expires")
  const wanted: NewToken = {
    name,
    role: (given.value("role") ?? "agent") as TokenRole,
    ...(workspaces !== undefined && { workspaces }),
    ...(expires !== undefined && { expires: timeOf(expires) })
  }
  const { secret, token } = await tokens.create(wanted)
  if (given.has("json")) printJson({ ...token, token: secret })
  else {
    print(secret)
    note(`haft: this is the only time that the token of ${name} is shown; only its hash is stored`)
  }
  return 0
}

const revoke = async (tokens: Tokens, name: string, given: Given): Promise<number> => {
  if (!(await tokens.revoke(name))) throw new UsageError(`no token '${name}' is in force. See: haft token list`)
  if (given.has("json")) printJson({ name, revoked: true })
  else print(`Revoked ${name}`)
  return 0
}

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

const timeOf = (text: string): string => {
  const [, count, unit = ""] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  const time = count === undefined ? Date.parse(text) : Date.now() + Number(count) * (unitMs[unit] ?? 0)
  if (Number.isFinite(time)) return new Date(time).toISOString()
  throw new UsageError(`--expires is a duration such as 12h or 30d, or a time as ISO 8601, not '${text}'`)
}
