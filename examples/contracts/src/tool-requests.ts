// agentbench: requests in, results out, failures as values.
import assert from "node:assert/strict"

import { requestHandler, type ToolRequest } from "haft/contracts"
import { openHost } from "haft/promise"

import { scratch } from "../scratch.ts"

await using host = await openHost({ ...(await scratch()), dialect: "agentbench" })
const handle = requestHandler(host)

const request: ToolRequest = { tool: "read_file", params: { path: "notes.txt" }, request_id: "r-1" }
const result = await handle(request)
assert(result.status === "success" && result.request_id === "r-1")
console.log(result.data)

const refused = await handle({ ...request, params: { path: "../secrets" }, request_id: "r-2" })
assert(refused.status === "error" && refused.error?.error_type === "path_escape")
