import { readdirSync, readFileSync } from "node:fs"
import { PassThrough } from "node:stream"

import { askInTerminal, askNobody, type GateResponse } from "@haft/approval"
import { openHost } from "@haft/core/promise"
import { differs, temporaryWorkspace } from "@haft/testing"
import { describe, expect, it } from "vitest"

import { standardHost } from "./host/standard-host.ts"
import { openRules, openWorkspace } from "./internal.ts"

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

const contracts = new URL("../../../contracts", import.meta.url).pathname

const casesOf = (dialect: string) => {
  const directory = `${contracts}/${dialect}/approvals`
  return readdirSync(directory).map((file) => ({
    name: file.replace(".json", "").replaceAll("-", " "),
    approvalCase: JSON.parse(readFileSync(`${directory}/${file}`, "utf8")) as ApprovalCase
  }))
}

describe("approvalgate", () => {
  it.each(casesOf("approvalgate"))("$name", ({ approvalCase }) =>
    play(approvalCase, async (config, { tool, params, request, answer }) => {
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
      expect(differs(request === null ? [] : [request], asked, "requests")).toBe(undefined)
      return wire
    })
  )
})

describe("cliagent", () => {
  it.each(casesOf("cliagent"))("$name", ({ approvalCase }) =>
    play(approvalCase, async (config, { tool, params, display, typed }) => {
      const input = new PassThrough()
      const output = new PassThrough()
      let shown = ""
      output.on("data", (text: Buffer) => (shown += text.toString()))
      input.end(typed)
      const asker = display === null ? askNobody : askInTerminal({ input, output, interactive: true, color: false })
      await using host = await openHost(standardHost({ ...config, dialect: "cliagent" }, { asker }))
      const { wire } = await host.call(tool, params)
      expect(shown).toContain(display ?? "")
      return wire
    })
  )
})

const play = async (
  approvalCase: ApprovalCase,
  call: (config: { readonly root: string; readonly state: string }, approvalCase: ApprovalCase) => Promise<unknown>
): Promise<void> => {
  using workspace = temporaryWorkspace(approvalCase.workspace ?? {})
  const config = { root: workspace.root, state: workspace.state }
  const rules = await openRules(config)
  for (const rule of approvalCase.rules ?? []) await rules.add(rule)
  const wire = await call(config, approvalCase)
  expect([differs(approvalCase.reply, wire), wire]).toEqual([undefined, wire])
  for (const [path, content] of Object.entries(approvalCase.files ?? {})) {
    expect([path, workspace.exists(path) ? workspace.read(path) : null]).toEqual([path, content])
  }
  expect(await rules.list()).toHaveLength(approvalCase.stored ?? approvalCase.rules?.length ?? 0)
}
