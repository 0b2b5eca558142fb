import { describe, expect, it } from "@effect/vitest"
import type { JournalEvent } from "@haft/core"
import type { RecordedCall } from "@haft/core/internal"

import { compileRules, Rule, simulate, type SimulationOptions } from "../index.ts"

interface Recorded {
  readonly tool: string
  readonly params?: unknown
  readonly touches?: Record<string, unknown>
  readonly approval?: Record<string, unknown>
}

const person = { decision: "allow", by: "person", reason: "approved", asks: true }
const refused = { decision: "deny", by: "person", reason: "no", asks: true }
const policy = { decision: "allow", by: "policy", reason: "d does not ask before this", asks: false }

const record = (...calls: ReadonlyArray<Recorded>): ReadonlyArray<JournalEvent> =>
  calls.flatMap(({ tool, params = {}, touches = {}, approval = person }, place) => {
    const call = { request_id: `c${place + 1}`, step: place + 1, tool, dialect: "d", at: place }
    return [
      { type: "tool_call_started", ...call, params },
      { type: "something_else", step: place + 1 },
      {
        type: "tool_call_finished",
        ...call,
        status: "success",
        duration_sec: 0.1,
        touches: { risk: "dangerous", ...touches },
        approval,
        reply: {}
      }
    ]
  })

const writes = (path: string, approval = person): Recorded => ({
  tool: "save",
  params: { path },
  touches: { writes: [{ path, exists: false }] },
  approval
})
const runs = (command: string, approval = person): Recorded => ({
  tool: "run",
  params: { command },
  touches: { runs: command },
  approval
})
const fetches = (url: string, approval = person): Recorded => ({
  tool: "fetch",
  params: { url },
  touches: { fetches: url },
  approval
})

const tried = (
  events: ReadonlyArray<JournalEvent>,
  rules: ReadonlyArray<Partial<Rule>> = [],
  more: Partial<SimulationOptions> = {}
) =>
  simulate(events, {
    workspace: "/w",
    rules: compileRules(rules.map((rule, place) => Rule.parse({ id: `r${place + 1}`, tool: "save", ...rule }))),
    ...more
  })

describe("trying rules on a recorded run", () => {
  it("counts what would be allowed, asked and denied, and lists what flips", () => {
    const events = record(
      writes("src/a"),
      writes("doc/b"),
      writes("secret/c"),
      { tool: "read", approval: policy },
      writes("src/d", refused)
    )
    const { counts, flips, undecided } = tried(events, [
      { touches: { writes: "src/**" } },
      { decision: "deny", touches: { writes: "secret/**" } },
      { tool: "read", decision: "ask" }
    ])
    expect(counts).toEqual({ allow: 2, ask: 2, deny: 1 })
    expect(undecided).toBe(0)
    expect(flips.map(({ requestId, change, simulated }) => [requestId, change, simulated.reason])).toEqual([
      ["c1", "less", "rule r1 allows it"],
      ["c3", "more", "rule r2 forbids it"],
      ["c4", "more", "rule r3 wants to be asked"],
      ["c5", "less", "rule r1 allows it"]
    ])
  })

  it("tries rules at the time of the call, or at another", () => {
    const events = record(writes("a"))
    const rule = { expires: "1970-01-02T00:00:00Z" }
    expect(tried(events, [rule]).counts.allow).toBe(1)
    expect(tried(events, [rule], { now: Date.parse("1970-01-03T00:00:00Z") }).counts.allow).toBe(0)
  })

  it("decodes arguments, so that defaults and the order of keys are the tool's", () => {
    const events = record({ ...writes("a"), params: { path: "a" } })
    const rule = { exactly: { path: "a", content: "" } }
    expect(tried(events, [rule]).counts.allow).toBe(0)
    const decode = ({ params }: RecordedCall) => ({ ...(params as object), content: "" })
    expect(tried(events, [rule], { decode }).counts.allow).toBe(1)
  })

  it("says which calls have hidden arguments", () => {
    const hidden = { ...writes("a"), params: { path: "a", content: "[redacted]" } }
    expect(tried(record(hidden, writes("b"))).calls.map(({ isRedacted }) => isRedacted)).toEqual([true, false])
  })

  it("passes over calls that were never decided", () => {
    const [started] = record(writes("a"))
    const events = [started, { type: "tool_call_started" }, { type: "tool_call_finished" }].filter(
      (event) => event !== undefined
    )
    expect(tried(events)).toMatchObject({ calls: [], undecided: 1 })
    expect(tried(record({ ...writes("a"), params: "[withheld]" })).undecided).toBe(1)
  })

  it("judges by mode and by further risks", () => {
    const events = record(writes("a"), { tool: "read", approval: policy })
    expect(tried(events, [], { answers: "none" }).counts).toEqual({ allow: 1, ask: 0, deny: 1 })
    expect(tried(events, [], { ask: ["dangerous"] }).counts).toEqual({ allow: 0, ask: 2, deny: 0 })
  })
})

describe("rules that would have spared questions", () => {
  const proposals = (...calls: ReadonlyArray<Recorded>) =>
    tried(record(...calls)).proposals.map(({ rule, questionsSpared }) => [rule.tool, rule.touches, questionsSpared])

  it("are the fewest, and as narrow as they can be", () => {
    expect(
      proposals(
        writes("src/lib/a.ts"),
        writes("src/lib/b.ts"),
        writes("src/lib/deep/c.ts"),
        runs("npm test"),
        runs("npm test"),
        fetches("https://docs.example/a"),
        fetches("https://docs.example/b"),
        writes("README.md")
      )
    ).toEqual([
      ["save", { writes: "src/lib/**" }, 3],
      ["run", { runs: "npm test" }, 2],
      ["fetch", { fetches: "docs.example" }, 2]
    ])
  })

  it("never cover what was refused", () => {
    expect(proposals(writes("src/a/1"), writes("src/b/1"), writes("src/c/1", refused))).toEqual([])
    expect(proposals(writes("src/a/1"), writes("src/a/2"), writes("src/c/1", refused))).toEqual([
      ["save", { writes: "src/a/**" }, 2]
    ])
  })

  it("name the network where a command was allowed it", () => {
    const install = { ...runs("npm ci"), touches: { runs: "npm ci", network: true } }
    expect(proposals(install, install, runs("npm ci", refused))).toEqual([])
    expect(proposals(install, install)).toEqual([["run", { runs: "npm ci", network: true }, 2]])
    expect(proposals(runs("npm ci"), runs("npm ci"), { ...install, approval: refused })).toEqual([
      ["run", { runs: "npm ci" }, 2]
    ])
  })

  it("take a question that nobody answered for neither a yes nor a no", () => {
    const late = { decision: "deny", by: "nobody", reason: "nobody answered in time", asks: true }
    const { flips, proposals } = tried(record(writes("src/a"), writes("src/b"), writes("src/c", late)))
    expect(flips).toEqual([])
    expect(proposals).toMatchObject([{ rule: { touches: { writes: "src/**" } }, questionsSpared: 2 }])
  })

  it("widen a command by its last words only, below a subcommand", () => {
    expect(proposals(runs("git diff a"), runs("git diff b"), runs("git push x", refused))).toEqual([
      ["run", { runs: "git diff **" }, 2]
    ])
    expect(proposals(runs("ls -l a"), runs("ls -l b"))).toEqual([])
  })

  it("are never made for interpreters, opaque commands, terminals, protected files or hidden arguments", () => {
    const hidden = { ...writes("src/a"), params: { path: "src/a", token: "[redacted]" } }
    const typed = { tool: "type", touches: { types: "1" } }
    const nowhere = { tool: "fetch", touches: { fetches: "nonsense" } }
    for (const call of [
      runs("python3 x.py"),
      runs("a > b"),
      runs("a; $b"),
      runs("echo '*'"),
      writes(".git/hooks/x"),
      writes("a*b/c"),
      typed,
      nowhere,
      hidden,
      { tool: "read" },
      { tool: "both", touches: { runs: "ls", fetches: "https://a.example" } }
    ]) {
      expect(proposals(call, call, call)).toEqual([])
    }
  })

  it("name the directory a command ran in, and one page where it was always the same", () => {
    const inPackage: Recorded = { ...runs("npm test"), touches: { runs: "npm test", reads: ["packages/a"] } }
    const page = fetches("https://a.example/docs")
    expect(tried(record(inPackage, inPackage, page, page)).proposals.map(({ rule }) => rule.touches)).toEqual([
      { runs: "npm test", reads: ["packages/a"] },
      { fetches: "https://a.example/docs" }
    ])
  })

  it("are found in a long record", () => {
    const calls = Array.from({ length: 3000 }, (_, n) =>
      writes(`d${n % 7}/e${n % 70}/${n}`, n % 70 === 0 ? refused : person)
    )
    const { proposals: found } = tried(record(...calls))
    // The refusal in d0/e0 keeps d0 from being proposed as a whole.
    expect(found.slice(0, 6).map(({ rule }) => rule.touches?.writes)).toEqual([1, 2, 3, 4, 5, 6].map((n) => `d${n}/**`))
    expect(found.slice(6).map(({ rule }) => rule.touches?.writes)).toEqual([7, 14, 21, 28].map((n) => `d0/e${n}/**`))
  })

  it("hold when they are tried", () => {
    const events = record(writes("src/a"), writes("src/b"), runs("npm test"), runs("npm test"))
    const { proposals: found } = tried(events)
    const again = simulate(events, { workspace: "/w", rules: compileRules(found.map(({ rule }) => rule)) })
    expect(again.counts).toEqual({ allow: 4, ask: 0, deny: 0 })
  })
})
