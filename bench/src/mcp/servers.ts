import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import type { Absent, Contender, Setting } from "../benchmark.ts"
import { haftCli } from "../haft-cli.ts"
import { installPeer, type Peer } from "../peers.ts"
import { McpClient, type Program, type ToolCall } from "./client.ts"

/** An MCP server, with its calls for the jobs it can do. Paths are absolute. */
export interface McpServer extends Pick<Contender, "name" | "kind" | "version"> {
  readonly program: (setting: Setting, root: string) => Program
  readonly read?: (path: string) => ToolCall
  readonly run?: (line: string) => ToolCall
  /** Finds files by name, at any depth. */
  readonly find?: (client: McpClient, root: string, name: string) => Promise<string>
  /** Searches lines that contain a text, in upper or lower case. */
  readonly search?: (client: McpClient, root: string, text: string) => Promise<string>
}

const bare: McpServer = {
  name: "bare JSON lines",
  kind: "limit",
  program: () => node(join(import.meta.dirname, "bare-server.ts")),
  read: (path) => ({ name: "read_file", arguments: { path } })
}

/** A server with only what haft's promises need. */
const guarded: McpServer = {
  name: "bare JSON lines, on record and contained",
  kind: "limit",
  program: ({ home }, root) => node(join(import.meta.dirname, "bare-server.ts"), root, join(home, "least-state")),
  read: (path) => ({ name: "read_file", arguments: { path } })
}

const haft: McpServer = {
  name: "haft",
  kind: "haft",
  program: ({ home }, root) => {
    const state = join(home, "mcp-state")
    return node(haftCli, "mcp", "--workspace", root, "--state", state, "--approve", "all", "--sandbox", "none")
  },
  read: (path) => ({ name: "read_file", arguments: { path } }),
  run: (command) => ({ name: "run_command", arguments: { command } }),
  find: (client, path, name) => client.call({ name: "find_files", arguments: { path, pattern: `**/${name}` } }),
  search: (client, path, query) =>
    client.call({ name: "search_text", arguments: { path, query, literal: true, case_sensitive: false } })
}

const node = (...args: ReadonlyArray<string>): Program => ({ command: process.execPath, args })

const peer = (peer: Peer, words: Omit<McpServer, "name" | "kind" | "version" | "program">): McpServer => ({
  name: peer.package,
  kind: "peer",
  version: peer.version,
  program: ({ home }, root) => {
    const program = installPeer(home, peer)
    return { ...node(program, root), env: { HOME: homeForPeer(home) } }
  },
  ...words
})

/**
 * A new home directory for each start of Desktop Commander: its configuration there must turn off its telemetry, and it
 * keeps a lock there that it does not always release.
 */
const homeForPeer = (home: string): string => {
  mkdirSync(join(home, "peers"), { recursive: true })
  const directory = mkdtempSync(join(home, "peers/home-"))
  mkdirSync(join(directory, ".claude-server-commander"))
  const config = { telemetryEnabled: false, allowedDirectories: [] }
  writeFileSync(join(directory, ".claude-server-commander/config.json"), JSON.stringify(config))
  return directory
}

const mcpFilesystem = peer(
  { package: "@modelcontextprotocol/server-filesystem", version: "2026.8.31", bin: "dist/index.js" },
  {
    read: (path) => ({ name: "read_text_file", arguments: { path } }),
    find: (client, path, name) => client.call({ name: "search_files", arguments: { path, pattern: `**/${name}` } })
  }
)

const j0hanzFilesystem = peer(
  {
    package: "@j0hanz/filesystem-mcp",
    version: "2.5.0",
    bin: "dist/index.js",
    overrides: { "@adguard/re2-wasm": "1.2.0" }
  },
  {
    read: (path) => ({ name: "read", arguments: { path } }),
    find: (client, path, name) => client.call({ name: "find_files", arguments: { path, pattern: `**/${name}` } }),
    search: (client, path, searchPattern) =>
      client.call({ name: "search_text", arguments: { path, searchPattern, caseSensitive: false } })
  }
)

const desktopCommander = peer(
  {
    package: "@wonderwhy-er/desktop-commander",
    version: "0.2.52",
    bin: "dist/index.js",
    overrides: { "typedarray.prototype.slice": "1.0.5" }
  },
  {
    read: (path) => ({ name: "read_file", arguments: { path } }),
    run: (command) => ({ name: "start_process", arguments: { command, timeout_ms: 5000 } }),
    find: (client, path, pattern) =>
      searchToTheEnd(client, { path, pattern, searchType: "files", literalSearch: true, includeHidden: true }),
    search: (client, path, pattern) => {
      const options = { searchType: "content", literalSearch: true, ignoreCase: true, includeHidden: true }
      return searchToTheEnd(client, { path, pattern, ...options })
    }
  }
)

/** Desktop Commander searches in the background, so it is asked for results until it is done. */
const searchToTheEnd = async (client: McpClient, search: Readonly<Record<string, unknown>>): Promise<string> => {
  const started = await client.call({ name: "start_search", arguments: search })
  const [sessionId] = /search_\S+/.exec(started) ?? []
  for (;;) {
    const answer = await client.call({ name: "get_more_search_results", arguments: { sessionId, length: 1000 } })
    if (!/IN PROGRESS/i.test(answer)) return answer
  }
}

const serverCommands = peer(
  { package: "mcp-server-commands", version: "0.5.0", bin: "build/index.js" },
  { run: (command) => ({ name: "run_command", arguments: { command } }) }
)

const shellServer = peer(
  { package: "@mako10k/mcp-shell-server", version: "2.7.1", bin: "dist/index.js" },
  { run: (command) => ({ name: "shell_execute", arguments: { command } }) }
)

const all = [bare, guarded, haft, mcpFilesystem, j0hanzFilesystem, desktopCommander, serverCommands, shellServer]

export interface RunningServer {
  readonly server: McpServer
  readonly client: McpClient
}

/** Starts every server that can do the job; with `quick` only those that need no download. */
export const startServers = async (
  setting: Setting,
  root: string,
  job: "read" | "run" | "find" | "search"
): Promise<{
  readonly running: ReadonlyArray<RunningServer>
  readonly absent: ReadonlyArray<Absent>
  readonly close: () => Promise<void>
}> => {
  const running: Array<RunningServer> = []
  const absent: Array<Absent> = []
  for (const server of all) {
    if (server[job] === undefined || (setting.quick && server.kind === "peer")) continue
    try {
      const client = await McpClient.open(server.program(setting, root))
      // As every client does. Some servers load their tools only then.
      await client.request("tools/list", {})
      running.push({ server, client })
    } catch (error) {
      absent.push({ name: `${server.name} ${server.version ?? ""}`.trim(), reason: (error as Error).message })
    }
  }
  return { running, absent, close: async () => void (await Promise.all(running.map(({ client }) => client.close()))) }
}

/** A server as a contender that does a job. */
export const contenderOf = (
  { name, kind, version }: McpServer,
  job: Pick<Contender, "run" | "check" | "atMost">
): Contender => ({ name, kind, ...(version !== undefined && { version }), ...job })
