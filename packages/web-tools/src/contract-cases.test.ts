import { approvalgate, cliagent, haft } from "@haft/dialects"
import { loadCases, playCase } from "@haft/testing"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { openWebCases, type WebCases } from "../test/web-cases.ts"
import { webTools } from "./index.ts"

const contracts = new URL("../../../contracts", import.meta.url).pathname

let cases: WebCases
beforeAll(async () => {
  cases = await openWebCases()
})
afterAll(() => cases[Symbol.asyncDispose]())

describe.each([haft, approvalgate, cliagent])("$name", (dialect) => {
  const tools = webTools.tools.filter((tool) => tool.dialect === dialect.name).map(({ name }) => name)
  describe.each(tools)("%s", (tool) => {
    it.each(loadCases(contracts, dialect.name, [tool]))("$name", async (contractCase) => {
      await expect(playCase(cases.placed(contractCase), cases.hostFor(dialect))).resolves.toHaveProperty("wire")
    })
  })
})
