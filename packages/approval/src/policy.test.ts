import { describe, expect, it } from "@effect/vitest"
import type { ApprovalRequest, Facts, Risk, Verdict } from "@haft/core"

import { type AnswerPolicy, compileRules, decide, Rule } from "./index.ts"

interface Situation {
  readonly risk?: Risk
  readonly asks?: boolean
  readonly input?: Record<string, unknown>
  readonly writes?: ReadonlyArray<string>
  readonly existing?: boolean
  readonly protectedPaths?: boolean
  readonly runs?: string
  readonly fetches?: string
  readonly types?: Facts["types"]
  readonly rules?: ReadonlyArray<Partial<Rule>>
  readonly answers?: AnswerPolicy
  readonly alsoAsk?: ReadonlyArray<Risk>
}

const judge = ({ rules = [], answers = "ask", alsoAsk = [], ...rest }: Situation): Verdict => {
  const request: ApprovalRequest = {
    call: { id: "1", step: 1, tool: "t", dialect: "d", startedAt: 0 },
    input: rest.input ?? {},
    asks: rest.asks ?? true,
    facts: {
      risk: rest.risk ?? "dangerous",
      reads: [],
      writes: (rest.writes ?? []).map((path) => ({
        path,
        exists: rest.existing ?? true,
        isProtected: rest.protectedPaths ?? false
      })),
      ...(rest.runs !== undefined && { runs: rest.runs }),
      ...(rest.fetches !== undefined && { fetches: rest.fetches }),
      ...(rest.types !== undefined && { types: rest.types })
    }
  }
  const compiled = compileRules(rules.map((rule, place) => Rule.parse({ id: `r${place + 1}`, tool: "t", ...rule })))
  return decide(request, { rules: compiled, answers, alsoAsk, workspace: "/w", now: 0 })
}

const allow = {}
const ask = { decision: "ask" } as const
const deny = { decision: "deny" } as const

describe("the policy", () => {
  it.each<[string, Situation, Verdict]>([
    [
      "nothing matched, the contract asks",
      { writes: ["a"] },
      { decision: "ask", basis: "contract", reason: "t changes what is already there" }
    ],
    [
      "nothing matched, the contract does not ask",
      { asks: false },
      { decision: "allow", basis: "contract", reason: "d does not ask before this" }
    ],
    [
      "the host asks more than the contract",
      { asks: false, alsoAsk: ["dangerous"] },
      { decision: "ask", basis: "setting", reason: "t is dangerous" }
    ],
    [
      "the host asks about other risks",
      { asks: false, alsoAsk: ["safe_write"] },
      { decision: "allow", basis: "contract", reason: "d does not ask before this" }
    ],
    [
      "the host approves everything",
      { answers: "all" },
      { decision: "allow", basis: "setting", reason: "this host approves everything" }
    ],
    [
      "the host never asks",
      { answers: "none", runs: "ls" },
      { decision: "deny", basis: "contract", reason: "t runs a command, and this host never asks" }
    ],
    [
      "the host never asks, nor does the contract",
      { answers: "none", asks: false },
      { decision: "allow", basis: "contract", reason: "d does not ask before this" }
    ],
    [
      "a rule allows",
      { rules: [allow] },
      { decision: "allow", basis: "rule", rule: "r1", reason: "rule r1 allows it" }
    ],
    [
      "a rule with a note allows",
      { rules: [{ note: "fine" }] },
      { decision: "allow", basis: "rule", rule: "r1", reason: "rule r1 allows it (fine)" }
    ],
    [
      "a rule allows where the host never asks",
      { answers: "none", rules: [allow] },
      { decision: "allow", basis: "rule", rule: "r1", reason: "rule r1 allows it" }
    ],
    [
      "a rule wants to be asked where the host never asks",
      { answers: "none", rules: [allow, ask] },
      { decision: "deny", basis: "rule", rule: "r2", reason: "rule r2 wants to be asked, and this host never asks" }
    ],
    [
      "ask beats allow",
      { rules: [allow, ask] },
      { decision: "ask", basis: "rule", rule: "r2", reason: "rule r2 wants to be asked" }
    ],
    [
      "ask beats approving everything",
      { answers: "all", rules: [ask] },
      { decision: "ask", basis: "rule", rule: "r1", reason: "rule r1 wants to be asked" }
    ],
    [
      "ask beats a contract that does not",
      { asks: false, rules: [ask] },
      { decision: "ask", basis: "rule", rule: "r1", reason: "rule r1 wants to be asked" }
    ],
    [
      "deny beats allow",
      { rules: [allow, deny] },
      { decision: "deny", basis: "rule", rule: "r2", reason: "rule r2 forbids it" }
    ],
    [
      "deny beats ask",
      { rules: [ask, deny] },
      { decision: "deny", basis: "rule", rule: "r2", reason: "rule r2 forbids it" }
    ],
    [
      "deny beats approving everything",
      { answers: "all", rules: [deny] },
      { decision: "deny", basis: "rule", rule: "r1", reason: "rule r1 forbids it" }
    ],
    [
      "deny beats a contract that does not ask",
      { asks: false, rules: [deny] },
      { decision: "deny", basis: "rule", rule: "r1", reason: "rule r1 forbids it" }
    ],
    [
      "a rule for another tool",
      { rules: [{ tool: "u" }] },
      { decision: "ask", basis: "contract", reason: "t is dangerous" }
    ],
    [
      "a rule for a tool with a longer name",
      { rules: [{ tool: "tt" }] },
      { decision: "ask", basis: "contract", reason: "t is dangerous" }
    ],
    [
      "a disabled rule",
      { rules: [{ enabled: false }] },
      { decision: "ask", basis: "contract", reason: "t is dangerous" }
    ],
    [
      "a disabled prohibition",
      { asks: false, rules: [{ ...deny, enabled: false }] },
      { decision: "allow", basis: "contract", reason: "d does not ask before this" }
    ],
    [
      "an expired rule",
      { rules: [{ expires: "1960-01-01T00:00:00Z" }] },
      { decision: "ask", basis: "contract", reason: "t is dangerous" }
    ],
    [
      "a prohibition that may apply",
      { asks: false, runs: "$X rm", rules: [{ ...deny, touches: { runs: "rm **" } }] },
      { decision: "ask", basis: "rule", rule: "r1", reason: "rule r1 may forbid it, which can't be told for sure" }
    ],
    [
      "a simple command that a rule allows",
      { runs: "npm test", rules: [{ touches: { runs: "npm test" } }] },
      { decision: "allow", basis: "rule", rule: "r1", reason: "rule r1 allows it" }
    ],
    [
      "an opaque command, although a rule allows all of the tool",
      { runs: "npm test; $(rm x)", rules: [allow] },
      { decision: "ask", basis: "contract", reason: "t runs a command" }
    ],
    [
      "an opaque command that is spelled out in a rule",
      { runs: "a > b", input: { c: "a > b" }, rules: [{ exactly: { c: "a > b" } }] },
      { decision: "ask", basis: "contract", reason: "t runs a command" }
    ],
    [
      "a protected file under a broad rule",
      { writes: [".git/hooks/x"], protectedPaths: true, rules: [{ touches: { writes: "**" } }, allow] },
      { decision: "ask", basis: "protected_path", reason: "t changes .git/hooks/x, which other programs trust" }
    ],
    [
      "a protected file that the rule names",
      { writes: [".GIT/hooks/x"], protectedPaths: true, rules: [{ touches: { writes: ["**", ".git/hooks/x"] } }] },
      { decision: "allow", basis: "rule", rule: "r1", reason: "rule r1 allows it" }
    ],
    [
      "a protected file that the rule's field names",
      {
        writes: [".npmrc"],
        input: { path: ".npmrc" },
        protectedPaths: true,
        rules: [{ fields: { path: { equals: ".npmrc" } } }]
      },
      { decision: "allow", basis: "rule", rule: "r1", reason: "rule r1 allows it" }
    ],
    [
      "a protected file that the rule's pattern names",
      {
        writes: [".npmrc"],
        input: { path: ".npmrc" },
        protectedPaths: true,
        rules: [{ pattern: '^{"path":".npmrc"}$' }, { pattern: String.raw`^{"path":"\.npmrc"}$` }]
      },
      { decision: "allow", basis: "rule", rule: "r2", reason: "rule r2 allows it" }
    ],
    [
      "another protected file than the rule names",
      { writes: [".vscode/tasks.json"], protectedPaths: true, rules: [{ touches: { writes: ["**", ".git/config"] } }] },
      { decision: "ask", basis: "protected_path", reason: "t changes .vscode/tasks.json, which other programs trust" }
    ],
    [
      "typing into a terminal",
      { types: { terminal: "1", text: "ls" } },
      { decision: "ask", basis: "contract", reason: "t types into a terminal" }
    ],
    [
      "fetching",
      { fetches: "https://example.com/x" },
      { decision: "ask", basis: "contract", reason: "t fetches from example.com" }
    ],
    [
      "fetching nonsense",
      { fetches: "nonsense" },
      { decision: "ask", basis: "contract", reason: "t fetches from an address that can't be read" }
    ],
    [
      "writing something new",
      { writes: ["a"], existing: false },
      { decision: "ask", basis: "contract", reason: "t writes new files" }
    ],
    [
      "arguments that are not JSON",
      { asks: false, input: { at: new Date(0) }, rules: [{ exactly: {} }] },
      {
        decision: "deny",
        basis: "error",
        reason: "the call can't be judged: the arguments contain a Date, which is not JSON"
      }
    ]
  ])("%s", (_title, situation, expected) => {
    expect(judge(situation)).toEqual(expected)
  })

  it("denies everything while the rules can't be read", () => {
    const request: ApprovalRequest = {
      call: { id: "1", step: 1, tool: "t", dialect: "d", startedAt: 0 },
      input: {},
      asks: false,
      facts: { risk: "read_only", reads: [], writes: [] }
    }
    const settings = { answers: "all", alsoAsk: [], workspace: "/w", now: 0 } as const
    expect(decide(request, { ...settings, rules: { unreadable: "it is not JSON" } })).toEqual({
      decision: "deny",
      basis: "error",
      reason: "the approval rules can't be read, so nothing is allowed: it is not JSON"
    })
  })
})
