import { describe, expect, it } from "@effect/vitest"
import type { Facts } from "@haft/core"

import { describeRequest, printRequest, type Question, Rule } from "../index.ts"
import { promptOf } from "./describe-request.ts"

const question = (
  tool: string,
  input: Record<string, unknown>,
  facts: Partial<Facts> = {},
  more: Partial<Question> = {}
): Question => ({
  call: { id: "1", step: 1, tool, dialect: "cliagent", startedAt: 0 },
  input,
  asks: true,
  facts: { risk: "safe_write", reads: [], writes: [], ...facts },
  reason: "it writes",
  state: new Map(),
  workspace: "/w",
  binding: "b",
  offers: [{ id: "exact", label: "exactly these arguments", rule: Rule.parse({ id: "r", tool }) }],
  ...more
})

const printed = (asked: Question) => printRequest(describeRequest(asked), asked)
const shown = (asked: Question) => `${printRequest(describeRequest(asked), asked)}\n\n${promptOf(asked)}`

describe("a question as people see it", () => {
  it("is the contract's display, to the letter", () => {
    const writes = [{ path: "hello.py", exists: false, isProtected: false }]
    expect(shown(question("create_file", { path: "hello.py", content: 'print("Hello World")' }, { writes }))).toBe(
      [
        "Tool: create_file",
        "Parameters:",
        "  path: hello.py",
        "  content: <20 bytes>",
        "Files affected: hello.py",
        "Risk level: safe_write",
        "",
        "Approve? (y/n/always):"
      ].join("\n")
    )
  })

  it("shows a command in full, and other facts that no parameter shows", () => {
    const asked = question(
      "run",
      { cmd: ["npm", "test"], n: 1, none: undefined },
      { runs: "npm test", network: true, risk: "dangerous" }
    )
    expect(shown(asked)).toBe(
      [
        "Tool: run",
        "Parameters:",
        '  cmd: ["npm","test"]',
        "  n: 1",
        "Command: npm test",
        "Network: it may use it",
        "Risk level: dangerous",
        "",
        "Approve? (y/n/always):"
      ].join("\n")
    )
  })

  it("shows host and address of what is fetched, and what is typed", () => {
    const url = "https://user@xn--e1afmkfd.example:8443/a?b=c"
    expect(printed(question("fetch", { url }, { fetches: url }))).toContain(
      `  url: ${url}\nHost: xn--e1afmkfd.example:8443\nRisk`
    )
    expect(printed(question("fetch", {}, { fetches: "x y" }))).toBe(
      "Tool: fetch\nHost: unreadable\nURL: x y\nRisk level: safe_write"
    )
    expect(printed(question("type", {}, { types: { terminal: "7", text: "ls\n" } }))).toContain(
      String.raw`Types: ls\n (into terminal 7)`
    )
  })

  it("says why it is asked, outside the contract that words the question", () => {
    const asked = question("run", {})
    expect(printed({ ...asked, call: { ...asked.call, dialect: "haft" } })).toContain("Asked because: it writes")
    expect(printed(asked)).not.toContain("it writes")
  })

  it("offers always only where it is on offer, and edit outside the contract that words the prompt", () => {
    const other = question("run", {}, {}, { offers: [], whyNoOffer: "no" })
    expect(promptOf(other)).toBe("Approve? (y/n):")
    expect(promptOf({ ...other, call: { ...other.call, dialect: "haft" } })).toBe("Approve? (y/n/edit):")
    expect(promptOf({ ...question("run", {}), call: { ...other.call, dialect: "haft" } })).toBe(
      "Approve? (y/n/always/edit):"
    )
  })

  it("has the diff as detail, and long parameters in full where there is none", () => {
    const content = `${"long ".repeat(100)}end`
    expect(describeRequest(question("create", { content }, {}, { preview: "+long" })).detail).toBe("+long")
    expect(describeRequest(question("create", { content, patch: "a\nb" })).detail).toBe(
      `content:\n${content}\npatch:\na\nb`
    )
    expect(describeRequest(question("create", { path: "a" })).detail).toBe(undefined)
  })

  it("hides nothing: control characters, overrides and invisible letters are spelled out", () => {
    const asked = question(
      "run",
      { command: "ls \u202Efdp.exe\u001B[2J\r\u200B\u3164", "na\u0007me": "x" },
      { writes: [{ path: "a\nFiles affected: b", exists: false, isProtected: false }] },
      { preview: "+a\u202E\n\u001B[31m-b\tc\r" }
    )
    const text = printRequest(describeRequest(asked), asked) + describeRequest(asked).detail
    expect(text).toContain(String.raw`command: ls \u{202e}fdp.exe\u{1b}[2J\r\u{200b}\u{3164}`)
    expect(text).toContain(String.raw`na\u{7}me: x`)
    expect(text).toContain(String.raw`Files affected: a\nFiles affected: b`)
    expect(text).toContain("+a\\u{202e}\n\\u{1b}[31m-b\tc\\r")
    expect(text.replaceAll("\n", "").replaceAll("\t", "")).not.toMatch(/\p{Cc}|\p{Cf}/u)
  })
})
