import { describe, expect, it } from "@effect/vitest"
import type { ApprovalRequest, Facts } from "@haft/core"

import { compileRules, parseRules, Rule } from "../index.ts"
import { subjectOf } from "../matching/subject.ts"
import { compileRule } from "./compile-rule.ts"
import { RulesUnreadable } from "./rule-set.ts"
import { printRules } from "./rules.ts"

const request = (
  input: Record<string, unknown>,
  {
    types,
    ...touched
  }: Partial<Omit<Facts, "writes" | "types">> & {
    writes?: ReadonlyArray<string>
    types?: string
  } = {}
): ApprovalRequest => ({
  call: { id: "1", step: 1, tool: "t", dialect: "d", startedAt: 0 },
  input,
  asks: true,
  facts: {
    reads: [],
    risk: "dangerous",
    ...touched,
    ...(types !== undefined && { types: { terminal: "t", text: types } }),
    writes: (touched.writes ?? []).map((path) => ({ path, exists: true, isProtected: false }))
  }
})

const fit = (rule: Partial<Rule>, ...args: Parameters<typeof request>) => {
  const compiled = compileRule(Rule.parse({ id: "r", tool: "t", ...rule }))
  return compiled.fits(subjectOf(request(...args), { workspace: "/w", now: 0 }))
}

describe("conditions of a rule that allows", () => {
  it.each<[Partial<Rule>, Record<string, unknown>, string]>([
    [{}, { a: 1 }, "yes"],
    [{ exactly: { a: 1 } }, { a: 1 }, "yes"],
    [{ exactly: { a: 1 } }, { a: 1, b: 2 }, "no"],
    [{ exactly: { a: 1, b: 2 } }, { b: 2, a: 1 }, "yes"],
    [{ exactly: { a: [1, 2] } }, { a: [2, 1] }, "no"],
    [{ exactly: { a: [1] } }, { a: { 0: 1 } }, "no"],
    [{ exactly: { a: 1 } }, { a: 1, b: undefined }, "yes"],
    [{ exactly: { a: 1, b: null } }, { a: 1 }, "no"],
    [{ exactly: { constructor: 1 } }, {}, "no"],
    [{ exactly: { a: "1" } }, { a: 1 }, "no"],
    [{ exactlySha256: "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862" }, { a: 1 }, "yes"],
    [{ exactlySha256: "0".repeat(64) }, { a: 1 }, "no"],
    [{ fields: { a: { equals: "x" } } }, { a: "x", b: "y" }, "no"],
    [{ fields: { a: { equals: "x" } } }, { a: "x", b: undefined }, "yes"],
    [{ fields: { "a.b": { equals: 1 } } }, { a: { b: 1, c: 2 } }, "no"],
    [{ fields: { a: { equals: "x" } } }, { b: "x" }, "no"],
    [{ fields: { a: { equals: [1, { b: 2 }] } } }, { a: [1, { b: 2 }] }, "yes"],
    [{ fields: { a: { equals: null } } }, { a: null }, "yes"],
    [{ fields: { "a.b": { equals: 1 } } }, { a: { b: 1 } }, "yes"],
    [{ fields: { "a.b": { equals: 1 } } }, { "a.b": 1 }, "yes"],
    [{ fields: { "a.b": { equals: 1 } } }, { a: 1 }, "no"],
    [{ fields: { constructor: { equals: 1 } } }, {}, "no"],
    [{ fields: { path: { glob: "src/**/*.ts" } } }, { path: "src/a/b.ts" }, "yes"],
    [{ fields: { path: { glob: "src/**" } } }, { path: "src/../etc/passwd" }, "no"],
    [{ fields: { path: { glob: "src/**" } } }, { path: "src/..\\x" }, "no"],
    [{ fields: { path: { glob: "src/**" } } }, { path: "src/a..b" }, "yes"],
    [{ fields: { path: { glob: "src/*" } } }, { path: 1 }, "no"],
    [{ fields: { path: { expression: "[a-z]+" } } }, { path: "abc" }, "yes"],
    [{ fields: { path: { expression: "[a-z]+" } } }, { path: "abc1" }, "no"],
    [{ pattern: String.raw`^{"path":".*\.txt"}$` }, { path: "a.txt" }, "yes"],
    [{ pattern: String.raw`^{"path":".*\.txt"}$` }, { path: "evil.sh", content: "#.txt" }, "no"]
  ])("%j on %j: %s", (rule, input, expected) => {
    expect(fit(rule, input)).toBe(expected)
  })

  it.each<[Rule["touches"], Parameters<typeof request>[1], string]>([
    [{ writes: "src/**" }, { writes: ["src/a/b.ts"] }, "yes"],
    [{ writes: "src/**" }, { writes: ["src/a.ts", "b.ts"] }, "no"],
    [{ writes: "src/**" }, { writes: ["SRC/a.ts"] }, "no"],
    [{ writes: ["src/**", "*.md"] }, { writes: ["src/a.ts", "b.md"] }, "yes"],
    [{ writes: "src/**" }, { writes: [] }, "no"],
    [{ writes: "src/**" }, { writes: ["src/a.ts"], runs: "rm x" }, "no"],
    [{ writes: "src/**" }, { writes: ["src/a.ts"], fetches: "https://a.example" }, "no"],
    [{ writes: "src/**" }, { writes: ["src/a.ts"], reads: ["etc/passwd"] }, "yes"],
    [{ reads: "src/**" }, { reads: ["src/a.ts"], writes: ["x"] }, "no"],
    [{ reads: "src/**" }, { reads: ["src/a.ts"] }, "yes"],
    [{ reads: "src/**" }, { reads: ["src/a.ts", "b"] }, "no"],
    [{ writes: "{src,test}/[a-c]?.ts" }, { writes: ["test/bx.ts"] }, "yes"],
    [{ writes: "[!a]*" }, { writes: ["a"] }, "no"],
    [{ writes: "**/a" }, { writes: ["a"] }, "yes"],
    [{ writes: "a.c" }, { writes: ["abc"] }, "no"],
    [{ writes: "a*" }, { writes: ["a\nb"] }, "yes"],
    [{ runs: "npm test" }, { runs: "npm test" }, "yes"],
    [{ runs: "npm test" }, { runs: "npm  'test'" }, "yes"],
    [{ runs: "npm test" }, { runs: "npm test --prefix /" }, "no"],
    [{ runs: "npm test" }, { runs: "npm test; rm x" }, "no"],
    [{ runs: "npm test" }, { runs: "npm test && npm test" }, "no"],
    [{ runs: "npm test" }, {}, "no"],
    [{ runs: "git diff **" }, { runs: "git diff" }, "yes"],
    [{ runs: "git diff **" }, { runs: "git diff a b" }, "yes"],
    [{ runs: "git diff **" }, { runs: "git push" }, "no"],
    [{ runs: "eslint src/*.ts" }, { runs: "eslint src/a.ts" }, "yes"],
    [{ runs: "eslint *" }, { runs: "eslint" }, "no"],
    [{ fetches: "example.com" }, { fetches: "https://example.com/a?b" }, "yes"],
    [{ fetches: "Example.com" }, { fetches: "http://EXAMPLE.com" }, "yes"],
    [{ fetches: "example.com" }, { fetches: "https://evil-example.com" }, "no"],
    [{ fetches: "example.com" }, { fetches: "https://example.com.evil.net" }, "no"],
    [{ fetches: "example.com" }, { fetches: "https://example.com:8443" }, "no"],
    [{ fetches: "example.com:8443" }, { fetches: "https://example.com:8443" }, "yes"],
    [{ fetches: "example.com" }, { fetches: "https://example.com@evil.net" }, "no"],
    [{ fetches: "example.com" }, { fetches: "https://user:pw@example.com" }, "no"],
    [{ fetches: "example.com" }, { fetches: "file://example.com/x" }, "no"],
    [{ fetches: "example.com" }, { fetches: "not a url" }, "no"],
    [{ fetches: "*.example.com" }, { fetches: "https://a.b.example.com" }, "yes"],
    [{ fetches: "*.example.com" }, { fetches: "https://example.com" }, "no"],
    [{ fetches: "*.example.com" }, { fetches: "https://aexample.com" }, "no"],
    [{ fetches: "https://example.com/v1/*" }, { fetches: "https://example.com/v1/a" }, "yes"],
    [{ fetches: "https://example.com/v1/*" }, { fetches: "http://example.com/v1/a" }, "no"],
    [{ fetches: "https://example.com/v1/*" }, { fetches: "https://example.com/v1/../v2/a" }, "no"],
    [{ fetches: "[::1]:80" }, { fetches: "https://[::1]:80/" }, "yes"],
    [{ runs: "cat" }, { types: "x" }, "no"],
    [{ writes: "src/**" }, { writes: ["src/a"], fetches: "https://user:pw@evil.example" }, "no"],
    [{ writes: "src/**" }, { writes: ["src/a"], fetches: "nonsense" }, "no"],
    [{ writes: "src/**" }, { writes: ["src/a"], runs: "a; b" }, "no"],
    [{ runs: "npm test" }, { runs: "npm test", reads: ["."] }, "yes"],
    [{ runs: "npm test" }, { runs: "npm test", reads: ["vendor/evil"] }, "no"],
    [{ runs: "npm test", reads: "packages/*" }, { runs: "npm test", reads: ["packages/a"] }, "yes"],
    [{ runs: "npm test" }, { runs: "NODE_OPTIONS=x npm test" }, "no"],
    [{ runs: "npm ci" }, { runs: "npm ci", network: true }, "no"],
    [{ runs: "npm ci", network: true }, { runs: "npm ci", network: true }, "yes"],
    [{ runs: "npm ci", network: true }, { runs: "npm ci" }, "yes"],
    [{ network: true }, { runs: "npm ci", network: true }, "no"],
    [{ runs: "rm **" }, { runs: "/tmp/rm x" }, "no"],
    [{ fetches: "bücher.example" }, { fetches: "https://xn--bcher-kva.example/" }, "yes"],
    [{ fetches: "example.com:443" }, { fetches: "https://example.com/" }, "yes"],
    [{ fetches: "example.com:443" }, { fetches: "http://example.com/" }, "no"],
    [{ fetches: "example.com." }, { fetches: "https://example.com/" }, "yes"],
    [{ fetches: "example.com/v1/**" }, { fetches: "https://example.com/v1/..%2fadmin" }, "no"],
    [{ fetches: "example.com/v1/**" }, { fetches: "https://example.com/v1/%2e%2e/admin" }, "no"]
  ])("touches %j on %j: %s", (touches, touched, expected) => {
    expect(fit({ touches }, {}, touched)).toBe(expected)
  })
})

describe("arguments that try to look like others", () => {
  const pattern = '^{"path":"a.txt","content":".*"}$'.replace(".txt", String.raw`\.txt`)

  it.each([
    ["escapes for letters", String.raw`{"path":"\u0061.txt","content":""}`, "yes"],
    ["a key given twice counts as it is read, the last one", '{"path":"a.txt","path":"evil.sh","content":""}', "no"],
    ["another order of keys", '{"content":"","path":"a.txt"}', "no"],
    ["a key that contains the rest", String.raw`{"path\":\"a.txt\",\"content":"x"}`, "no"],
    ["a letter that only looks the same", '{"path":"\u0430.txt","content":""}', "no"],
    ["a NUL before the end", String.raw`{"path":"evil\u0000a.txt","content":""}`, "no"],
    ["an array for a text", '{"path":["a.txt"],"content":""}', "no"],
    ["an object for a text", '{"path":{"path":"a.txt"},"content":""}', "no"]
  ])("%s", (_title, json, expected) => {
    expect(fit({ pattern }, JSON.parse(json))).toBe(expected)
  })
})

describe("conditions of a rule that forbids", () => {
  it.each<[Partial<Rule>, Record<string, unknown>, Parameters<typeof request>[1], string]>([
    [{ touches: { writes: "secrets/**" } }, {}, { writes: ["a", "secrets/b"] }, "yes"],
    [{ touches: { writes: "secrets/**" } }, {}, { writes: ["a"] }, "no"],
    [{ touches: { reads: "secrets/**" } }, {}, { reads: ["secrets/b"] }, "yes"],
    [{ touches: { reads: "secrets/**" } }, {}, {}, "no"],
    [{ touches: { runs: "rm **" } }, {}, { runs: "rm -rf x" }, "yes"],
    [{ touches: { runs: "rm **" } }, {}, { runs: "true; rm -rf x" }, "yes"],
    [{ touches: { runs: "rm **" } }, {}, { runs: "echo $(rm -rf x)" }, "yes"],
    [{ touches: { runs: "rm **" } }, {}, { runs: "$(echo rm) -rf x" }, "unknown"],
    [{ touches: { runs: "rm **" } }, {}, { runs: "ls" }, "no"],
    [{ touches: { runs: "rm **" } }, {}, {}, "no"],
    [{ touches: { network: true } }, {}, { runs: "npm ci", network: true }, "yes"],
    [{ touches: { network: true } }, {}, { runs: "npm ci" }, "no"],
    [{ touches: { network: true, runs: "curl **" } }, {}, { runs: "npm ci", network: true }, "no"],
    [{ touches: { runs: "npm ci" } }, {}, { runs: "npm ci", network: true }, "yes"],
    [{ touches: { fetches: "evil.example" } }, {}, { fetches: "https://evil.example/" }, "yes"],
    [{ touches: { fetches: "evil.example" } }, {}, { fetches: "https://good.example/" }, "no"],
    [{ touches: { fetches: "evil.example" } }, {}, { fetches: "https://x@evil.example/" }, "unknown"],
    [{ touches: { fetches: "evil.example" } }, {}, {}, "no"],
    [{ touches: { fetches: "evil.example", runs: "curl **" } }, {}, { fetches: "nonsense", runs: "curl x" }, "unknown"],
    [{ touches: { writes: "secrets/**" } }, {}, { writes: ["secrets"] }, "yes"],
    [{ touches: { writes: "a/secrets/**" } }, {}, { writes: ["a"] }, "yes"],
    [{ touches: { writes: "a/key.txt" } }, {}, { writes: ["a"] }, "yes"],
    [{ touches: { writes: "a/key.txt" } }, {}, { writes: ["b"] }, "no"],
    [{ touches: { reads: "secrets/**" } }, {}, { reads: ["SECRETS/b"] }, "yes"],
    [{ touches: { reads: "Secrets/B" } }, {}, { reads: ["secrets/b"] }, "yes"],
    [{ touches: { reads: "caf\u00E9/*" } }, {}, { reads: ["cafe\u0301/b"] }, "yes"],
    [{ touches: { reads: "[!A]*" } }, {}, { reads: ["abc"] }, "yes"],
    [{ touches: { reads: "secrets/**" } }, {}, { runs: "cat SECRETS/b", reads: ["."] }, "yes"],
    [{ touches: { reads: "**/*.PEM" } }, {}, { reads: ["Keys"], directories: ["Keys"] }, "yes"],
    [{ touches: { reads: "**/*.pem" } }, {}, { reads: ["."] }, "yes"],
    [{ touches: { reads: "*.pem" } }, {}, { reads: ["a"] }, "no"],
    [{ touches: { reads: "**/*.pem" } }, {}, { reads: ["a"], directories: ["a"] }, "yes"],
    [{ touches: { reads: "**/*.pem" } }, {}, { reads: ["a/b.ts"] }, "no"],
    [{ touches: { reads: "src/*/secret" } }, {}, { reads: ["src"], directories: ["src"] }, "yes"],
    [{ touches: { reads: "src/*/secret" } }, {}, { reads: ["src/a"], directories: ["src/a"] }, "yes"],
    [{ touches: { reads: "src/*/secret" } }, {}, { reads: ["src/a/b"], directories: ["src/a/b"] }, "no"],
    [{ touches: { reads: "src/*/secret" } }, {}, { reads: ["lib"], directories: ["lib"] }, "no"],
    [{ touches: { reads: "{src/a,lib}/x" } }, {}, { reads: ["lib"], directories: ["lib"] }, "yes"],
    [{ touches: { reads: "**/.env" } }, {}, { writes: ["d"], directories: ["d"] }, "yes"],
    [{ touches: { reads: "**/.env" } }, {}, { runs: "cat .env" }, "yes"],
    [{ touches: { reads: "**/.env" } }, {}, { runs: "cat ./x/../.env" }, "yes"],
    [{ touches: { reads: "**/.env" } }, {}, { runs: "true && grep x --file=.env" }, "yes"],
    [{ touches: { reads: "d/.env" } }, {}, { runs: "cat .env", reads: ["d"] }, "yes"],
    [{ touches: { writes: "docs/**" } }, {}, { runs: "touch docs/a" }, "yes"],
    [{ touches: { reads: "**/.env" } }, {}, { runs: "npm test" }, "unknown"],
    [{ touches: { reads: "**/.env" } }, {}, { fetches: "https://good.example/" }, "no"],
    [{ touches: { fetches: "evil.example" } }, {}, { runs: "curl https://evil.example/x", network: true }, "yes"],
    [{ touches: { fetches: "evil.example" } }, {}, { runs: "curl evil.example", network: true }, "yes"],
    [{ touches: { fetches: "evil.example" } }, {}, { runs: "npm ci", network: true }, "unknown"],
    [{ touches: { fetches: "evil.example" } }, {}, { runs: "npm ci" }, "no"],
    [{ touches: { runs: "rm **" } }, {}, { types: "rm x\n" }, "yes"],
    [{ touches: { runs: "rm **" } }, {}, { types: "ls\n" }, "unknown"],
    [{ touches: { reads: "**/.env" } }, {}, { types: "cat .env" }, "yes"],
    [{ touches: { reads: "**/.env" } }, {}, { types: "ls" }, "unknown"],
    [{ touches: { runs: "rm **" } }, {}, { runs: "/bin/rm x" }, "yes"],
    [{ touches: { runs: "rm **" } }, {}, { runs: "\\rm x" }, "yes"],
    [{ touches: { runs: "rm **" } }, {}, { runs: "env rm x" }, "unknown"],
    [{ touches: { runs: "rm **" } }, {}, { runs: "bash -c 'rm x'" }, "unknown"],
    [{ touches: { runs: "git push **" } }, {}, { runs: "git -C . push" }, "unknown"],
    [{ touches: { runs: "rm **" } }, {}, { runs: "FOO=1 rm x" }, "yes"],
    [{ touches: { fetches: "evil.example" } }, {}, { fetches: "https://evil.example.:8443/" }, "yes"],
    [{ touches: { fetches: "evil.example/admin" } }, {}, { fetches: "https://evil.example/admin?x" }, "yes"],
    [{ touches: { fetches: "evil.example/admin" } }, {}, { fetches: "https://evil.example/%61dmin" }, "unknown"],
    [{ touches: { fetches: "evil.example/admin" } }, {}, { fetches: "https://evil.example/other" }, "no"],
    [{ touches: { fetches: "10.0.0.1" } }, {}, { fetches: "http://167772161/" }, "yes"],
    [{ fields: { env: { equals: { a: "1", b: "2" } } } }, { env: { b: "2", a: "1" } }, {}, "yes"],
    [{ fields: { path: { glob: "secrets/**" } } }, { path: "./x/../secrets//key" }, {}, "yes"],
    [{ fields: { path: { glob: "secrets/**" } } }, { path: "/w/secrets/key" }, {}, "yes"],
    [{ fields: { paths: { glob: "secrets/**" } } }, { paths: ["a", "secrets/key"] }, {}, "yes"],
    [{ fields: { words: { expression: "rm" } } }, { words: ["sudo", "rm"] }, {}, "yes"],
    [{ fields: { words: { expression: "rm" } } }, { words: 1 }, {}, "no"],
    [{ pattern: "secret" }, { path: "a/secret/b" }, {}, "yes"],
    [{ pattern: '"path":".*secret' }, { path: "a", content: "secret" }, {}, "yes"],
    [{ pattern: "secret" }, { path: "a" }, {}, "no"]
  ])("%j on %j touching %j: %s", (rule, input, touched, expected) => {
    expect(fit({ ...rule, decision: "deny" }, input, touched)).toBe(expected)
  })
})

describe("when a rule is in force", () => {
  const isInForce = (rule: Partial<Rule>, now = Date.parse("2026-06-01T12:00:00Z")) =>
    compileRule(Rule.parse({ id: "r", tool: "t", ...rule })).isInForce(subjectOf(request({}), { workspace: "/w", now }))

  it.each<[Partial<Rule>, boolean]>([
    [{}, true],
    [{ enabled: false }, false],
    [{ expires: "2026-06-01T12:00:00Z" }, false],
    [{ expires: "2026-06-01T12:00:01Z" }, true],
    [{ expires: "2026-06-01T13:30:00+02:00" }, false],
    [{ maximumUses: 2, uses: 1 }, true],
    [{ maximumUses: 2, uses: 2 }, false],
    [{ workspace: "/w" }, true],
    [{ workspace: "/w/" }, false],
    [{ workspace: "/other" }, false],
    [{ dialect: "d" }, true],
    [{ dialect: "e" }, false]
  ])("%j: %s", (rule, expected) => {
    expect(isInForce(rule)).toBe(expected)
  })
})

describe("a set of rules", () => {
  const at = { workspace: "/w", now: 0 }

  it("reports every match in the order of the rules", () => {
    const rules = [
      { id: "elsewhere", touches: { writes: "elsewhere/**" } },
      { id: "any" },
      { id: "field", fields: { path: { equals: "a" } } },
      { id: "list", touches: { writes: ["source/**", "elsewhere/**"] } },
      { id: "below", decision: "deny", touches: { writes: "source/secret/**" } }
    ].map((rule) => Rule.parse({ tool: "t", decision: "ask", ...rule }))
    const matches = compileRules(rules).matches(request({ path: "a" }, { writes: ["source"] }), at)
    expect(matches.map(({ rule, fit }) => [rule.id, fit])).toEqual([
      ["any", "yes"],
      ["field", "yes"],
      ["list", "yes"],
      ["below", "yes"]
    ])
  })

  it.each<Partial<Rule>>([
    { exactly: { path: "b" } },
    { fields: { path: { equals: "b" } } },
    { fields: { path: { expression: "b" } } },
    { fields: { path: { expression: "b" } }, decision: "deny" },
    { pattern: "b" }
  ])("refuses a call with a value that JSON can't represent: %j", (conditions) => {
    const rules = compileRules([Rule.parse({ id: "r", tool: "t", ...conditions })])
    expect(() => rules.matches(request({ path: "a", at: new Date(0) }), at)).toThrow("which is not JSON")
  })
})

describe("reading rules", () => {
  it("reads what was printed", () => {
    const rules = [Rule.parse({ id: "r", tool: "t", touches: { writes: "src/**" }, note: "mine" })]
    expect(parseRules(printRules(rules)).rules).toEqual(rules)
  })

  const file = (...rules: ReadonlyArray<unknown>) => JSON.stringify({ version: 1, rules })
  it.each([
    ["", "it is not JSON"],
    ["{", "it is not JSON"],
    ["[]", "the file:"],
    ['{"version":1,"rules":[{"id":"r","tool":"t","decision":"deny","decision":"allow"}]}', "the same field twice"],
    ['{"version":1,"rules":[{"id":"r","tool":"t","exactly":{"a\\"":1,"a\\u0022":2}}]}', "the same field twice"],
    ['{"version":2,"rules":[]}', "version:"],
    ['{"version":1}', "rules:"],
    ['{"version":1,"rules":[],"more":1}', "the file:"],
    [file({ id: "r" }), "it would allow everything"],
    [file({ id: "r", tool: "t", pathern: "x" }), "rules.0:"],
    [file({ id: "r", tool: "t", decision: "maybe" }), "rules.0.decision:"],
    [file({ id: "r", tool: "t", expires: "tomorrow" }), "rules.0.expires:"],
    [file({ id: "r", tool: "t", fields: { a: {} } }), "rules.0.fields.a:"],
    [file({ id: "r", tool: "t" }, { id: "r", tool: "u" }), "there are two rules r"],
    [file({ id: "r", tool: "t", pattern: "(" }), "rule r: missing closing )"],
    [file({ id: "r", tool: "t", pattern: "(?=a)" }), "rule r: invalid"],
    [file({ id: "r", tool: "t", fields: { a: { expression: "(" } } }), "rule r: missing closing )"],
    [file({ id: "r", tool: "t", fields: { a: { glob: "a[" } } }), "rule r: the glob a[ has a lone ["],
    [file({ id: "r", tool: "t", touches: { writes: "{a" } }), "rule r: the glob {a has an unclosed {"],
    [file({ id: "r", tool: "t", touches: { writes: "a}" } }), "rule r: the glob a} has a lone }"],
    [file({ id: "r", tool: "t", touches: { writes: "a\\b" } }), "rule r: the glob a\\b contains a backslash"],
    [file({ id: "r", tool: "t", touches: { runs: "*" } }), "must begin with a program's name"],
    [file({ id: "r", tool: "t", touches: { runs: " " } }), "must begin with a program's name"],
    [file({ id: "r", tool: "t", touches: { fetches: "a*.example" } }), "is neither a host nor a URL"],
    [file({ id: "r", tool: "t", touches: { fetches: "ftp://a" } }), "is neither a host nor a URL"],
    [file({ id: "r", tool: "t", touches: { fetches: "a@b.example" } }), "is neither a host nor a URL"],
    [
      file({ id: "r", tool: "t", touches: { writes: "a/*" }, examples: { match: [{ writes: ["b"] }] } }),
      'rule r: it does not match its example {"arguments":{},"writes":["b"]}'
    ],
    [
      file({ id: "r", tool: "t", pattern: ".*", examples: { noMatch: [{ arguments: {} }] } }),
      'rule r: it matches {"arguments":{}}, which it must not'
    ]
  ])("refuses %s", (content, problem) => {
    expect(() => parseRules(content)).toThrow(RulesUnreadable)
    expect(() => parseRules(content)).toThrow(problem)
  })

  it("refuses what is no host among connections", () => {
    const content = file({ id: "r", tool: "t", touches: { connects: "https://a.example" } })
    expect(() => parseRules(content)).toThrow("rule r: touches.connects: 'https://a.example' is not a host")
  })

  it("checks examples of every kind", () => {
    const rule = {
      id: "r",
      tool: "t",
      touches: { runs: "npm test" },
      examples: {
        match: [{ runs: "npm test" }],
        noMatch: [
          { runs: "npm publish" },
          { fetches: "https://a.example" },
          { connects: "a.example:443" },
          { reads: ["a"] }
        ]
      }
    }
    expect(parseRules(file(rule)).rules).toHaveLength(1)
  })
})

describe("conditions on connections", () => {
  it.each([
    ["a.example", "a.example:443", "yes"],
    ["a.example", "a.example:80", "yes"],
    ["a.example", "a.example:22", "no"],
    ["a.example:22", "a.example:22", "yes"],
    ["a.example:22", "a.example:443", "no"],
    ["*.example", "a.example:443", "yes"],
    ["*.example", "example:443", "no"],
    ["A.Example.", "a.example:443", "yes"],
    ["[2001:db8::1]", "[2001:db8::1]:443", "yes"],
    ["*", "a.example:443", "yes"]
  ])("allow: %s for %s: %s", (connects, connection, expected) => {
    expect(fit({ touches: { connects } }, {}, { connects: connection })).toBe(expected)
  })

  it.each([
    ["a.example", "a.example:22", "yes"],
    ["a.example:22", "a.example:443", "no"],
    ["*.example", "a.example:8443", "yes"]
  ])("deny: %s for %s: %s", (connects, connection, expected) => {
    expect(fit({ decision: "deny", touches: { connects } }, {}, { connects: connection })).toBe(expected)
  })

  it("say nothing about a command before it connects, and a rule about other touches allows no connection", () => {
    expect(fit({ decision: "deny", touches: { connects: "a.example" } }, {}, { runs: "npm ci", network: true })).toBe(
      "no"
    )
    expect(fit({ touches: { runs: "npm ci", network: true } }, {}, { connects: "a.example:443" })).toBe("no")
    expect(fit({ touches: { fetches: "a.example" } }, {}, { connects: "a.example:443" })).toBe("no")
  })

  it("are met by rules that deny fetching from a host", () => {
    const rule = { decision: "deny", touches: { fetches: "a.example" } } as const
    expect(fit(rule, {}, { connects: "a.example:443" })).toBe("yes")
    expect(fit(rule, {}, { connects: "b.example:443" })).toBe("no")
  })
})
