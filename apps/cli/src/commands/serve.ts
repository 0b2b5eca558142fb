import type { ClusterAdministration, MemberEvent } from "haft/cluster"
import type { HaftConfig, ScratchDirectory, ServerConfig, ServerTokens } from "haft/internal"

import { type Subcommand, type Given, UsageError } from "../command.ts"
import { configOf } from "../host.ts"
import { note, print, printJson, styled } from "../terminal.ts"

/** Where `haft serve` listens unless it is told otherwise. */
export const standardPort = 4711

export const serve: Subcommand = {
  name: "serve",
  summary: "serve calls, MCP and the console over HTTP",
  options: {
    host: { value: "ADDRESS", describe: "the address to listen on (127.0.0.1)" },
    port: { value: "NUMBER", describe: `the port to listen on; 0 takes any that is free (${standardPort})` },
    token: {
      value: "T",
      describe: "the agent's token, with at least 128 bits; one is made at the first start otherwise"
    },
    "token-file": { value: "FILE", describe: "a file with the agent's token; HAFT_TOKEN has it in the environment" },
    "also-known-as": { value: "HOST", describe: "another name the server answers to, such as haft.example" },
    grace: { value: "SECONDS", describe: "how long running calls may go on when the server stops (10)" },
    cluster: { value: "URL", describe: "become a member of the cluster with this database, postgres://…" },
    address: { value: "HOST:PORT", describe: "where other members of the cluster reach this one" },
    demo: { describe: "serve a scratch workspace with a scripted agent in it, and forget it afterwards" }
  },
  examples: [
    "haft serve --workspace ~/project",
    "haft serve --port 0 --json",
    "haft serve --host 0.0.0.0 --also-known-as haft.example",
    "haft serve --cluster postgres://haft@db.internal/haft --address 127.0.0.1:4801 --port 4711",
    "haft serve --demo"
  ],
  run: async (given) => {
    if (!given.has("demo")) return serveUntilStopped(given, (await configOf(given)).config)
    const { makeDemo } = await import("../demo.ts")
    const demo = await makeDemo(given)
    try {
      return await serveUntilStopped(given, demo.config, demo.scratch)
    } finally {
      demo.scratch.remove()
    }
  }
}

const serveUntilStopped = async (given: Given, config: HaftConfig, demo?: ScratchDirectory): Promise<number> => {
  // Signals are handled from the beginning: one that comes during the start stops the server when it has started.
  const { promise: stopAsked, resolve: askToStop } = Promise.withResolvers<string>()
  const { promise: hurryAsked, resolve: askToHurry } = Promise.withResolvers<unknown>()
  // The first signal lets running calls end, the second interrupts them, the third ends everything.
  onStopSignals([askToStop, askToHurry, () => process.exit(1)])
  const [{ openSessions, serverTokens }, { serveHaft }, { compileSchemas }] = await Promise.all([
    import("haft/internal"),
    import("@haft/server"),
    import("../compile-schemas.ts")
  ])
  compileSchemas()
  const { workspaces = {}, cluster: configured, server: reached = {}, ...first } = config
  const cluster = clusterGiven(given, configured)
  const token = await tokenGiven(given)
  const shared = cluster && (await sharedDocuments(cluster.database))
  const tokens = await serverTokens(first, {
    ...(token !== undefined && { agent: token }),
    ...(shared !== undefined && { documents: shared.documents })
  })
  const [host, alsoKnownAs] = [given.value("host"), given.value("also-known-as")]
  const server = await serveHaft({
    workspaces: { default: first, ...workspaces },
    ...(cluster !== undefined && { cluster, onClusterEvent: (event) => note(`haft: ${describeEvent(event)}`) }),
    ...(tokens.agent !== undefined && { tokens: { agent: tokens.agent } }),
    tokenStore: tokens.store,
    sessionStore: shared?.sessions ?? (await openSessions(first)),
    ...webhookOf(reached),
    ...signInOf(reached),
    ...(reached.publicUrl !== undefined && { publicUrl: reached.publicUrl }),
    version: given.version,
    ...(host !== undefined && { host }),
    port: numberOf(given, "port", standardPort, 65_535),
    // The demo should start even where the standard port is in use.
    orAnyPort: demo !== undefined && given.value("port") === undefined,
    ...(alsoKnownAs !== undefined && { alsoKnownAs: alsoKnownAs.split(",") }),
    limits: { graceMilliseconds: numberOf(given, "grace", 10, 3_600) * 1_000 },
    onDefect: (error) => note(`haft: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
  })
  const addresses = { url: server.url, console: server.consoleLink(), mcp: `${server.url}/mcp` }
  if (given.has("json")) printJson({ ...addresses, tokens: tokens.file, workspace: first.root })
  else printAddresses(addresses, tokens, demo && (first.root ?? demo.path))
  if (demo !== undefined) {
    const { visitDemo } = await import("../demo-agent.ts")
    // When the server stops, a call of the demo agent fails: that is nothing to report.
    visitDemo({ url: server.url, token: tokens.agent ?? tokens.secrets.agent ?? "" }).catch(() => undefined)
  }
  const signal = await stopAsked
  note(`haft: ${signal}, stopping`)
  void hurryAsked.then(() => server.stop({ atOnce: true }))
  await server.stop()
  await shared?.close()
  return 0
}

const databaseWaitMs = 30_000

/** Tokens and sessions of the cluster. A database that starts together with its members is waited for. */
const sharedDocuments = async (database: string): Promise<ClusterAdministration> => {
  const { openAdministration } = await import("haft/cluster")
  const onWait = (problem: string): void => note(`haft: ${problem}; waiting up to ${databaseWaitMs / 1000} s`)
  return openAdministration(database, { waitMs: databaseWaitMs, onWait })
}

/** The cluster of the configuration, with what the command line says instead. */
const clusterGiven = (given: Given, configured: HaftConfig["cluster"]): HaftConfig["cluster"] => {
  const [database, address] = [
    given.value("cluster") ?? configured?.database,
    given.value("address") ?? configured?.address
  ]
  if (database === undefined && address === undefined) return undefined
  if (database === undefined)
    throw new UsageError("--address needs --cluster postgres://…, the database of the cluster")
  if (address === undefined)
    throw new UsageError("--cluster needs --address HOST:PORT, where other members reach this one")
  return { ...configured, database, address }
}

/** The webhook of the configuration, with its secret from the environment where the configuration has none. */
const webhookOf = ({ webhook }: ServerConfig) => {
  if (webhook === undefined) return {}
  const secret = webhook.secret ?? process.env["HAFT_WEBHOOK_SECRET"]
  if (secret === undefined) throw new UsageError("server.webhook needs a secret. Set HAFT_WEBHOOK_SECRET")
  return { webhook: { url: webhook.url, secret } }
}

/** The OpenID provider of the configuration, with the client's secret from the environment where there is none. */
const signInOf = ({ signIn }: ServerConfig) => {
  if (signIn === undefined) return {}
  const clientSecret = signIn.clientSecret ?? process.env["HAFT_OIDC_CLIENT_SECRET"]
  return { signIn: { ...signIn, ...(clientSecret !== undefined && { clientSecret }) } }
}

const describeEvent = (event: MemberEvent): string => {
  if (event.type === "opened")
    return `opened workspace ${event.workspace} in ${Math.round(event.milliseconds)} ms (epoch ${event.epoch})`
  if (event.type === "closed") return `closed workspace ${event.workspace}: ${event.why}`
  if (event.type === "failed") return `workspace ${event.workspace} can't be opened: ${event.why}`
  return event.isReachable ? "the cluster's database is reachable again" : `the cluster's database: ${event.problem}`
}

/** The agent's token as it was given: as an option, in a file, or in the environment. */
const tokenGiven = async (given: Given): Promise<string | undefined> => {
  const file = given.value("token-file")
  const typed = given.value("token")
  if (file === undefined) return typed ?? process.env["HAFT_TOKEN"]
  if (typed !== undefined) throw new UsageError("--token and --token-file can't be combined. Give one of them.")
  const { readNamedFile } = await import("haft/internal")
  const content = await readNamedFile(file).catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new UsageError(`--token-file ${file} can't be read: ${why}`, { cause })
  })
  return content.trim()
}

const printAddresses = (
  { console, mcp }: { readonly console: string; readonly mcp: string },
  tokens: ServerTokens,
  demo: string | undefined
): void => {
  const bold = (text: string): string => styled(process.stdout, "bold", text)
  if (demo !== undefined) {
    print(`A scratch workspace to try haft on: ${demo}`)
    print("A scripted agent looks around in it and then waits for you, in the console.")
  }
  print(`${bold("Console")}  ${console}`)
  print(`         (the link works once, within ten minutes, and makes its browser an approver)`)
  print(`${bold("MCP")}      ${mcp}`)
  print(`         claude mcp add --transport http haft ${mcp} --header "Authorization: Bearer $TOKEN"`)
  print(`${bold("Tokens")}   ${tokens.file}`)
  print(`         (for whoever starts the server; more with: haft token create)`)
}

/** A signal that comes so soon after one that counted is the same one. */
const repeatMs = 200

/**
 * Takes one of the steps for each signal. Signals within a moment are one: Ctrl-C goes to every program of a terminal,
 * and a program that started this one, such as npm, may pass its own on. A second Ctrl-C of a person comes later.
 */
const onStopSignals = (steps: ReadonlyArray<(signal: string) => void>): void => {
  let taken = 0
  let last = Number.NEGATIVE_INFINITY
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      if (performance.now() - last < repeatMs) return
      last = performance.now()
      steps[taken++]?.(signal)
    })
  }
}

const numberOf = (given: Given, option: string, standard: number, maximum: number): number => {
  const typed = given.value(option)
  if (typed === undefined) return standard
  if (/^\d{1,6}$/.test(typed) && Number(typed) <= maximum) return Number(typed)
  throw new UsageError(`--${option} is a number from 0 to ${maximum}, not '${typed}'`)
}
