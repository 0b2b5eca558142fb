// toolrouter: registrations of two hosts, gathered by one router.
import assert from "node:assert/strict"

import { type ToolRegistration, toolRegistrations, ToolRouter } from "haft/contracts"
import { openHost } from "haft/promise"

import { scratch } from "../scratch.ts"

await using host = await openHost({ ...(await scratch()), dialect: "toolrouter", packages: ["fs"] })
const clock: ToolRegistration = {
  name: "clock",
  description: "What time it is.",
  schema: { type: "object", properties: {}, required: [], additionalProperties: false },
  handler: async () => ({ time: new Date().toISOString() })
}

const router = new ToolRouter(toolRegistrations(host), [clock])
console.log(router.schemas().map(({ name }) => name))
assert.deepEqual(await router.dispatch("read_file", { path: "notes.txt" }), { text: "one\ntwo\n", truncated: false })
assert.match(JSON.stringify(await router.dispatch("clock", {})), /"time"/)
assert.match(JSON.stringify(await router.dispatch("nothing", {})), /unknown_tool/)
