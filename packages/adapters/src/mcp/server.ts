import type { ApprovalQuestion } from "@haft/core"
import type { OpenHost } from "@haft/core/promise"
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  Server,
  type ServerContext,
  TRACEPARENT_META_KEY
} from "@modelcontextprotocol/server"

import { type Conversation, type ConversationOptions, converse } from "../conversation.ts"
import { legalNames } from "../names.ts"
import { answerOf, questionFor } from "./approval-question.ts"
import type { PlainCalls } from "./plain-calls.ts"
import { progressTo } from "./progress.ts"
import { mcpResult, mcpTool } from "./tool.ts"
import { waitingRoom } from "./waiting-room.ts"

export interface McpOptions {
  readonly name?: string
  readonly version: string
  /** What the client's model is told about this server. */
  readonly instructions?: string
  /** Words a question for a person. */
  readonly describe?: (question: ApprovalQuestion) => string
  /** What a person can do if the client is unable to ask; part of the refusal. */
  readonly howToAllow?: string
  /**
   * Whom to ask: only the client (false, the default), the host's own asker if the client is unable to ask (true), or
   * always the host's own asker.
   */
  readonly asksElsewhere?: boolean | "always"
  /** Called after the tools have been listed. */
  readonly onListed?: () => void
}

/** Makes a server for one connection, as the SDK's transports expect it. */
export interface McpServerFactory {
  (): Server
  /** For a transport that answers calls without the SDK; absent if others than the client may be asked. */
  readonly plainCalls?: PlainCalls
}

/**
 * A host as an MCP server, for the protocols of 2025 and of 2026-07-28. All servers of one factory share the calls
 * that wait for approval, because over HTTP the answer may arrive at another server than the one that asked.
 */
export const mcpServer = (host: Pick<OpenHost, "tools" | "call">, options: McpOptions): McpServerFactory => {
  const { legal, original } = legalNames(host.tools.map(({ name }) => name))
  const { asksElsewhere = false } = options
  const waiting = waitingRoom()
  const begin = (name: string, args: unknown, settings: ConversationOptions): Conversation =>
    converse(host, original(name), args, settings)

  const makeServer = (): Server => {
    // The low-level Server on purpose: McpServer answers bad input itself, and the call would never be on record.
    const server = new Server(
      { name: options.name ?? "haft", version: options.version },
      {
        capabilities: { tools: {} },
        ...(options.instructions !== undefined && { instructions: options.instructions })
      }
    )
    server.setRequestHandler("tools/list", () => {
      if (options.onListed !== undefined) setImmediate(options.onListed)
      return { tools: host.tools.map((tool) => mcpTool(tool, legal(tool.name))) }
    })
    server.setRequestHandler("tools/call", async ({ params }, context) => {
      const { mcpReq } = context
      const ticket = mcpReq.requestState<string>()
      if (ticket !== undefined) {
        const conversation = waiting.leave(ticket)
        conversation?.answer(answerOf(context))
        return round(conversation, context, server)
      }
      const begun = mcpReq._meta?.[begunKey]
      if (typeof begun === "string") return round(waiting.leave(begun), context, server)
      const conversation = begin(params.name, params.arguments ?? {}, {
        onProgress: progressTo(mcpReq._meta?.progressToken, (message) => void mcpReq.notify(message).catch(ignore)),
        asks: asksElsewhere === false || (asksElsewhere === true && canElicit(context, server)),
        ...traceOf(context)
      })
      return round(conversation, context, server)
    })

    const round = async (conversation: Conversation | undefined, context: ServerContext, server: Server) => {
      if (conversation === undefined) return noLongerOpen
      const step = await untilAborted(conversation, context.mcpReq.signal)
      if ("reply" in step) return mcpResult(step.reply)
      if (!canElicit(context, server)) {
        conversation.answer({ approved: false, unanswered: true, reason: cannotAsk(options) })
        return round(conversation, context, server)
      }
      return questionFor(step.question, waiting.enter(conversation), options.describe)
    }
    return server
  }

  if (asksElsewhere !== false) return makeServer
  return Object.assign(makeServer, {
    plainCalls: {
      begin: (name, args, settings) => begin(name, args, { ...settings, asks: true }),
      handOver: (request, conversation) => {
        const _meta = { ...request.params?._meta, [begunKey]: waiting.enter(conversation) }
        return { ...request, params: { ...request.params, _meta } }
      }
    } satisfies PlainCalls
  })
}

/** The metadata with the ticket of a conversation that plain-calls.ts has begun and handed over. */
const begunKey = "haft/begun"
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

// In the 2026 protocol every request has the capabilities of the client; in older ones only the handshake has them.
const canElicit = ({ mcpReq }: ServerContext, server: Server): boolean => {
  const envelope = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined
  const sent = envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined
  const elicitation = (sent ?? server.getClientCapabilities())?.elicitation
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
}

const cannotAsk = ({ howToAllow }: McpOptions): string =>
  `it needs a person's approval, and this MCP client can't ask for it${howToAllow === undefined ? "" : `. ${howToAllow}`}`

const noLongerOpen: CallToolResult = {
  content: [{ type: "text", text: "This question is no longer open. Make the call again." }],
  isError: true
}
