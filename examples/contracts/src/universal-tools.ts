// cliagent: the universal interface. `validate` checks a call without making it.
import assert from "node:assert/strict"

import { universalTools } from "haft/contracts"
import { openHost } from "haft/promise"

import { scratch } from "../scratch.ts"

await using host = await openHost({ ...(await scratch()), dialect: "cliagent" })
const create = universalTools(host).find((tool) => tool.name() === "create_file")
assert(create !== undefined && create.riskLevel() === "safe_write" && create.requiresApproval())

const problem = await create.validate({ path: "../outside.txt", content: "" })
assert(problem?.code === "path_outside_working_dir")
console.log(problem.message)

const ask = async () => ({ approved: true })
const { success, files_affected } = await create.execute({ path: "new.txt", content: "hello\n" }, { ask })
assert(success && files_affected.includes("new.txt"))
