import { randomUUID } from "node:crypto"

import { ConfigError, Rule } from "haft/internal"
import * as z from "zod"

import { json } from "../http/answer.ts"
import { Problem } from "../http/problem.ts"
import { defineRoute, type HttpRoute } from "../http/route.ts"
import type { Workspaces } from "../workspaces.ts"

const SimulatedCall = z.object({
  requestId: z.string(),
  tool: z.string(),
  recorded: z.object({ decision: z.string(), by: z.string(), reason: z.string() }),
  simulated: z.object({
    decision: z.enum(["allow", "ask", "deny"]),
    reason: z.string(),
    rule: z.string().optional()
  }),
  change: z.enum(["same", "less", "more"]).describe("Whether a person would have less or more to answer."),
  isRedacted: z.boolean().describe("Rules may say something else about arguments that the record hides.")
})
type SimulatedCall = z.output<typeof SimulatedCall>

const Simulation = z.object({
  counts: z.object({ allow: z.number(), ask: z.number(), deny: z.number() }),
  flips: z.array(SimulatedCall).describe("Calls that would go another way."),
  undecided: z.number().describe("Calls that never came as far as a decision."),
  proposals: z.array(z.object({ rule: Rule, questionsSpared: z.number() }))
})

const base = "/v1/workspaces/{workspace}"

/** The approval rules, and the simulation of them. Only an approver may see and change them. */
export const ruleRoutes = (workspaces: Workspaces): ReadonlyArray<HttpRoute> => [
  defineRoute({
    method: "GET",
    path: `${base}/rules`,
    summary: "The approval rules",
    access: "approver",
    replies: {
      200: {
        description: "Rules in the order they were added",
        schema: z.object({ rules: z.array(Rule) })
      }
    },
    handle: async ({ path }) => json({ rules: await readable(() => workspaces.named(path["workspace"]).rules.list()) })
  }),
  defineRoute({
    method: "POST",
    path: `${base}/rules`,
    summary: "Adds a rule; one that fails its own examples is refused",
    access: "approver",
    body: Rule.extend({ id: Rule.shape.id.optional().describe("Names the rule; made up when absent.") }),
    replies: { 200: { description: "The rule as it is stored", schema: z.object({ rule: Rule }) } },
    handle: async ({ path, body }) => {
      const { rules } = workspaces.named(path["workspace"])
      const id =
        body.id ??
        `${(body.tool ?? [body.operation ?? "rule"].flat()[0] ?? "").slice(0, 60)}-${randomUUID().slice(0, 8)}`
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
      const { rules } = workspaces.named(path["workspace"])
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
    replies: { 200: { description: "The rule as it is stored", schema: z.object({ rule: Rule }) } },
    handle: async ({ path, body }) => {
      const { rules } = workspaces.named(path["workspace"])
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
      const { rules } = workspaces.named(path["workspace"])
      if (!(await explained(() => rules.remove(path["id"] ?? "")))) throw noRule(path["id"])
      return json({ removed: true })
    }
  }),
  defineRoute({
    method: "POST",
    path: `${base}/simulations`,
    summary: "What the rules would have decided about a recorded run",
    access: "approver",
    isWork: true,
    body: z.strictObject({
      run: z.string().optional().describe("The run; this one when absent."),
      rule: z.looseObject({}).optional().describe("A rule to try together with those in force; it is not stored."),
      replaces: z.string().optional().describe("The rule in whose place it is tried.")
    }),
    replies: { 200: { description: "Decisions, flips and proposed rules", schema: Simulation } },
    handle: async ({ path, body }) => {
      const { rules, runs, run: own } = workspaces.named(path["workspace"])
      const { run = own } = body
      if (!runs().some(({ name, bytes }) => name === run && bytes > 0)) {
        throw new Problem(404, "unknown_run", "This run has no calls on record.")
      }
      const { rule, replaces } = body
      const simulated =
        rule === undefined
          ? readable(() => rules.test({ run }))
          : explained(() => rules.test({ run, candidate: { rule, ...(replaces !== undefined && { replaces }) } }))
      const { counts, flips, undecided, proposals } = await simulated
      return json({ counts, flips: flips.map(withoutArguments), undecided, proposals })
    }
  })
]

// Left out because they may be long. A client that wants them finds them on record.
const withoutArguments = ({
  requestId,
  tool,
  recorded,
  simulated,
  change,
  isRedacted
}: SimulatedCall): SimulatedCall => {
  const { decision, by, reason } = recorded
  return { requestId, tool, recorded: { decision, by, reason }, simulated, change, isRedacted }
}

const noRule = (id: string | undefined): Problem => new Problem(404, "unknown_rule", `There is no rule '${id ?? ""}'.`)

/** A rule that is wrong is the client's mistake (400), not a bug. */
const explained = async <A>(work: () => Promise<A>): Promise<A> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ConfigError) throw new Problem(400, "invalid_rule", error.message)
    throw error
  }
}

/** The original message has the path of the rules file, which clients should not learn. */
const readable = async <A>(work: () => Promise<A>): Promise<A> => {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new Problem(
      500,
      "rules_unreadable",
      "The approval rules can't be read, so nothing is allowed. On the server, haft rules list says what is wrong with them."
    )
  }
}
