import { type GateResponse, type OpenRequest, ruleAdvice, Rule } from "@haft/approval"
import { temporaryWorkspace } from "@haft/testing"
import { describe, expect, it, onTestFinished } from "vitest"

import { openWorkspace } from "./promise.ts"

/** A workspace whose questions are answered by `answer`, and the questions that were asked. */
const open = async (answer: (request: OpenRequest, count: number) => GateResponse = () => ({ approved: false })) => {
  const workspace = temporaryWorkspace({
    "s.sh": { text: "#!/bin/sh\necho first > out\n", mode: 0o755 },
    "package.json": "{}\n"
  })
  const opened = await openWorkspace({ root: workspace.root, state: workspace.state, sandbox: "none" })
  onTestFinished(() => opened.dispose().finally(workspace.remove))
  const asked: Array<OpenRequest> = []
  opened.approvals.subscribe((change) => {
    if (change.type !== "opened") return
    asked.push(change.request)
    opened.approvals.answer(change.request.id, answer(change.request, asked.length))
  })
  const host = await opened.host()
  const run = (command: string, more: object = {}) => host.call("run_command", { command, ...more })
  return { workspace, opened, host, asked, run }
}

describe("an approval of a command", () => {
  it.each([
    ["PATH", { command: "s.sh", env: { PATH: ".:/usr/bin:/bin" } }],
    ["BASH_ENV", { command: "bash -c true", env: { BASH_ENV: "s.sh" } }],
    ["a variable of the line", { command: "BASH_ENV=s.sh bash -c true" }]
  ])("is asked for again when a script that %s leads to changes before the answer", async (_, { command, ...more }) => {
    const { workspace, asked, run } = await open((_request, count) => {
      if (count === 1) workspace.put("s.sh", { text: "#!/bin/sh\necho second > out\n", mode: 0o755 })
      return { approved: count < 3 }
    })
    expect((await run(command, more)).ok).toBe(true)
    expect(asked).toHaveLength(2)
    expect(workspace.read("out")).toBe("second\n")
  })

  it.each([
    "./s.sh",
    "true && ./s.sh",
    "sh -x ./s.sh > log",
    "sh < s.sh",
    "cat s.sh | sh",
    ". ./s.sh",
    'sh -c "$(cat s.sh)"',
    "echo s.sh | xargs sh",
    "bash -c 'cat s.sh | bash'"
  ])("is asked for again when a script of it changes before the answer: %s", async (command) => {
    const { workspace, asked, run } = await open((_request, count) => {
      if (count === 1) workspace.put("s.sh", { text: "#!/bin/sh\necho second > out\n", mode: 0o755 })
      return { approved: count < 3 }
    })
    expect((await run(command)).ok).toBe(true)
    expect(asked).toHaveLength(2)
    expect(asked[0]?.binding).not.toBe(asked[1]?.binding)
    expect(workspace.read("out")).toBe("second\n")
  })

  it("says so where what it executes is settled only as it runs", async () => {
    const { asked, run } = await open()
    await run("sh < s.sh")
    await run("sh *.sh")
    expect(asked.map(({ reason }) => reason.includes("settled only as it runs"))).toEqual([false, true])
  })

  it("that is remembered says that it covers later versions of the script", async () => {
    const { asked, run } = await open(() => ({ approved: true, remember: { offer: "exact", scope: "workspace" } }))
    expect((await run("./s.sh")).ok).toBe(true)
    expect(asked[0]?.offers[0]?.rule.note).toContain("covers later versions of s.sh too")
    expect((await run("./s.sh")).ok).toBe(true)
    expect(asked).toHaveLength(1)
  })
})

describe("a rule that allows a command", () => {
  const rule = { id: "status", tool: "run_command", touches: { runs: ["echo a", "echo b **"] } }

  it.each([
    ["echo a && echo a", 0],
    ["echo a; echo b c | echo a", 0],
    ["echo a && echo c", 1],
    ["echo a && echo b > x", 1],
    ["echo a && echo $(echo b)", 1],
    ["echo a & echo a", 1],
    ["cd . && echo a", 1]
  ])("allows a compound command if it allows every part: %s", async (command, questions) => {
    const { opened, asked, run } = await open()
    await opened.rules.add(rule)
    expect((await run(command)).ok).toBe(questions === 0)
    expect(asked).toHaveLength(questions)
  })

  it("does so together with other rules, but not with one that counts its uses", async () => {
    const { opened, asked, run } = await open()
    await opened.rules.add({ id: "a", touches: { runs: "echo a" } })
    await opened.rules.add({ id: "b", touches: { runs: "echo b" }, maximumUses: 5 })
    expect((await run("echo a && echo b")).ok).toBe(false)
    await opened.rules.add({ id: "c", operation: "run-command", touches: { runs: "echo b" } })
    expect((await run("echo a && echo b")).ok).toBe(true)
    expect(asked).toHaveLength(1)
  })

  it.each([
    ["cwd", { cwd: "sub" }],
    ["stdin", { stdin: "x" }],
    ["env", { env: { PATH: "." } }],
    ["read_only", { read_only: true }],
    ["timeout_ms", { timeout_ms: 5 }]
  ])("by its fields allows no other value of %s than the default", async (_field, more) => {
    const { opened, asked, run, workspace } = await open()
    workspace.put("sub", { directory: true })
    await opened.rules.add({ id: "f", tool: "run_command", fields: { command: { equals: "echo a" } } })
    expect((await run("echo a")).ok).toBe(true)
    expect((await run("echo a", more)).ok).toBe(false)
    expect(asked).toHaveLength(1)
  })

  it("by its fields leaves required fields open", async () => {
    const { opened, host, asked } = await open()
    await opened.rules.add({ id: "f", tool: "write_file", fields: { path: { glob: "docs/*" } } })
    expect((await host.call("write_file", { path: "docs/a", content: "x" })).ok).toBe(true)
    expect((await host.call("write_file", { path: "docs/a", content: "eQ==", encoding: "base64" })).ok).toBe(false)
    expect(asked).toHaveLength(1)
  })

  it("by what it runs does not allow standard input", async () => {
    const { opened, asked, run } = await open()
    await opened.rules.add({ id: "cat", touches: { runs: "cat" } })
    expect((await run("cat")).ok).toBe(true)
    expect((await run("cat", { stdin: "x" })).ok).toBe(false)
    expect(asked[0]?.description.command).toBe("cat <<< …")
  })
})

it.each([
  ["git status*", [expect.stringContaining("'git status **'")]],
  ["git status **", []],
  ["npm run *", []],
  ["ls src/*.ts", []]
])("advice on the rule %j", (runs, advice) => {
  expect(ruleAdvice(Rule.parse({ id: "r", touches: { runs } }))).toEqual(advice)
})
