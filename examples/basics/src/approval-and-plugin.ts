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
// A person would be asked here; this one likes commands and nothing else.
const asking: PromiseCallOptions = { ask: async ({ call }) => ({ approved: call.tool === "run_command" }) }

await using host = await openHost({ packages: ["fs", "exec"], plugins: [tickets], sandbox: "none" })
const found = await host.call("find_ticket", { number: 7 })
const printed = await host.call("run_command", { command: "echo fixed" }, asking)
const refused = await host.call("write_file", { path: "ticket.txt", content: found.text }, asking)
if (!printed.text.includes("fixed") || refused.error?.code !== "approval_denied") process.exitCode = 1
