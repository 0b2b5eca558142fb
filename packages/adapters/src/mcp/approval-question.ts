import { type Answer, type ApprovalQuestion, visibleLines, visibleText } from "@haft/core"
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
            ...(question.remembers !== undefined && { always: alwaysField })
          },
          required: ["approve"]
        }
      })
    },
    requestState: ticket
  })

const alwaysField = {
  type: "boolean",
  title: "Always",
  description: "Store the rule that is shown, and let this call run without a question from now on",
  default: false
} as const

const offerOf = ({ remembers }: ApprovalQuestion): ReadonlyArray<string> =>
  remembers === undefined ? [] : [`Always would store this rule:\n${remembers}`]

/** The answer to such a question, from the request that brings it. */
export const answerOf = ({ mcpReq }: ServerContext): Answer => {
  const response = inputResponse(mcpReq.inputResponses, approvalKey)
  if (response.kind !== "elicit") return unanswered("the client did not answer the question")
  if (response.action === "cancel") return unanswered("the question was dismissed without an answer")
  const said = response.action === "accept" ? response.content?.["approve"] : false
  // An accepted form without the field may be a client that accepts whatever it is sent: nobody has said yes.
  if (typeof said !== "boolean") return unanswered("the client accepted the question without the field 'approve'")
  const approved = said
  const remember = approved && response.content?.["always"] === true
  return { approved, remember, reason: approved ? "approved in the client" : "the person said no" }
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
