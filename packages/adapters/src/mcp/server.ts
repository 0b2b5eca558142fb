import type { ApprovalQuestion } from "@haft/core"
import type { OpenHost } from "@haft/core/promise"
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequiredResult,
  INVALID_PARAMS,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  Server,
  type ServerContext,
  TRACEPARENT_META_KEY
} from "@modelcontextprotocol/server"

import { type Conversation, converse } from "../conversation.ts"
import { legalNames } from "../tool-list/names.ts"
import { shownTools } from "../tool-list/shown-tools.ts"
import { answerOf, questionFor } from "./approval-question.ts"
import { instructionsFor } from "./instructions.ts"
import { progressTo } from "./progress.ts"
import { serveResources } from "./resources.ts"
import { mcpResult, mcpTool, type McpToolOptions } from "./tool.ts"
import { waitingRoom } from "./waiting-room.ts"

export interface McpOptions extends McpToolOptions {
  readonly name?: string
  readonly version: string
  /** Instructions for the client's model; by default how to work with the tools it has. */
  readonly instructions?: string
  /** Words a question for a person. */
  readonly describe?: (question: ApprovalQuestion) => string
  /** Advice for a person if the client is unable to ask; part of the refusal. */
  readonly howToAllow?: string
  /**
   * Whom to ask: only the client (false, the default), the host's own asker if the client is unable to ask (true), or
   * always the host's own asker.
   */
  readonly asksElsewhere?: boolean | "always"
  /** Called after the tools have been listed. */
  readonly onListed?: () => void
}

/** Parts of a host that a server needs. Artifacts, where it has them, are resources. */
export type McpHost = Pick<OpenHost, "tools" | "call"> & Partial<Pick<OpenHost, "artifacts">>

/** Makes a server for one connection, as the SDK's transports expect it. */
export type McpServerFactory = () => Server

/**
 * A host as an MCP server, for the protocols of 2025 and of 2026-07-28. All servers of one factory share the calls
 * that wait for approval, because over HTTP the answer may arrive at another server than the one that asked.
 */
export const mcpServer = (host: McpHost, options: McpOptions): McpServerFactory => {
  const { legal, original } = legalNames(host.tools.map(({ name }) => name))
  const { asksElsewhere = false } = options
  const known = new Set(host.tools.map(({ name }) => name))
  const instructions =
    options.instructions ?? instructionsFor(host.tools.map((tool) => ({ ...tool, name: legal(tool.name) })))
  const waiting = waitingRoom()

  return () => {
    const shown = shownTools(host)
    // The low-level Server on purpose: McpServer answers bad input itself, and the call would never be on record.
    const server = new Server(
      { name: options.name ?? "haft", version: options.version },
      // A host's tools are fixed when it opens; only find_tools makes the list longer.
      {
        capabilities: {
          tools: { listChanged: host.tools.some(({ deferred }) => deferred) },
          ...(host.artifacts !== undefined && { resources: {} })
        },
        ...(instructions !== "" && { instructions })
      }
    )
    if (host.artifacts !== undefined) serveResources(server, host.artifacts)
    server.setRequestHandler("tools/list", () => {
      if (options.onListed !== undefined) setImmediate(options.onListed)
      return { tools: shown.list().map((tool) => mcpTool(tool, legal(tool.name), options)) }
    })
    server.setRequestHandler("tools/call", async ({ params }, context) => {
      const { mcpReq } = context
      const ticket = mcpReq.requestState<string>()
      if (ticket !== undefined) {
        const conversation = waiting.leave(ticket)
        if (conversation === undefined) throw notWaiting()
        conversation.answer(answerOf(context))
        return round(conversation, context)
      }
      const tool = original(params.name)
      const conversation = converse(host, tool, params.arguments ?? {}, {
        onProgress: progressTo(mcpReq._meta?.progressToken, (message) => void mcpReq.notify(message).catch(ignore)),
        asks: asksElsewhere === false || (asksElsewhere === true && canElicit(context, server)),
        ...traceOf(context)
      })
      const result = await round(conversation, context)
      // Only now, because the call of a tool that does not exist is on record, too.
      if (!known.has(tool)) throw unknownTool(params.name, [...known].map(legal))
      return result
    })

    const round = async (
      conversation: Conversation,
      context: ServerContext
    ): Promise<CallToolResult | InputRequiredResult> => {
      const step = await untilAborted(conversation, context.mcpReq.signal)
      if ("reply" in step) {
        if (shown.learn(conversation.tool, step.reply)) await server.sendToolListChanged().catch(ignore)
        return mcpResult(step.reply, options)
      }
      if (canElicit(context, server)) return questionFor(step.question, waiting.enter(conversation), options.describe)
      conversation.answer({ approved: false, unanswered: true, reason: cannotAsk(options) })
      const refused = await round(conversation, context)
      // The protocol of 2026-07-28 has an error for it; in older ones the refusal is the tool's result.
      if (capabilitiesSent(context) !== undefined) throw elicitationRequired(options)
      return refused
    }
    return server
  }
}

const ignore = (): void => {}

// The next step, or a cancelled call if the signal fires. After that the listener is removed, as the SDK may still
// abort the signal of a request that is answered.
const untilAborted = async (conversation: Conversation, signal: AbortSignal) => {
  const cancel = (): void => conversation.cancel(signal.reason)
  if (signal.aborted) cancel()
  signal.addEventListener("abort", cancel, { once: true })
  try {
    return await conversation.next()
  } finally {
    signal.removeEventListener("abort", cancel)
  }
}

// The request's metadata goes before the header of HTTP.
const traceOf = ({ mcpReq, http }: ServerContext): { readonly traceParent?: string } => {
  const traceParent = mcpReq._meta?.[TRACEPARENT_META_KEY] ?? http?.req?.headers.get("traceparent")
  return typeof traceParent === "string" ? { traceParent } : {}
}

/** The client's capabilities as a request of 2026-07-28 carries them; undefined in older protocols. */
const capabilitiesSent = ({ mcpReq }: ServerContext): ClientCapabilities | undefined =>
  (mcpReq.envelope as Readonly<Record<string, unknown>> | undefined)?.[CLIENT_CAPABILITIES_META_KEY] as
    | ClientCapabilities
    | undefined

const canElicit = (context: ServerContext, server: Server): boolean => {
  const elicitation = (capabilitiesSent(context) ?? server.getClientCapabilities())?.elicitation
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
}

const cannotAsk = ({ howToAllow }: McpOptions): string =>
  `it needs a person's approval, and this MCP client can't ask for it${howToAllow === undefined ? "" : `. ${howToAllow}`}`

const elicitationRequired = (options: McpOptions): ProtocolError =>
  new MissingRequiredClientCapabilityError(
    { requiredCapabilities: { elicitation: { form: {} } } },
    `The call was refused: ${cannotAsk(options)}`
  )

const unknownTool = (name: string, names: ReadonlyArray<string>): ProtocolError =>
  new ProtocolError(INVALID_PARAMS, `Unknown tool: ${JSON.stringify(name)}. Available: ${names.join(", ")}`)

const notWaiting = (): ProtocolError =>
  new ProtocolError(INVALID_PARAMS, "Invalid or expired requestState: no question waits for it. Make the call again.")
