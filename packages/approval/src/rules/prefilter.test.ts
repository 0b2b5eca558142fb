import type { ApprovalRequest } from "@haft/core"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

import { compileRules, Rule } from "../index.ts"
import { type Subject, subjectOf } from "../matching/subject.ts"
import { compileRule } from "./compile-rule.ts"
import { Screen } from "./prefilter.ts"

// Rules and calls from the same few words, so that many of them meet, and many nearly.
const word = fc.constantFrom("src", "source", "Secret", "ſecret", "\u212Aey", "kéy", "a", "main.ts", ".env", "😀")
const directory = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join("/"))
const path = fc.oneof({ weight: 1, arbitrary: fc.constant(".") }, { weight: 8, arbitrary: directory })
const globPart = fc.oneof(word, fc.constantFrom("*", "**", "m*", "*.ts", "{src,source}", "[sk]*", "?ey"))
const glob = fc.array(globPart, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"))
const host = fc.constantFrom("example.com", "api.example.com", "EXAMPLE.com.", "bücher.example", "127.0.0.1", "[::1]")
const command = fc
  .array(fc.constantFrom("npm", "test", "/bin/rm", "rm", "-rf", "source", "bash", "run secret", "env"), {
    minLength: 1,
    maxLength: 4
  })
  .map((words) => words.map((one) => (one.includes(" ") ? `"${one}"` : one)).join(" "))
const line = fc.oneof(
  command,
  fc.tuple(command, fc.constantFrom(" && ", " | ", "; ")).map(([one, joint]) => one + joint + one)
)

const expressionPart = fc.oneof(
  word.map((one) => one.replaceAll(".", String.raw`\.`)),
  fc.constantFrom(".*", "[^/]*", "(?:secret|key)", "|", "s?", "(src)+", ".", String.raw`\w+`, "(?i:KEY)", "$")
)
const expression = fc
  .tuple(fc.constantFrom("", "", "(?i)", "^"), fc.array(expressionPart, { minLength: 1, maxLength: 5 }))
  .map(([start, parts]) => start + parts.join(""))
const argumentsPattern = fc
  .tuple(expression, expression)
  .chain(([one, other]) =>
    fc.constantFrom(
      `^{"path":"${one}","content":"${other}"}$`,
      `^{"path":"${one}"(,"content":"${other}")?}$`,
      `{"path":"${one}".*`,
      `(?i){"path":"(${one})","content":".*"}`,
      one
    )
  )

const conditions = fc.oneof(
  fc.record({ pattern: argumentsPattern }),
  fc.record({ pattern: expression }),
  fc.record({ fields: fc.record({ path: fc.record({ glob }) }) }),
  fc.record({ fields: fc.record({ content: fc.record({ expression }) }) }),
  fc.record({ fields: fc.record({ path: fc.record({ equals: directory }), content: fc.record({ expression }) }) }),
  fc.record({ exactly: fc.record({ path: directory, content: fc.oneof(word, directory) }) }),
  fc.record({ touches: fc.record({ writes: fc.oneof(glob, fc.array(glob, { minLength: 1, maxLength: 3 })) }) }),
  fc.record({ touches: fc.record({ reads: glob, writes: glob }) }),
  fc.record({
    touches: fc.record({
      fetches: fc.oneof(
        host,
        host.map((one) => `*.${one}`)
      )
    })
  }),
  fc.record({
    touches: fc.record({
      runs: fc.oneof(
        command,
        command.map((one) => `${one} **`),
        fc.constantFrom("rm *", "npm * test", "npm ** t*t")
      )
    })
  }),
  fc.record({ touches: fc.record({ runs: command, network: fc.constant(true) }) })
)
const rule = fc.record({ decision: fc.constantFrom("allow", "ask", "deny"), conditions })

const filler = 'const value = "text"\n'.repeat(150)
const request = fc
  .record({
    path: fc.oneof(
      directory,
      directory.map((one) => `./x/../${one}`)
    ),
    content: fc.oneof(
      fc.array(word, { maxLength: 4 }).map((words) => words.join(" ")),
      word.map((one) => filler + one),
      directory.map((one) => filler + one)
    ),
    reads: fc.array(path, { maxLength: 2 }),
    writes: fc.array(path, { maxLength: 3 }),
    runs: fc.option(line, { nil: undefined }),
    network: fc.boolean(),
    fetches: fc.option(
      fc.oneof(
        host.map((one) => `https://${one}/a`),
        fc.constantFrom("not a url", "http://me@example.com/")
      ),
      { nil: undefined }
    )
  })
  .map(({ path, content, reads, writes, runs, network, fetches }): ApprovalRequest => ({
    call: { id: "1", step: 1, tool: "t", dialect: "d", startedAt: 0 },
    input: { path, content },
    asks: true,
    facts: {
      reads,
      writes: writes.map((one) => ({ path: one, exists: true, isProtected: false })),
      ...(runs !== undefined && { runs }),
      ...(network && { network }),
      ...(fetches !== undefined && { fetches }),
      risk: "dangerous"
    }
  }))

const at = { workspace: "/w", now: 0 }

const compiledOf = (given: object) => {
  try {
    return compileRule(Rule.parse({ id: "r", tool: "t", ...given }))
  } catch {
    return undefined // not a rule that anybody can have
  }
}

describe("the look at what rules need", () => {
  it("never passes over a rule that matches, or may", () => {
    let matched = 0
    let passedOver = 0
    fc.assert(
      fc.property(fc.array(rule, { minLength: 1, maxLength: 8 }), request, (rules, call) => {
        const compiled = rules.flatMap((one) => compiledOf({ decision: one.decision, ...one.conditions }) ?? [])
        const screen = new Screen<Subject>(compiled.map(({ needs }) => needs))
        const candidates = screen.candidates(subjectOf(call, at))
        for (const [number, { rule: tried, fits }] of compiled.entries()) {
          const fit = fits(subjectOf(call, at))
          const isTried = candidates.includes(number)
          expect(isTried || fit === "no", `${JSON.stringify(tried)} on ${JSON.stringify(call)}`).toBe(true)
          if (fit !== "no") matched += 1
          if (!isTried) passedOver += 1
        }
      }),
      { numRuns: process.env["HAFT_LONG"] === "1" ? 20_000 : 500, seed: 1 }
    )
    // Otherwise this would tell nothing.
    expect(matched).toBeGreaterThan(30)
    expect(passedOver).toBeGreaterThan(300)
  })

  it("keeps the order of rules, and tries those that need nothing", () => {
    const rules = [
      { id: "long", touches: { writes: "elsewhere/**" } },
      { id: "any" },
      { id: "short", fields: { path: { equals: "a" } } },
      { id: "list", touches: { writes: ["source/**", "elsewhere/**"] } },
      { id: "deny", decision: "deny", touches: { writes: "source/secret/**" } }
    ].map((one) => Rule.parse({ tool: "t", decision: "ask", ...one }))
    const call: ApprovalRequest = {
      call: { id: "1", step: 1, tool: "t", dialect: "d", startedAt: 0 },
      input: { path: "a" },
      asks: true,
      facts: { reads: [], writes: [{ path: "source", exists: true, isProtected: false }], risk: "dangerous" }
    }
    expect(
      compileRules(rules)
        .matches(call, at)
        .map(({ rule: { id }, fit }) => [id, fit])
    ).toEqual([
      ["any", "yes"],
      ["short", "yes"],
      ["list", "yes"],
      ["deny", "unknown"]
    ])
  })

  it("does not keep an unreadable call from being refused", () => {
    const rules = compileRules([Rule.parse({ id: "r", tool: "t", exactly: { path: "something else" } })])
    const call: ApprovalRequest = {
      call: { id: "1", step: 1, tool: "t", dialect: "d", startedAt: 0 },
      input: { path: "a", at: new Date(0) },
      asks: false,
      facts: { reads: [], writes: [], risk: "read_only" }
    }
    expect(() => rules.matches(call, at)).toThrow("which is not JSON")
  })
})
