import { describe, expect, it } from "@effect/vitest"
import type { ApprovalRequest, Facts } from "@haft/core"

import { type ApprovalMode, compileRules, decide, modeSwitch, type PolicySettings, Rule } from "./index.ts"
import { onlyReads } from "./matching/reading-commands.ts"
import { approvalModes } from "./modes.ts"

type Situation = Partial<Omit<Facts, "writes">> & {
  readonly writes?: ReadonlyArray<string>
  readonly protects?: boolean
  readonly asks?: boolean
  readonly openWorld?: true
  readonly rules?: ReadonlyArray<Partial<Rule>>
  readonly settings?: Partial<PolicySettings>
}

const requestOf = ({
  writes = [],
  protects = false,
  asks = true,
  openWorld,
  ...facts
}: Situation): ApprovalRequest => ({
  call: { id: "1", step: 1, tool: "t", dialect: "d", startedAt: 0 },
  input: {},
  asks,
  ...(openWorld === true && { openWorld }),
  facts: {
    risk: "dangerous",
    reads: [],
    ...facts,
    writes: writes.map((path) => ({ path, exists: true, isProtected: protects }))
  }
})

const judge = (mode: ApprovalMode, { rules = [], settings = {}, ...situation }: Situation) =>
  decide(requestOf(situation), {
    rules: compileRules(rules.map((rule, place) => Rule.parse({ id: `r${place + 1}`, tool: "t", ...rule }))),
    answers: "ask",
    onlyReads,
    alsoAsk: [],
    workspace: "/w",
    now: 0,
    ...settings,
    mode
  })

const decisions = (situation: Situation) => approvalModes.map((mode) => judge(mode, situation).decision)

const edit = { writes: ["src/a.ts"] } as const
const command = { runs: "npm test" } as const

describe("modes of a workspace", () => {
  // plan, ask, accept-edits, auto
  it.each<[string, Situation, ReadonlyArray<string>]>([
    ["a read", { risk: "read_only", asks: false, reads: ["a"] }, ["allow", "allow", "allow", "allow"]],
    ["a read that the contract asks about", { risk: "read_only", reads: ["a"] }, ["ask", "ask", "ask", "ask"]],
    ["a change of files", edit, ["deny", "ask", "allow", "allow"]],
    ["a change that the contract does not ask about", { ...edit, asks: false }, ["deny", "allow", "allow", "allow"]],
    ["a change of a protected path", { ...edit, protects: true }, ["deny", "ask", "ask", "ask"]],
    ["a change of a protected path, unasked", { ...edit, protects: true, asks: false }, ["deny", "ask", "ask", "ask"]],
    ["a delete of ten files", { ...edit, removedFiles: 10 }, ["deny", "ask", "allow", "allow"]],
    ["a delete of eleven files", { ...edit, removedFiles: 11 }, ["deny", "ask", "ask", "ask"]],
    ["a change that is too large to undo", { ...edit, replacedBytes: 2 ** 30 }, ["deny", "ask", "ask", "ask"]],
    ["a change by a tool that reaches further", { ...edit, openWorld: true }, ["deny", "ask", "ask", "ask"]],
    ["a change that comes with a fetch", { ...edit, fetches: "https://a.example/" }, ["deny", "ask", "ask", "ask"]],
    ["a command", command, ["deny", "ask", "ask", "ask"]],
    ["a command in an overlay", { ...command, confined: "overlay" }, ["deny", "ask", "ask", "allow"]],
    [
      "a command in an overlay with the network",
      { ...command, confined: "overlay", network: true },
      ["deny", "ask", "ask", "ask"]
    ],
    ["a command in a sandbox", { ...command, confined: "workspace" }, ["deny", "ask", "ask", "ask"]],
    ["a command that reads", { runs: "git status" }, ["deny", "ask", "ask", "ask"]],
    [
      "a command that reads, in a sandbox",
      { runs: "ls -la src", confined: "workspace" },
      ["ask", "ask", "allow", "allow"]
    ],
    [
      "a command that reads, in a sandbox with the network",
      { runs: "git status", confined: "workspace", network: true },
      ["deny", "ask", "ask", "ask"]
    ],
    ["a command that can only read", { ...command, confined: "read_only" }, ["ask", "ask", "allow", "allow"]],
    [
      "a command that can only read, with the network",
      { ...command, confined: "read_only", network: true },
      ["deny", "ask", "ask", "ask"]
    ],
    ["a fetch", { fetches: "https://a.example/" }, ["ask", "ask", "ask", "ask"]],
    ["input for a terminal", { types: { terminal: "1", text: "x" } }, ["deny", "ask", "ask", "ask"]],
    ["a tool that says nothing of what it touches", {}, ["deny", "ask", "ask", "ask"]],
    ["a rule that denies", { ...edit, rules: [{ decision: "deny" }] }, ["deny", "deny", "deny", "deny"]],
    ["a rule that asks", { ...edit, rules: [{ decision: "ask" }] }, ["deny", "ask", "ask", "ask"]],
    ["a rule that allows", { ...command, rules: [{}] }, ["deny", "allow", "allow", "allow"]],
    [
      "a risk that is always asked about",
      { ...edit, settings: { alsoAsk: ["dangerous"] } },
      ["deny", "ask", "ask", "ask"]
    ],
    ["a host that answers yes", { ...command, settings: { answers: "all" } }, ["deny", "allow", "allow", "allow"]],
    ["a host that never asks", { ...command, settings: { answers: "none" } }, ["deny", "deny", "deny", "deny"]]
  ])("%s", (_title, situation, expected) => {
    expect(decisions(situation)).toEqual(expected)
  })

  it("say why they spare a question, refuse a call, or ask all the same", () => {
    expect(judge("accept-edits", edit)).toEqual({
      decision: "allow",
      basis: "mode",
      reason: "mode accept-edits: the change is inside the workspace and can be undone"
    })
    expect(judge("plan", edit)).toEqual({
      decision: "deny",
      basis: "mode",
      reason: "mode plan: calls that change or run something are refused"
    })
    expect(judge("auto", command)).toEqual({
      decision: "ask",
      basis: "contract",
      reason: "t runs a command (mode auto asks: what the command changes can't be undone here)"
    })
    expect(judge("accept-edits", { ...edit, removedFiles: 50 })).toMatchObject({
      reason: "t changes what is already there (mode accept-edits asks: it deletes or moves 50 files, more than 10)"
    })
  })

  it("allow a compound command whose parts are allowed by a rule or only read", () => {
    const rules = [{ touches: { runs: "npm test" } }]
    const piped = { runs: "npm test 2>&1 | tail -20", confined: "workspace", rules } as const
    expect(decisions(piped)).toEqual(["deny", "ask", "allow", "allow"])
    expect(judge("accept-edits", { ...piped, runs: "npm test | tee x" }).decision).toBe("ask")
    const { confined: _confined, ...loose } = piped
    expect(judge("accept-edits", loose).decision).toBe("ask")
  })

  it("take the host's own limit of deleted files", () => {
    const deletes = { ...edit, removedFiles: 11 }
    expect(judge("auto", { ...deletes, settings: { modeLimits: { deletedFiles: 11 } } }).decision).toBe("allow")
    expect(judge("auto", { ...edit, removedFiles: 1, settings: { modeLimits: { deletedFiles: 0 } } }).decision).toBe(
      "ask"
    )
  })

  it("can be switched", () => {
    const mode = modeSwitch()
    expect(mode.current()).toBe("ask")
    mode.set("auto")
    expect(mode.current()).toBe("auto")
  })
})
