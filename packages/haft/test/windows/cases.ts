import { appendFileSync, readFileSync } from "node:fs"

import { type Dialect, Host, memoryArtifacts, memoryJournal, reasonOf, Sandbox, use } from "@haft/core"
import { agentbench, approvalgate, cliagent, filetools, haft, toolrouter } from "@haft/dialects"
import { execTools } from "@haft/exec-tools"
import { fsTools } from "@haft/fs-tools"
import { nodeProcesses, nodeWorkspace, noSandbox, sqliteCodeIndex } from "@haft/node"
import { ptyTools } from "@haft/pty-tools"
import { searchTools } from "@haft/search-tools"
import { type CaseHost, type ContractCase, loadCases, playCase } from "@haft/testing"
import { webTools } from "@haft/web-tools"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { openWebCases } from "../../../web-tools/test/web-cases.ts"
import { approvalCasesOf, approvalDialects, playApprovalCase } from "../approval-cases.ts"

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

interface Suite {
  readonly tools: ReadonlyArray<{ readonly dialect: string; readonly name: string }>
  readonly host: (dialect: Dialect) => CaseHost
  /** Changes a case before it is played. */
  readonly placed?: (contractCase: ContractCase) => ContractCase
}

const web = suites.split(",").includes("web") ? await openWebCases() : undefined

const hosts: Readonly<Record<string, Suite>> = {
  ...(web !== undefined && { web: { tools: webTools.tools, host: web.hostFor, placed: web.placed } }),
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

interface Playable {
  readonly title: string
  readonly play: () => Promise<unknown>
}

const approvalCases = (): ReadonlyArray<Playable> =>
  approvalDialects.flatMap((dialect) =>
    approvalCasesOf(contracts, dialect).map(({ name, approvalCase }) => ({
      title: `${dialect} approval: ${name}`,
      play: () => playApprovalCase(dialect, approvalCase)
    }))
  )

const casesOf = (suite: string): ReadonlyArray<Playable> => {
  if (suite === "approval") return approvalCases()
  const found = hosts[suite]
  if (found === undefined) throw new Error(`there is no suite '${suite}'`)
  const { placed = (contractCase) => contractCase } = found
  return [haft, agentbench, toolrouter, approvalgate, cliagent, filetools].flatMap((dialect) => {
    const tools = found.tools.filter((tool) => tool.dialect === dialect.name).map(({ name }) => name)
    return (tools.length === 0 ? [] : loadCases(contracts, dialect.name, tools)).map((contractCase) => ({
      title: `${dialect.name} ${contractCase.tool}: ${contractCase.name}`,
      play: () => playCase(placed(contractCase), found.host(dialect))
    }))
  })
}

const limitMs = 40_000
let [passed, excepted] = [0, 0]
const problems: Array<string> = []
for (const { title, play } of suites.split(",").flatMap(casesOf)) {
  if (!title.includes(filter)) continue
  const limit = Promise.withResolvers<never>()
  const timer = setTimeout(() => limit.reject(new Error("it took too long")), limitMs)
  const problem = await Promise.race([play(), limit.promise]).then(
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
await web?.[Symbol.asyncDispose]()

for (const problem of problems) console.error(problem)
console.log(`${passed} cases passed, ${excepted} are listed as exceptions, ${problems.length} failed`)
process.exit(problems.length === 0 ? 0 : 1)
