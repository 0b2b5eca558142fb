import {
  clipText,
  CurrentCall,
  type ConfiguredPlugin,
  definePlugin,
  defineTool,
  type Risk,
  type Tool as HaftTool,
  makeToolError,
  PluginError,
  reasonOf,
  type ToolError,
  toolError,
  type Touches,
  use
} from "@haft/core"
import {
  type CallToolResult,
  Client,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  type Tool,
  type Transport
} from "@modelcontextprotocol/client"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { answerOf, RemoteAnswer, textOf } from "./remote-answer.ts"
import { remoteParameters } from "./schemas/remote-schema.ts"
import { legalNames } from "./tool-list/names.ts"

export interface McpPluginOptions {
  /** Comes before the names of the tools: `github` makes `github_search`. */
  readonly name: string
  /** Where the server is: `new StdioClientTransport(…)`, `new StreamableHTTPClientTransport(…)`. */
  readonly transport: Transport
  readonly version?: string
  /** Believe the server's hints about which tools only read. Otherwise every tool counts as dangerous. */
  readonly trustHints?: boolean
  /**
   * Touches of a call of the server's `tool`, if you know them. The paths must then be inside the workspace, and
   * rules can refer to them. The server has to work in the same directory.
   */
  readonly touches?: (tool: string, args: Readonly<Record<string, unknown>>) => Touches
  readonly timeoutMs?: number
}

/**
 * The tools of an MCP server as a plugin: their calls are approved, recorded and interruptible like any others. What
 * the server does is not under haft's control; only the paths that `touches` names are checked.
 */
export const mcpPlugin = async (options: McpPluginOptions): Promise<ConfiguredPlugin> => {
  const client = new Client(
    { name: "haft", version: options.version ?? "0" },
    { versionNegotiation: { mode: "auto", probe: { timeoutMs: probeMs } }, capabilities: {} }
  )
  try {
    await client.connect(options.transport, { timeout: startMs })
    const { tools } = await client.listTools(undefined, { timeout: startMs })
    const { legal } = legalNames(onceEach(tools).map((name) => `${options.name}_${name}`))
    const plugin = definePlugin({
      name: `mcp:${options.name}`,
      version: semverOf(client.getServerVersion()?.version),
      tools: tools.map((tool) => bringIn(client, tool, { ...options, as: legal(`${options.name}_${tool.name}`) })),
      layer: () => Layer.effectDiscard(Effect.acquireRelease(Effect.void, () => Effect.promise(() => client.close())))
    })
    return use(plugin)
  } catch (cause) {
    // Ends the server's process, if the transport has started one.
    await client.close().catch(() => {})
    throw new PluginError(`mcp:${options.name}`, `its server can't be used: ${reasonOf(cause)}`, { cause })
  }
}

/** How long a server may take for the handshake, and to list its tools. */
const startMs = 60_000
/** How long to wait for an answer in the newest protocol: an old server may give none, and the older one is used. */
const probeMs = 10_000

const onceEach = (tools: ReadonlyArray<Tool>): ReadonlyArray<string> => {
  const names = tools.map(({ name }) => name)
  const twice = names.find((name, at) => names.indexOf(name) < at)
  if (twice !== undefined) throw new Error(`it has two tools '${twice}'`)
  return names
}

// The version of a server can be any text, that of a plugin has to be a semantic version.
const semverOf = (version = "0"): string =>
  /^\d+\.\d+\.\d+$/.test(version) ? version : `0.0.0+${version.replaceAll(/[^\dA-Za-z.-]/g, "-") || "0"}`

const bringIn = (client: Client, tool: Tool, options: McpPluginOptions & { readonly as: string }): HaftTool =>
  defineTool({
    name: options.as,
    description: tool.description ?? tool.name,
    input: remoteParameters(tool.inputSchema),
    output: RemoteAnswer,
    risk: riskOf(tool, options),
    idempotent: options.trustHints === true && tool.annotations?.idempotentHint === true,
    openWorld: tool.annotations?.openWorldHint ?? true,
    touches: (args) => options.touches?.(tool.name, args) ?? {},
    execute: Effect.fnUntraced(function* (args) {
      const result = yield* callRemote(client, tool.name, args, options)
      if (result.isError !== true) return answerOf(result)
      return yield* toolError("command_failed", clipText(textOf(result), 16_384).text || `${tool.name} failed`, {
        details: { server: options.name, tool: tool.name },
        output: answerOf(result)
      })
    }),
    render: ({ content, structured }) => textOf({ content }) || JSON.stringify(structured ?? content, null, 2)
  })

// Hints are what the server says about itself, so they count only for a server that the host's owner trusts.
const riskOf = ({ annotations }: Tool, { trustHints }: McpPluginOptions): Risk => {
  if (trustHints !== true || annotations?.readOnlyHint !== true) return "dangerous"
  return "read_only"
}

const callRemote = (
  client: Client,
  name: string,
  args: Readonly<Record<string, unknown>>,
  { timeoutMs = 10 * 60 * 1000, name: server }: McpPluginOptions
): Effect.Effect<CallToolResult, ToolError> =>
  CurrentCall.use((call) =>
    Effect.tryPromise({
      try: (signal) =>
        client.callTool(
          { name, arguments: { ...args } },
          {
            signal,
            timeout: timeoutMs,
            onprogress: ({ message = name, progress, total }) =>
              call.onProgress?.({ message, done: progress, ...(total !== undefined && { total }) })
          }
        ),
      catch: (cause) => failureOf(cause, server, client)
    })
  )

// The code tells a model whether the server refused, was too slow, is gone, or can be tried again.
const failureOf = (cause: unknown, server: string, client: Client): ToolError => {
  const reason = clipText(reasonOf(cause), 16_384).text
  const details = { server }
  if (cause instanceof ProtocolError)
    return makeToolError("command_failed", `${server} refused: ${reason}`, { details })
  const { code } = cause instanceof SdkError ? cause : {}
  if (code === SdkErrorCode.RequestTimeout)
    return makeToolError("timeout", `${server} did not answer in time`, { details })
  if (client.transport === undefined || code === SdkErrorCode.ConnectionClosed)
    return makeToolError("network_error", `${server} is gone: ${reason}`, {
      suggestion: "Go on without its tools, or have the host started again.",
      details
    })
  if (cause instanceof SdkError)
    return makeToolError("command_failed", `${server} gave an answer that can't be understood`, { details })
  return makeToolError("network_error", `${server} can't be reached: ${reason}`, { details, retryable: true })
}
