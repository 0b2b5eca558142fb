import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { definePlugin, defineTool, openHost } from "haft/promise"
import * as z from "zod"

const findTicket = defineTool({
  name: "find_ticket",
  description: "Find a ticket by its number.",
  input: z.strictObject({ number: z.number().int().min(1).describe("The ticket's number") }),
  output: z.object({ title: z.string() }),
  risk: "read_only",
  execute: async ({ number }) => ({ title: `Ticket ${number}: the haft is loose` }),
  render: ({ title }) => title
})
const tickets = definePlugin({ name: "tickets", version: "1.0.0", tools: [findTicket] })

const root = await mkdtemp(join(tmpdir(), "haft-example-"))
await using host = await openHost({ root, packages: ["fs", "exec"], plugins: [tickets], sandbox: "none" })

// A person would be asked here; this one likes files and nothing else.
const ask = async ({ call }: { call: { tool: string } }) => ({ approved: call.tool === "write_file" })
const ticket = await host.call("find_ticket", { number: 7 })
const written = await host.call("write_file", { path: "ticket.txt", content: ticket.text }, { ask })
const refused = await host.call("run_command", { command: "cat ticket.txt" }, { ask })
console.log(written.text, refused.text)

if (!written.ok || refused.error?.code !== "approval_denied") process.exitCode = 1
