import {
  CurrentCall,
  type ConfiguredPlugin,
  definePlugin,
  defineTool,
  type Risk,
  type Tool as HaftTool,
  makeToolError,
  type ToolError,
  toolError,
  use
} from "@haft/core"
import { type CallToolResult, Client, type Tool, type Transport } from "@modelcontextprotocol/client"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as z from "zod"

export interface McpPluginOptions {
  /** Comes before the names of the tools: `github` makes `github_search`. */
  readonly name: string
  /** Where the server is: `new StdioClientTransport(…)`, `new StreamableHTTPClientTransport(…)`. */
  readonly transport: Transport
  readonly version?: string
  /** Take the server's word for what only reads. Without it every tool counts as dangerous. */
  readonly trustHints?: boolean
  readonly timeoutMs?: number
}

/**
 * Another server's tools as a plugin, so that they go down the same road as any: approved, recorded, interruptible.
 * What the server does on its side is its own affair; no path of it is contained.
 */
export const mcpPlugin = async (options: McpPluginOptions): Promise<ConfiguredPlugin> => {
  const client = new Client(
    { name: "haft", version: options.version ?? "0" },
    { versionNegotiation: { mode: "auto" }, capabilities: {} }
  )
  await client.connect(options.transport)
  const { tools } = await client.listTools()
  const plugin = definePlugin({
    name: `mcp:${options.name}`,
    version: semverOf(client.getServerVersion()?.version),
    tools: tools.map((tool) => bringIn(client, tool, options)),
    layer: () => Layer.effectDiscard(Effect.acquireRelease(Effect.void, () => Effect.promise(() => client.close())))
  })
  return use(plugin)
}

// A server may call its version as it likes; a plugin's is semantic.
const semverOf = (version = "0"): string =>
  /^\d+\.\d+\.\d+$/.test(version) ? version : `0.0.0+${version.replaceAll(/[^\dA-Za-z.-]/g, "-") || "0"}`

const Output = z.object({
  content: z.array(z.looseObject({ type: z.string() })).describe("What the server answered, block by block"),
  structured: z.record(z.string(), z.unknown()).optional().describe("The same as data, where the server sends it")
})

const bringIn = (client: Client, tool: Tool, options: McpPluginOptions): HaftTool =>
  defineTool({
    name: `${options.name}_${tool.name}`,
    description: tool.description ?? tool.name,
    input: inputOf(tool),
    output: Output,
    risk: riskOf(tool, options),
    idempotent: options.trustHints === true && tool.annotations?.idempotentHint === true,
    openWorld: tool.annotations?.openWorldHint ?? true,
    execute: Effect.fnUntraced(function* (args) {
      const result = yield* callRemote(client, tool.name, args, options)
      if (result.isError !== true) return outputOf(result)
      return yield* toolError("command_failed", textOf(result) || `${tool.name} failed`, {
        details: { server: options.name, tool: tool.name },
        output: outputOf(result)
      })
    }),
    render: ({ content, structured }) => textOf({ content }) || JSON.stringify(structured ?? content, null, 2)
  })

const inputOf = (tool: Tool): z.ZodObject => {
  const schema = z.fromJSONSchema(tool.inputSchema as Parameters<typeof z.fromJSONSchema>[0])
  return schema instanceof z.ZodObject ? schema : z.looseObject({})
}

// A hint is the server's word about itself, so it counts only where the host's owner says so.
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
      catch: (cause) =>
        makeToolError(
          "network_error",
          `${server} did not answer: ${cause instanceof Error ? cause.message : String(cause)}`,
          { retryable: true }
        )
    })
  )

const outputOf = ({ content, structuredContent }: CallToolResult): z.input<typeof Output> => ({
  content,
  ...(structuredContent !== undefined && { structured: structuredContent as Record<string, unknown> })
})

const textOf = ({ content }: { readonly content: ReadonlyArray<{ readonly type: string }> }): string =>
  content.flatMap((block) => ("text" in block && typeof block.text === "string" ? [block.text] : [])).join("\n")
