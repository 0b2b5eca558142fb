import { GateResponse, listedRequest, modeNames, Rule } from "haft/internal"
import * as z from "zod"

import { json } from "../http/answer.ts"
import { Problem } from "../http/problem.ts"
import { defineRoute, type HttpRoute } from "../http/route.ts"
import { partyOf } from "../identity.ts"
import type { Workspaces } from "../workspaces.ts"

const OpenRequest = z.object({
  id: z.string(),
  stepId: z.string().describe("The call that waits, as the record names it."),
  step: z.number().describe("Its number in the run."),
  tool: z.string(),
  dialect: z.string(),
  args: z.record(z.string(), z.unknown()),
  reason: z.string().describe("Why a person is asked."),
  caller: z.object({ name: z.string(), role: z.string() }).optional().describe("Who made the call."),
  description: z
    .object({
      tool: z.string(),
      reason: z.string(),
      risk: z.enum(["read_only", "safe_write", "dangerous"]),
      severity: z
        .object({ level: z.enum(["low", "moderate", "high", "critical"]), reasons: z.array(z.string()) })
        .describe("How much it can do, from what it touches, with the reasons in words."),
      parameters: z.array(z.object({ name: z.string(), value: z.string() })),
      filesAffected: z.array(z.string()),
      command: z.string().optional(),
      network: z.literal(true).optional(),
      url: z.string().optional(),
      host: z.string().optional(),
      types: z.string().optional(),
      detail: z.string().optional()
    })
    .describe("The request as people see it: whole, with nothing hidden."),
  diff: z.string().optional(),
  binding: z.string().describe("What an answer holds for; it may repeat it."),
  rule: z.string().optional().describe("The rule that wants a person."),
  basis: z.string().optional().describe("What the policy went by: rule, protected_path, mode, setting or contract."),
  isDivisible: z.literal(true).optional().describe("An answer can refuse some hunks of the diff: `refusedHunks`."),
  offers: z
    .array(z.object({ id: z.string(), label: z.string(), rule: Rule }))
    .describe("Rules that an answer can store with `remember`, the narrowest first."),
  whyNoOffer: z.string().optional().describe("Why none is offered."),
  askedAt: z.number().describe("Milliseconds since the epoch."),
  expiresAt: z.number().optional().describe("When it times out, in milliseconds since the epoch.")
})

/** An entry of a list of requests. */
export const ListedRequest = OpenRequest.extend({
  args: OpenRequest.shape.args.optional(),
  offers: OpenRequest.shape.offers.optional(),
  isWhole: z
    .boolean()
    .describe("False where args, diff and detail are large and left out; the request itself has them.")
})

const gone = new Problem(404, "request_gone", "This request is not open: it was answered, cancelled or timed out.")

const base = "/v1/workspaces/{workspace}"

const Mode = z.object({ mode: z.enum(modeNames) })

/** Open questions and the mode. Only an approver may look, answer and change it. */
export const approvalRoutes = (workspaces: Workspaces): ReadonlyArray<HttpRoute> => [
  defineRoute({
    method: "GET",
    path: `${base}/mode`,
    summary: "How much runs without a question",
    access: "agent",
    replies: { 200: { description: "The mode", schema: Mode } },
    handle: ({ path }) => json({ mode: workspaces.named(path["workspace"]).mode() })
  }),
  defineRoute({
    method: "PUT",
    path: `${base}/mode`,
    summary: "Changes the mode, for calls that are judged from now on, until the server ends",
    access: "approver",
    body: z.strictObject({ mode: z.enum(modeNames) }),
    replies: { 200: { description: "The mode as it is now", schema: Mode } },
    handle: async ({ path, body, identity }) => {
      const workspace = workspaces.named(path["workspace"])
      await workspace.setMode(body.mode, partyOf(identity))
      return json({ mode: workspace.mode() })
    }
  }),
  defineRoute({
    method: "GET",
    path: `${base}/approvals`,
    summary: "Requests that wait for a person, oldest first",
    access: "approver",
    replies: { 200: { description: "Open requests", schema: z.object({ approvals: z.array(ListedRequest) }) } },
    handle: ({ path }) => json({ approvals: workspaces.named(path["workspace"]).approvals.open().map(listedRequest) })
  }),
  defineRoute({
    method: "GET",
    path: `${base}/approvals/{id}`,
    summary: "A request in full",
    access: "approver",
    replies: { 200: { description: "The open request", schema: OpenRequest } },
    handle: ({ path }) => {
      const found = workspaces
        .named(path["workspace"])
        .approvals.open()
        .find(({ id }) => id === path["id"])
      if (found === undefined) throw gone
      return json(found)
    }
  }),
  defineRoute({
    method: "POST",
    path: `${base}/approvals/{id}`,
    summary: "Answers a request; the first answer counts",
    access: "approver",
    body: GateResponse,
    replies: { 200: { description: "The answer was taken", schema: z.object({ accepted: z.literal(true) }) } },
    handle: ({ path, body, identity }) => {
      const gate = workspaces.named(path["workspace"]).approvals
      const outcome = gate.answer(path["id"] ?? "", body, partyOf(identity))
      if (outcome === "accepted") return json({ accepted: true })
      if (outcome === "gone") throw gone
      throw new Problem(409, "other_request", "The request has changed since it was read; look at it again.")
    }
  })
]
