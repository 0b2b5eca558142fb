import { compileRules, decide, Rule, type RuleSet } from "@haft/approval"
import type { ApprovalRequest } from "@haft/core"

import type { Benchmark, Group } from "../benchmark.ts"

const counts = [1, 20, 200]
/** The number of rules that the goal is about. */
const goalCount = 200
const content = 'const value = "text"\n'.repeat(3200)

// The kinds of rules. All rules are for the same tool, so that the index by tool does not help.
const kinds: Readonly<Record<string, (n: number) => unknown>> = {
  "patterns over arguments": (n) => ({ pattern: String.raw`^{"path":"src/m${n}/.*\.ts","content":".*"}$` }),
  "patterns with a choice of fields": (n) => ({ pattern: String.raw`^{"path":"src/m${n}/.*\.ts"(,"content":".*")?}$` }),
  "conditions on fields": (n) => ({ fields: { path: { glob: `src/m${n}/**` }, content: { expression: "[a-z]*" } } }),
  "conditions on touches": (n) => ({ touches: { writes: `src/m${n}/**` } }),
  "exact arguments": (n) => ({ exactly: { path: `src/m${n}/a.ts`, content } }),
  "globs for what is written": (n) => ({ touches: { writes: `src/**/m${n}*.ts` } }),
  "patterns over contents": (n) => ({ pattern: `^{"path":".*","content":".*mid${n}.*"}$` }),
  prohibitions: (n) => ({ decision: "deny", pattern: `secret-${n}` }),
  "prohibitions in any case": (n) => ({ decision: "deny", pattern: `(?i)secret-${n}[a-z]*` }),
  "prohibited paths": (n) => ({ decision: "deny", touches: { writes: `src/**/m${n}*.ts` } }),
  "prohibited fields": (n) => ({ decision: "deny", fields: { path: { glob: `src/**/m${n}*.ts` } } })
}

/** Kinds of which each rule searches the whole of the serialized arguments. */
const searching = new Set(["prohibitions", "prohibitions in any case"])

const rulesOf = (kind: (n: number) => unknown, count: number): RuleSet =>
  compileRules(
    Array.from({ length: count }, (_, n) => Rule.parse({ id: `r${n}`, tool: "create_file", ...(kind(n) as object) }))
  )

const request: ApprovalRequest = {
  call: { id: "1", step: 1, tool: "create_file", dialect: "cliagent", startedAt: 0 },
  input: { path: "src/elsewhere/file.ts", content },
  asks: true,
  facts: {
    reads: [],
    writes: [{ path: "src/elsewhere/file.ts", exists: false, isProtected: false }],
    risk: "safe_write"
  }
}

/**
 * A decision about 64 kB of arguments, under rules none of which matches. The goal is that 99 of 100 decisions under
 * 200 rules take less than a millisecond, and less than 25 where every rule searches all the arguments. The floor is serializing the arguments, which is needed to match patterns;
 * the peer has the patterns as JavaScript's own, backtracking expressions.
 */
export const benchmarks: Group = async function* ({ quick }) {
  for (const count of quick ? [goalCount] : counts) {
    for (const [name, kind] of Object.entries(kinds)) yield decisionUnder(name, kind, count)
  }
  yield slowestExpression()
}

const decisionUnder = (name: string, kind: (n: number) => unknown, count: number): Benchmark => {
  const rules = rulesOf(kind, count)
  const plain = Array.from(
    { length: count },
    (_, n) => new RegExp(String.raw`^\{"path":"src/m${n}/.*\.ts","content":".*"\}$`)
  )
  return {
    group: "approval",
    name: `${name}, 64 kB`,
    size: { value: count, label: `${count.toLocaleString("en")} rules` },
    floor: "JSON.stringify",
    measures: "slowest",
    ifMissed:
      "Serializing 64 kB takes a tenth of a millisecond on an idle machine; what is above that in the slowest of a hundred is the machine's other work and the garbage collector.",
    contenders: [
      {
        name: "JSON.stringify",
        kind: "limit",
        run: () => JSON.stringify(request.input),
        check: (answer) => expectTrue((answer as string).length > content.length)
      },
      {
        name: "RegExp, not hardened",
        kind: "peer",
        run: () => {
          const text = JSON.stringify(request.input)
          return plain.some((expression) => expression.test(text))
        },
        check: (answer) => expectTrue(answer === false)
      },
      {
        name: "haft",
        kind: "haft",
        within: searching.has(name) ? 25e6 : 1e6,
        run: () => decide(request, { rules, answers: "ask", alsoAsk: [], workspace: "/w", now: 0 }).decision,
        check: (answer) => expectTrue(answer === "ask")
      }
    ]
  }
}

const slowestExpression = (): Benchmark => {
  const worst = compileRules([
    Rule.parse({ id: "r", tool: "create_file", fields: { content: { expression: "[ab]*a[ab]{8}" } } })
  ])
  const random = randomText(60_000)
  return {
    group: "approval",
    name: "the slowest expression that is tried, 60 kB",
    floor: "JSON.stringify",
    contenders: [
      { name: "JSON.stringify", kind: "limit", run: () => JSON.stringify(random), check: () => {} },
      {
        name: "haft",
        kind: "haft",
        within: 50e6,
        run: () =>
          decide(
            { ...request, input: { content: random } },
            { rules: worst, answers: "ask", alsoAsk: [], workspace: "/w", now: 0 }
          ),
        check: () => {}
      }
    ]
  }
}

const expectTrue = (holds: boolean): void => {
  if (!holds) throw new Error("a wrong answer")
}

const randomText = (length: number): string => {
  let seed = 1
  return Array.from({ length }, () => {
    seed = (seed * 1103515245 + 12345) % 2147483648
    return seed > 1073741824 ? "a" : "b"
  }).join("")
}
