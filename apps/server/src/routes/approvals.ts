import { randomUUID } from "node:crypto"

import { ConfigError, GateResponse, Rule } from "haft"
import * as z from "zod"

import { json } from "../answer.ts"
import { Problem } from "../problem.ts"
import { defineRoute, type Route } from "../route.ts"
import type { Workspaces } from "../workspaces.ts"

const workspaceOf = (path: Readonly<Record<string, string>>): string => path["workspace"] ?? ""
const base = "/v1/workspaces/{workspace}"

/** Open questions and the rules that answer them. Only an approver may look, and answer. */
export const approvalRoutes = (workspaces: Workspaces): ReadonlyArray<Route> => [
  defineRoute({
    method: "GET",
    path: `${base}/approvals`,
    summary: "Requests that wait for a person, oldest first",
    access: "approver",
    replies: { 200: { description: "Open requests", schema: z.object({ approvals: z.array(z.looseObject({})) }) } },
    handle: ({ path }) => json({ approvals: workspaces.named(workspaceOf(path)).approvals.open() })
  }),
  defineRoute({
    method: "POST",
    path: `${base}/approvals/{id}`,
    summary: "Answers a request; the first answer counts",
    access: "approver",
    body: GateResponse,
    replies: { 200: { description: "The answer was taken", schema: z.object({ accepted: z.literal(true) }) } },
    handle: ({ path, body }) => {
      const outcome = workspaces.named(workspaceOf(path)).approvals.answer(path["id"] ?? "", body)
      if (outcome === "accepted") return json({ accepted: true })
      if (outcome === "gone") {
        throw new Problem(404, "request_gone", "This request is not open: it was answered, cancelled or timed out.")
      }
      throw new Problem(409, "other_request", "The request has changed since it was read; look at it again.")
    }
  }),
  defineRoute({
    method: "GET",
    path: `${base}/rules`,
    summary: "The approval rules",
    access: "approver",
    replies: {
      200: {
        description: "Rules in the order they were added",
        schema: z.object({ rules: z.array(z.looseObject({})) })
      }
    },
    handle: async ({ path }) => json({ rules: await explained(() => workspaces.named(workspaceOf(path)).rules.list()) })
  }),
  defineRoute({
    method: "POST",
    path: `${base}/rules`,
    summary: "Adds a rule; one that fails its own examples is refused",
    access: "approver",
    body: Rule.extend({ id: Rule.shape.id.optional().describe("Names the rule; made up when absent.") }),
    replies: { 200: { description: "The rule as it is stored", schema: z.object({ rule: z.looseObject({}) }) } },
    handle: async ({ path, body }) => {
      const { rules } = workspaces.named(workspaceOf(path))
      const id = body.id ?? `${body.tool.slice(0, 60)}-${randomUUID().slice(0, 8)}`
      return json({ rule: await explained(() => rules.add({ ...body, id })) })
    }
  }),
  defineRoute({
    method: "POST",
    path: `${base}/rules/{id}`,
    summary: "Switches a rule on or off",
    access: "approver",
    body: z.strictObject({ enabled: z.boolean() }),
    replies: { 200: { description: "Done", schema: z.object({ enabled: z.boolean() }) } },
    handle: async ({ path, body }) => {
      const { rules } = workspaces.named(workspaceOf(path))
      if (!(await explained(() => rules.setEnabled(path["id"] ?? "", body.enabled)))) throw noRule(path["id"])
      return json({ enabled: body.enabled })
    }
  }),
  defineRoute({
    method: "PUT",
    path: `${base}/rules/{id}`,
    summary: "Puts another rule in a rule's place, in one step",
    access: "approver",
    body: Rule,
    replies: { 200: { description: "The rule as it is stored", schema: z.object({ rule: z.looseObject({}) }) } },
    handle: async ({ path, body }) => {
      const { rules } = workspaces.named(workspaceOf(path))
      if (!(await explained(() => rules.replace(path["id"] ?? "", body)))) throw noRule(path["id"])
      return json({ rule: body })
    }
  }),
  defineRoute({
    method: "DELETE",
    path: `${base}/rules/{id}`,
    summary: "Removes a rule",
    access: "approver",
    replies: { 200: { description: "Done", schema: z.object({ removed: z.literal(true) }) } },
    handle: async ({ path }) => {
      const { rules } = workspaces.named(workspaceOf(path))
      if (!(await explained(() => rules.remove(path["id"] ?? "")))) throw noRule(path["id"])
      return json({ removed: true })
    }
  }),
  defineRoute({
    method: "POST",
    path: `${base}/simulations`,
    summary: "What the rules would have decided about a recorded run",
    access: "approver",
    body: z.strictObject({ run: z.string().optional() }),
    replies: { 200: { description: "Decisions, flips and proposed rules", schema: z.looseObject({}) } },
    handle: async ({ path, body }) => {
      const { rules } = workspaces.named(workspaceOf(path))
      return json(await explained(() => rules.test(body.run === undefined ? {} : { run: body.run })))
    }
  })
]

const noRule = (id: string | undefined): Problem => new Problem(404, "unknown_rule", `There is no rule '${id ?? ""}'.`)

/** What the person can mend is a refusal with words, not a bug. */
const explained = async <A>(work: () => Promise<A>): Promise<A> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ConfigError) throw new Problem(400, "invalid_rule", error.message)
    throw error
  }
}
