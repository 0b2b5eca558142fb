import { type Dialect, Host, memoryJournal, memoryState, memoryWorkspace, use } from "@haft/core"
import type { CaseHost, ContractCase } from "@haft/testing"
import * as Layer from "effect/Layer"

import { Resolver, webTools } from "../src/index.ts"
import { serve } from "./loopback.ts"
import { serveSite } from "./site.ts"

const addresses: Readonly<Record<string, ReadonlyArray<string>>> = {
  "site.test": ["127.0.0.1"],
  "allowed.test": ["127.0.0.1"],
  "closed.test": ["127.0.0.1"],
  "private.test": ["93.184.215.14", "10.0.0.1"]
}

/** Servers and hosts for the contract cases of web tools. */
export interface WebCases {
  readonly hostFor: (dialect: Dialect) => CaseHost
  /** Gives the sites of a case their ports: cases speak of them by name. */
  readonly placed: (contractCase: ContractCase) => ContractCase
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

export const openWebCases = async (): Promise<WebCases> => {
  const site = await serveSite()
  const closed = await serve(() => {})
  const closedPort = closed.port
  await closed[Symbol.asyncDispose]()
  return {
    hostFor: (dialect) => (_workspace, approver) => {
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
    },
    placed: ({ params, reply, ...rest }) => {
      const text = JSON.stringify({ params, reply })
        .replaceAll(/(http:\/\/(?:site|allowed)\.test)(?=[/"])/gi, `$1:${site.port}`)
        .replaceAll("http://closed.test/", `http://closed.test:${closedPort}/`)
      return { ...rest, ...(JSON.parse(text) as Pick<ContractCase, "params" | "reply">) }
    },
    [Symbol.asyncDispose]: () => site[Symbol.asyncDispose]()
  }
}
