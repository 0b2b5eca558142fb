import { definePlugin, defineTool, openHost, type PromiseCallOptions } from "haft/promise"
import * as z from "zod"

const findTicket = defineTool({
  name: "find_ticket",
  description: "Find a ticket by its number.",
  input: z.strictObject({ number: z.number().describe("The ticket's number") }),
  output: z.object({ title: z.string() }),
  risk: "read_only",
  execute: async ({ number }) => ({ title: `Ticket ${number}: the haft is loose` })
})
const tickets = definePlugin({ name: "tickets", version: "1.0.0", tools: [findTicket] })
// Stands for a person who approves commands and nothing else.
const asking: PromiseCallOptions = { ask: async ({ call }) => ({ approved: call.tool === "run_command" }) }

await using host = await openHost({ packages: ["exec"], plugins: [tickets], sandbox: "none" })
const found = await host.call("find_ticket", { number: 7 })
const fixed = await host.call("run_command", { command: "echo fixed" }, asking)
const refused = await host.call("run_code", { language: "python", code: "print(7)" }, asking)
if (!found.ok || !fixed.text.includes("fixed") || refused.error?.code !== "approval_denied") process.exitCode = 1
