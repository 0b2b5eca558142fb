import { deepEqual, equal, ok } from "node:assert/strict"
import { readdirSync, readFileSync } from "node:fs"
import { PassThrough } from "node:stream"

import { askInTerminal, askNobody, type GateResponse } from "@haft/approval"
import { openHost } from "@haft/core/promise"
import { differs, temporaryWorkspace } from "@haft/testing"

import { standardHost } from "../src/host/standard-host.ts"
import { openRules, openWorkspace } from "../src/internal.ts"

/** Approval rules of a contract, as data: `contracts/<dialect>/approvals/<case>.json`. */
interface ApprovalCase {
  readonly workspace?: Readonly<Record<string, string>>
  readonly rules?: ReadonlyArray<unknown>
  readonly tool: string
  readonly params: unknown
  /** The request that waits in the gate; null when nobody must be asked. */
  readonly request?: unknown
  readonly answer?: GateResponse
  /** Text that a terminal must show; null when nobody must be asked. */
  readonly display?: string | null
  readonly typed?: string
  readonly reply: unknown
  readonly files?: Readonly<Record<string, string | null>>
  /** How many rules are stored afterwards. */
  readonly stored?: number
}

interface Surroundings {
  readonly root: string
  readonly state: string
}

/** Dialects whose contract has approval cases. */
export const approvalDialects = ["approvalgate", "cliagent"] as const

/** Loads the approval cases of a contract. */
export const approvalCasesOf = (contracts: string, dialect: string) => {
  const directory = `${contracts}/${dialect}/approvals`
  return readdirSync(directory).map((file) => ({
    name: file.replace(".json", "").replaceAll("-", " "),
    approvalCase: JSON.parse(readFileSync(`${directory}/${file}`, "utf8")) as ApprovalCase
  }))
}

/** Plays an approval case; rejects where something differs. */
export const playApprovalCase = async (
  dialect: (typeof approvalDialects)[number],
  approvalCase: ApprovalCase
): Promise<void> => {
  using workspace = temporaryWorkspace(approvalCase.workspace ?? {})
  const config = { root: workspace.root, state: workspace.state }
  const rules = await openRules(config)
  for (const rule of approvalCase.rules ?? []) await rules.add(rule)
  const wire = await (dialect === "cliagent" ? callInTerminal : callThroughGate)(config, approvalCase)
  equal(differs(approvalCase.reply, wire), undefined, JSON.stringify(wire))
  for (const [path, content] of Object.entries(approvalCase.files ?? {})) {
    deepEqual([path, workspace.exists(path) ? workspace.read(path) : null], [path, content])
  }
  equal((await rules.list()).length, approvalCase.stored ?? approvalCase.rules?.length ?? 0)
}

const callThroughGate = async (config: Surroundings, { tool, params, request, answer }: ApprovalCase) => {
  const opened = await openWorkspace({ ...config, dialect: "approvalgate" })
  const asked: Array<unknown> = []
  opened.approvals.subscribe((change) => {
    if (change.type !== "opened") return
    const { id, stepId, tool: wanted, args, reason } = change.request
    asked.push({ stepId, tool: wanted, args, reason })
    opened.approvals.answer(id, answer ?? { approved: false })
  })
  const { wire } = await (await opened.host()).call(tool, params)
  await opened.dispose()
  equal(differs(request === null ? [] : [request], asked, "requests"), undefined)
  return wire
}

const callInTerminal = async (config: Surroundings, { tool, params, display, typed }: ApprovalCase) => {
  const input = new PassThrough()
  const output = new PassThrough()
  let shown = ""
  output.on("data", (text: Buffer) => (shown += text.toString()))
  input.end(typed)
  const asker = display === null ? askNobody : askInTerminal({ input, output, interactive: true, color: false })
  await using host = await openHost(standardHost({ ...config, dialect: "cliagent" }, { asker }))
  const { wire } = await host.call(tool, params)
  ok(shown.includes(display ?? ""), `shown: ${shown}`)
  return wire
}
