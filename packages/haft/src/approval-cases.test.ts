import { describe, expect, it } from "vitest"

import { approvalCasesOf, approvalDialects, playApprovalCase } from "../test/approval-cases.ts"

const contracts = new URL("../../../contracts", import.meta.url).pathname

describe.each(approvalDialects)("%s", (dialect) => {
  it.each(approvalCasesOf(contracts, dialect))("$name", async ({ approvalCase }) => {
    await expect(playApprovalCase(dialect, approvalCase)).resolves.toBeUndefined()
  })
})
