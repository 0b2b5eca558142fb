import {
  type Answer,
  type ApprovalQuestion,
  type Remembering,
  rememberScopes,
  visibleLines,
  visibleText
} from "@haft/core"
import {
  inputRequired,
  type InputRequiredResult,
  inputResponse,
  type ServerContext
} from "@modelcontextprotocol/server"

const approvalKey = "approval"

/** A question to the client's user. The client sends the ticket back with the answer. */
export const questionFor = (
  question: ApprovalQuestion,
  ticket: string,
  describe: (question: ApprovalQuestion) => string = describeBriefly
): InputRequiredResult =>
  inputRequired({
    inputRequests: {
      [approvalKey]: inputRequired.elicit({
        message: [describe(question), ...offerOf(question)].join("\n\n"),
        requestedSchema: {
          type: "object",
          properties: {
            approve: { type: "boolean", title: "Approve", description: "Let this call run" },
            ...rememberFields(question),
            comment: commentField
          },
          required: ["approve"]
        }
      })
    },
    requestState: ticket
  })

const commentField = {
  type: "string",
  title: "Message to the agent",
  description: "Told to whoever made the call, with a yes or a no",
  maxLength: 2000
} as const

const notRemembered = "no"

const scopeTitles = {
  run: "Until this server ends",
  workspace: "In this workspace",
  always: "In every workspace"
} as const

const lifetimes: Readonly<Record<string, { readonly title: string; readonly hours?: number }>> = {
  never: { title: "Never" },
  "1h": { title: "In an hour", hours: 1 },
  "8h": { title: "In 8 hours", hours: 8 },
  "7d": { title: "In 7 days", hours: 7 * 24 },
  "30d": { title: "In 30 days", hours: 30 * 24 }
}

/** Which of the offered rules to store, and how far it reaches. */
const rememberFields = ({ offers = [] }: ApprovalQuestion) =>
  offers.length === 0
    ? {}
    : {
        remember: {
          type: "string",
          title: "Allow without asking",
          description: "Store one of the rules that are shown",
          oneOf: [
            { const: notRemembered, title: "Only this once" },
            ...offers.map(({ id, label }) => ({ const: id, title: visibleText(label) }))
          ],
          default: notRemembered
        } as const,
        scope: {
          type: "string",
          title: "Scope",
          oneOf: rememberScopes.map((scope) => ({ const: scope, title: scopeTitles[scope] })),
          default: "run"
        } as const,
        expires: {
          type: "string",
          title: "Expires",
          oneOf: Object.entries(lifetimes).map(([name, { title }]) => ({ const: name, title })),
          default: "never"
        } as const
      }

const offersIn = ({ offers = [] }: ApprovalQuestion): ReadonlyArray<string> =>
  offers.map(({ label, rule }) => `${visibleText(label)}: ${visibleText(JSON.stringify(rule))}`)

const offerOf = (question: ApprovalQuestion): ReadonlyArray<string> => {
  const rules = offersIn(question)
  return rules.length === 0 ? [] : [`These rules can be stored, to allow without asking:\n${rules.join("\n")}`]
}

/** Reads from a form which offered rule to remember. The approver accepts only rules that it offered. */
const rememberingIn = (content: Readonly<Record<string, unknown>> | undefined): Remembering | undefined => {
  const { remember: offer = notRemembered, scope = "run", expires = "never" } = content ?? {}
  const known = rememberScopes.find((name) => name === scope)
  const lifetime = typeof expires === "string" && Object.hasOwn(lifetimes, expires) ? lifetimes[expires] : undefined
  if (typeof offer !== "string" || offer === notRemembered || known === undefined || lifetime === undefined) {
    return undefined
  }
  const { hours } = lifetime
  return {
    offer,
    scope: known,
    ...(hours !== undefined && { expires: new Date(Date.now() + hours * 3_600_000).toISOString() })
  }
}

/** The answer to such a question, from the request that brings it. */
export const answerOf = ({ mcpReq }: ServerContext): Answer => {
  const response = inputResponse(mcpReq.inputResponses, approvalKey)
  if (response.kind !== "elicit") return unanswered("the client did not answer the question")
  if (response.action === "cancel") return unanswered("the question was dismissed without an answer")
  const said = response.action === "accept" ? response.content?.["approve"] : false
  // An accepted form without the field may be a client that accepts whatever it is sent: nobody has said yes.
  if (typeof said !== "boolean") return unanswered("the client accepted the question without the field 'approve'")
  const approved = said
  const comment = response.action === "accept" ? response.content?.["comment"] : undefined
  const remember = approved && response.action === "accept" ? rememberingIn(response.content) : undefined
  return {
    approved,
    ...(remember !== undefined && { remember }),
    ...(typeof comment === "string" && comment !== "" && { comment }),
    reason: approved ? "approved in the client" : "the person said no"
  }
}

const unanswered = (reason: string): Answer => ({ approved: false, unanswered: true, reason })

const describeBriefly = ({ call, reason, input, preview }: ApprovalQuestion): string =>
  [
    `Run ${visibleText(call.tool)}? (${visibleText(reason)})`,
    visibleText(JSON.stringify(input)),
    preview === undefined ? undefined : visibleLines(preview)
  ]
    .filter((part) => part !== undefined)
    .join("\n")
