import * as Effect from "effect/Effect"
import { type ApprovalQuestion, definePlugin, defineTool, Host, standardHost } from "haft"
import * as z from "zod"

const findTicket = defineTool({
  name: "find_ticket",
  description: "Find a ticket by its number.",
  input: z.strictObject({ number: z.number().describe("The ticket's number") }),
  output: z.object({ title: z.string() }),
  risk: "read_only",
  execute: ({ number }) => Effect.succeed({ title: `Ticket ${number}: the haft is loose` })
})
const tickets = definePlugin({ name: "tickets", version: "1.0.0", tools: [findTicket] })
// Stands for a person who approves commands and nothing else.
const ask = ({ call }: ApprovalQuestion) => Effect.succeed({ approved: call.tool === "run_command" })

await Effect.gen(function* () {
  const { call } = yield* Host
  const found = yield* call("find_ticket", { number: 7 })
  const fixed = yield* call("run_command", { command: "echo fixed" }, { ask })
  const refused = yield* call("run_code", { language: "python", code: "print(7)" }, { ask })
  if (!found.ok || !fixed.text.includes("fixed") || refused.error?.code !== "approval_denied") process.exitCode = 1
}).pipe(Effect.provide(standardHost({ packages: ["exec"], plugins: [tickets], sandbox: "none" })), Effect.runPromise)
