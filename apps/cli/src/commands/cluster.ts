import type { ClusterStatus } from "haft/cluster"

import { type Subcommand, type Given, UsageError } from "../command.ts"
import { configOf } from "../host.ts"
import { table } from "../table.ts"
import { print, printJson } from "../terminal.ts"

export const cluster: Subcommand = {
  name: "cluster",
  summary: "members and workspaces of a cluster: who owns what, and moving it",
  takes: "status | move WORKSPACE ADDRESS | drain ADDRESS",
  atMost: 3,
  subcommands: ["status", "move", "drain"],
  options: {
    cluster: { value: "URL", describe: "the cluster's database, postgres://… (cluster.database of the configuration)" }
  },
  examples: [
    "haft cluster status --cluster postgres://haft@127.0.0.1/haft",
    "haft cluster move default 127.0.0.1:4802",
    "haft cluster drain 127.0.0.1:4801"
  ],
  run: async (given) => {
    const [verb = "status", first, second] = given.positionals
    if (!["status", "move", "drain"].includes(verb)) {
      throw new UsageError(`unknown subcommand '${verb}'; expected status, move or drain`)
    }
    const { openAdministration } = await import("haft/cluster")
    const administration = await openAdministration(await databaseOf(given))
    try {
      if (verb === "status") return show(await administration.status(), given)
      if (verb === "move") {
        if (first === undefined || second === undefined)
          throw new UsageError("usage: haft cluster move WORKSPACE ADDRESS")
        if (!(await administration.move(first, second))) {
          throw new UsageError(`no workspace '${first}', or no active member at ${second}. See: haft cluster status`)
        }
        return told(given, { workspace: first, to: second }, `${first} moves to ${second}`)
      }
      if (first === undefined) throw new UsageError("usage: haft cluster drain ADDRESS")
      if (!(await administration.drain(first))) {
        throw new UsageError(`no active member at ${first}. See: haft cluster status`)
      }
      return told(given, { address: first }, `${first} hands its workspaces over`)
    } finally {
      await administration.close()
    }
  }
}

const databaseOf = async (given: Given): Promise<string> => {
  const url = given.value("cluster") ?? (await configOf(given)).config.cluster?.database
  if (url !== undefined) return url
  throw new UsageError("missing database. Give --cluster postgres://…, or set cluster.database in the configuration")
}

const told = (given: Given, value: object, text: string): number => {
  if (given.has("json")) printJson(value)
  else print(text)
  return 0
}

const show = (status: ClusterStatus, given: Given): number => {
  if (given.has("json")) {
    printJson(status)
    return 0
  }
  const { members, workspaces } = status
  const memberRows = members.map((one) => [
    one.address,
    one.state,
    String(one.workspaces),
    String(one.lag),
    one.version,
    one.url
  ])
  print(table([["MEMBER", "STATE", "WORKSPACES", "LAG", "VERSION", "URL"], ...memberRows]))
  if (workspaces.length === 0) return 0
  print("")
  const rows = workspaces.map(({ name, owner, epoch, commits, notCarried }) => [
    name,
    owner ?? "nobody",
    epoch,
    commits,
    String(notCarried.length)
  ])
  print(table([["WORKSPACE", "OWNER", "EPOCH", "COMMITS", "NOT CARRIED"], ...rows]))
  return 0
}
