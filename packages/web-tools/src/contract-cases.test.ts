import { type Dialect, Host, memoryJournal, memoryState, memoryWorkspace, use } from "@haft/core"
import { approvalgate, cliagent, haft } from "@haft/dialects"
import { type CaseHost, type ContractCase, loadCases, playCase } from "@haft/testing"
import * as Layer from "effect/Layer"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

import { type LoopbackServer, serve } from "../test/loopback.ts"
import { serveSite } from "../test/site.ts"
import { Resolver, webTools } from "./index.ts"

const contracts = new URL("../../../contracts", import.meta.url).pathname

let site: LoopbackServer
let closedPort: number
beforeAll(async () => {
  site = await serveSite()
  const closed = await serve(() => {})
  closedPort = closed.port
  await closed[Symbol.asyncDispose]()
})
afterAll(() => site[Symbol.asyncDispose]())

const addresses: Readonly<Record<string, ReadonlyArray<string>>> = {
  "site.test": ["127.0.0.1"],
  "allowed.test": ["127.0.0.1"],
  "closed.test": ["127.0.0.1"],
  "private.test": ["93.184.215.14", "10.0.0.1"]
}

const hostFor =
  (dialect: Dialect): CaseHost =>
  (_workspace, approver) => {
    const web = use(webTools, {
      allowedHosts: ["allowed.test"],
      privateHosts: [`site.test:${site.port}`, `allowed.test:${site.port}`, `closed.test:${closedPort}`],
      maxBytes: 1_500_000,
      search: { provider: "searxng", endpoint: site.url }
    })
    const resolver = Layer.succeed(Resolver, (name: string) => Promise.resolve(addresses[name] ?? []))
    return Host.layer({ dialect, plugins: [web] }).pipe(
      Layer.provide(Layer.mergeAll(memoryWorkspace(), memoryJournal(), memoryState(), approver, resolver))
    )
  }

/** Cases speak of sites by name; here they have a port. */
const onThisPort = ({ params, reply, ...rest }: ContractCase): ContractCase => {
  const placed = JSON.stringify({ params, reply })
    .replaceAll(/(http:\/\/(?:site|allowed)\.test)(?=[/"])/gi, `$1:${site.port}`)
    .replaceAll("http://closed.test/", `http://closed.test:${closedPort}/`)
  return { ...rest, ...(JSON.parse(placed) as Pick<ContractCase, "params" | "reply">) }
}

describe.each([haft, approvalgate, cliagent])("$name", (dialect) => {
  const tools = webTools.tools.filter((tool) => tool.dialect === dialect.name).map(({ name }) => name)
  describe.each(tools)("%s", (tool) => {
    it.each(loadCases(contracts, dialect.name, [tool]))("$name", async (contractCase) => {
      await expect(playCase(onThisPort(contractCase), hostFor(dialect))).resolves.toHaveProperty("wire")
    })
  })
})
