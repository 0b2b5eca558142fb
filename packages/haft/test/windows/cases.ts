import { appendFileSync, readFileSync } from "node:fs"

import { type Dialect, Host, memoryArtifacts, memoryJournal, reasonOf, Sandbox, use } from "@haft/core"
import { agentbench, approvalgate, cliagent, filetools, haft, toolrouter } from "@haft/dialects"
import { execTools } from "@haft/exec-tools"
import { fsTools } from "@haft/fs-tools"
import { nodeProcesses, nodeWorkspace, noSandbox, sqliteCodeIndex } from "@haft/node"
import { ptyTools } from "@haft/pty-tools"
import { searchTools } from "@haft/search-tools"
import { type CaseHost, loadCases, playCase } from "@haft/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/**
 * Plays the contract cases on another runtime or system, without a test runner: `cases CONTRACTS EXCEPTIONS REPORT SUITES
 * [FILTER]`. Fails where a case fails that the exceptions don't list by name.
 */
const [contracts = "", exceptions = "", report = "", suites = "", filter = ""] = process.argv.slice(2)

// Contracts are about replies: commands run as they are.
const sandbox = Layer.effect(
  Sandbox,
  Sandbox.useSync(({ wrap }) => ({
    wrap,
    describe: Effect.succeed({ kind: "test", isolated: true, enforced: [], notEnforced: [] })
  }))
).pipe(Layer.provide(noSandbox()))

const services = (root: string, state: string) =>
  Layer.mergeAll(nodeWorkspace({ root, state, durable: false }), nodeProcesses, memoryJournal(), memoryArtifacts())

type Suite = (dialect: Dialect) => CaseHost

const hosts: Readonly<
  Record<string, { readonly tools: ReadonlyArray<{ dialect: string; name: string }>; host: Suite }>
> = {
  fs: {
    tools: fsTools.tools,
    host:
      (dialect) =>
      ({ root, state }, approver) =>
        Host.layer({ dialect, plugins: [use(fsTools)] }).pipe(
          Layer.provide(Layer.mergeAll(services(root, state), approver))
        )
  },
  search: {
    tools: searchTools.tools,
    host:
      (dialect) =>
      ({ root, state }, approver) =>
        Host.layer({ dialect, plugins: [use(searchTools)] }).pipe(
          Layer.provide(Layer.merge(sqliteCodeIndex({ directory: state }), approver)),
          Layer.provide(services(root, state))
        )
  },
  exec: {
    tools: execTools.tools,
    host:
      (dialect) =>
      ({ root, state }, approver) =>
        Host.layer({ dialect, plugins: [use(execTools)] }).pipe(
          Layer.provide(Layer.mergeAll(services(root, state), approver, sandbox))
        )
  },
  pty: {
    tools: ptyTools.tools,
    host:
      (dialect) =>
      ({ root, state }, approver) =>
        Host.layer({ dialect, plugins: [use(ptyTools, {})] }).pipe(
          Layer.provide(
            Layer.mergeAll(services(root, state), approver, dialect.name === "haft" ? noSandbox() : sandbox)
          )
        )
  }
}

interface Exception {
  readonly reason: string
  readonly cases: ReadonlyArray<string>
}

const listed = exceptions === "" ? [] : (JSON.parse(readFileSync(exceptions, "utf8")) as ReadonlyArray<Exception>)
const isListed = (title: string): boolean => listed.some(({ cases }) => cases.includes(title))

const limitMs = 40_000
let [passed, excepted] = [0, 0]
const problems: Array<string> = []
for (const suite of suites.split(",")) {
  const found = hosts[suite]
  if (found === undefined) throw new Error(`there is no suite '${suite}'`)
  for (const dialect of [haft, agentbench, toolrouter, approvalgate, cliagent, filetools]) {
    const tools = found.tools.filter((tool) => tool.dialect === dialect.name).map(({ name }) => name)
    for (const contractCase of tools.length === 0 ? [] : loadCases(contracts, dialect.name, tools)) {
      const title = `${dialect.name} ${contractCase.tool}: ${contractCase.name}`
      if (!title.includes(filter)) continue
      const limit = Promise.withResolvers<never>()
      const timer = setTimeout(() => limit.reject(new Error("it took too long")), limitMs)
      const problem = await Promise.race([playCase(contractCase, found.host(dialect)), limit.promise]).then(
        () => undefined,
        // Wine keeps the working directory of a program that has ended open for a moment.
        (cause: unknown) => (/^EBUSY.* rmdir/.test(reasonOf(cause)) ? undefined : reasonOf(cause))
      )
      clearTimeout(timer)
      if (report !== "") appendFileSync(report, `${JSON.stringify({ title, problem })}\n`)
      if (problem === undefined) passed++
      else if (isListed(title)) excepted++
      else problems.push(`${title}\n${problem}`)
    }
  }
}

for (const problem of problems) console.error(problem)
console.log(`${passed} cases passed, ${excepted} are listed as exceptions, ${problems.length} failed`)
process.exit(problems.length === 0 ? 0 : 1)
