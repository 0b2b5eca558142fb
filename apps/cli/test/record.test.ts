import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"

import { temporaryWorkspace, type TemporaryWorkspace } from "@haft/testing"
import { afterEach, beforeEach, describe, expect, it } from "vitest"

import { bin, haft, placeOf } from "./haft.ts"

let workspace: TemporaryWorkspace
beforeEach(() => {
  workspace = temporaryWorkspace({ "a.txt": "one\n" })
})
afterEach(() => workspace.remove())

const run = (...args: ReadonlyArray<string>) => haft([...args, ...placeOf(workspace)])
const write = (...more: ReadonlyArray<string>) => run("call", "write_file", "path=docs/b.md", "content=two", ...more)

describe("haft rules", () => {
  const rule = '{"id":"docs","tool":"write_file","touches":{"writes":"docs/**"}}'

  it("allow what was asked before, until they are disabled or removed", async () => {
    expect(await run("rules")).toMatchObject({ code: 0, stdout: expect.stringContaining("No rules") })
    expect(await write()).toMatchObject({ code: 1, stderr: expect.stringContaining("not approved") })
    expect(await run("rules", "add", rule)).toMatchObject({ code: 0, stdout: "Added docs: allow write_file\n" })
    const look = await run("call", "write_file", "path=docs/c.md", "content=three", "--dry-run")
    expect(look.stdout).toContain("would not ask: rule docs allows it")
    expect(await write()).toMatchObject({ code: 0 })
    expect(await run("rules", "disable", "docs")).toMatchObject({ code: 0 })
    expect(await write()).toMatchObject({ code: 1 })
    expect((await run("rules", "list")).stdout).toContain("disabled")
    expect(await run("rules", "replace", "docs", "{}")).toMatchObject({ code: 2 })
    expect(await run("rules", "replace", "none", rule)).toMatchObject({ code: 2 })
    expect(await run("rules", "replace", "docs", rule.replace("}}", '},"enabled":false}'))).toMatchObject({ code: 0 })
    expect(await run("rules", "enable", "docs")).toMatchObject({ code: 0 })
    expect(JSON.parse((await run("rules", "list", "--json")).stdout)).toMatchObject([{ id: "docs", enabled: true }])
    expect(await run("rules", "remove", "docs")).toMatchObject({ code: 0 })
    expect(await run("rules", "remove", "docs")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("unknown rule 'docs'")
    })
  })

  it("are kept for a tool that is not there, with a remark", async () => {
    expect(await run("rules", "add", '{"id":"typo","tool":"reda_file","decision":"deny"}')).toMatchObject({
      code: 0,
      stdout: "Added typo: deny reda_file\n",
      stderr: expect.stringContaining("unknown tool 'reda_file' in haft")
    })
    const there = '{"id":"there","tool":"create_file","dialect":"cliagent","decision":"deny"}'
    expect(await run("rules", "add", there)).toMatchObject({ code: 0, stderr: "" })
  })

  it("are tried on a record before they count", async () => {
    await write("--approve", "all")
    const asked = await run("rules", "test")
    expect(asked.stdout).toContain("1 call: 0 allowed, 1 asked, 0 denied")
    const proposed = `${workspace.outside}/rules.json`
    writeFileSync(proposed, `{"version":1,"rules":[${rule}]}`)
    expect((await run("rules", "test", "--proposed", proposed)).stdout).toContain("1 allowed, 0 asked")
    expect(await run("rules", "test", "--proposed", "none")).toMatchObject({ code: 2 })
    await run("rules", "add", rule)
    const simulation = JSON.parse((await run("rules", "test", "--json")).stdout) as { counts: unknown }
    expect(simulation.counts).toEqual({ allow: 1, ask: 0, deny: 0 })
  })

  it("are proposed so that names a model chose do nothing when they are pasted", async () => {
    const name = "docs/'; touch pwned; '\u202E.md"
    const at = "2026-11-16T10:00:00.000Z"
    const events = [1, 2].flatMap((step) => [
      {
        type: "tool_call_started",
        request_id: `r${step}\u001B[2J`,
        step,
        tool: "write_file",
        dialect: "haft",
        at,
        params: {}
      },
      {
        type: "tool_call_finished",
        step,
        at,
        status: "success",
        touches: { risk: "safe_write", writes: [{ path: name, exists: false }] },
        approval: { decision: "allow", by: "person", reason: "approved", asks: true },
        reply: {}
      }
    ])
    const log = `${workspace.outside}/events.jsonl`
    writeFileSync(log, events.map((event) => `${JSON.stringify(event)}\n`).join(""))
    const { stdout } = await run("rules", "test", "--log", log)
    expect([stdout.includes("\u001B"), stdout.includes("\u202E")]).toEqual([false, false])
    const [, command = ""] = /would spare 2 questions: haft rules add (.*)/.exec(stdout) ?? []
    const pasted = execFileSync("sh", ["-c", `printf %s ${command}`], { cwd: workspace.outside, encoding: "utf8" })
    expect(JSON.parse(pasted)).toMatchObject({ touches: { writes: [name] } })
    expect(existsSync(`${workspace.outside}/pwned`)).toBe(false)
  })

  it("that can't be read deny everything, and say so", async () => {
    await run("rules", "add", rule)
    writeFileSync(`${workspace.state}/rules.json`, "{")
    expect(await write("--approve", "all")).toMatchObject({ code: 1, stderr: expect.stringContaining("can't be read") })
    expect(await run("rules")).toMatchObject({ code: 2, stderr: expect.stringContaining("it is not JSON") })
    expect(await run("rules", "remove", "docs")).toMatchObject({ code: 2, stderr: expect.stringContaining("not JSON") })
  })

  it.each([
    [["add", "{}"], "not a rule"],
    [["add"], "missing rule."],
    [["forget"], "unknown subcommand 'forget'; expected list"]
  ])("explain what is wrong with %j", async (args, message) => {
    expect(await run("rules", ...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) })
  })
})

describe.runIf(process.platform === "linux")("haft quarantine", () => {
  const list = async (): Promise<ReadonlyArray<{ id: string; path: string }>> =>
    JSON.parse((await run("quarantine", "list", "--json")).stdout) as []

  it("lists, restores and removes control files that a command made or changed", async () => {
    workspace.put(".npmrc", "mine\n")
    const command =
      "rm -f .npmrc; echo theirs > .npmrc; mkdir -p d; echo evil > d/.envrc; ln -s nowhere .mcp.json; true"
    // On an overlay the question about them would come before they are written, and "all" would answer it.
    const direct = `${workspace.outside}/direct.json`
    writeFileSync(direct, '{"packages":{"exec":{"overlay":"never"}}}')
    const ran = await run("call", "run_command", `command=${command}`, "--approve", "all", "--config", direct)
    expect(ran).toMatchObject({ code: 0 })
    expect((await list()).map(({ path }) => path)).toEqual(expect.arrayContaining(["d/.envrc", ".mcp.json"]))
    expect(workspace.read(".npmrc")).toBe("mine\n")
    const { stdout } = await run("quarantine")
    expect(stdout).toMatch(/^ID +PATH +MOVED +REASON\n/)
    expect(await run("quarantine", "restore", "d/.envrc")).toMatchObject({ code: 0, stdout: "Restored d/.envrc\n" })
    expect(workspace.read("d/.envrc")).toBe("evil\n")
    const link = (await list()).find(({ path }) => path === ".mcp.json")
    expect(await run("quarantine", "remove", link?.id ?? "")).toMatchObject({ code: 0, stdout: "Removed .mcp.json\n" })
    expect((await list()).map(({ path }) => path).filter((path) => path !== ".npmrc")).toEqual([])
    expect(await run("quarantine", "restore", "d/.envrc")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("there is no 'd/.envrc' in the quarantine")
    })
    expect(await run("quarantine", "restore")).toMatchObject({ code: 2 })
    expect(await run("quarantine", "show")).toMatchObject({ code: 2 })
  })
})

describe("haft log, undo and replay", () => {
  it("show the last run with calls in it, filtered, and prove that nobody changed it", async () => {
    expect(await run("log")).toMatchObject({ code: 2, stderr: expect.stringContaining("nothing is on record") })
    await run("call", "read_file", "path=a.txt")
    await run("tools")
    expect((await run("log")).stdout).toMatch(
      /#1 read_file called with .+\n.+ read_file succeeded in \d+ ms \(haft does not ask before this\)\n$/
    )
    const events = (await run("log", "--json", "--status", "success")).stdout.trim().split("\n")
    expect(events.map((line) => (JSON.parse(line) as { type: string }).type)).toEqual(["tool_call_finished"])
    expect(await run("log", "verify")).toMatchObject({ code: 0, stdout: "✓ 2 events, as they were written\n" })
    const [first] = JSON.parse((await run("log", "runs", "--json")).stdout) as Array<{ name: string }>
    expect((await run("log", "--run", first?.name ?? "")).code).toBe(0)
    expect(await run("log", "--run", "other")).toMatchObject({ code: 2, stderr: expect.stringContaining("no run") })
  })

  it("show only what is of a type or of a time", async () => {
    await run("call", "read_file", "path=a.txt")
    const lines = async (...filter: ReadonlyArray<string>) =>
      (await run("log", ...filter)).stdout.split("\n").filter((line) => line !== "").length
    expect(await lines("--type", "tool_call_started")).toBe(1)
    expect(await lines("--since", "2000-01-01", "--until", "2100-01-01T00:00Z")).toBe(2)
    expect(await lines("--since", "2100-01-01")).toBe(0)
    expect(await run("log", "--since", "soon")).toMatchObject({ code: 2, stderr: expect.stringContaining("--since") })
  })

  it("follow what happens, from run to run, until whoever reads has gone", async () => {
    const args = ["log", "--follow", ...placeOf(workspace)]
    const child = spawn(process.execPath, [bin, ...args], { stdio: ["ignore", "pipe", "pipe"] })
    let shown = ""
    let complaints = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => (shown += text))
    child.stderr.setEncoding("utf8").on("data", (text: string) => (complaints += text))
    const read = async (path: string) => {
      await run("call", "read_file", `path=${path}`)
      while (!shown.includes(`${path}"}`)) await once(child.stdout, "data")
    }
    await read("a.txt")
    await read("b.txt")
    child.stdout.destroy()
    const ended = once(child, "exit")
    await run("call", "read_file", "path=c.txt")
    expect(await ended).toEqual([0, null])
    expect(complaints).toBe("")
  })

  it("take back what the last call changed", async () => {
    await write("--approve", "all")
    expect(workspace.exists("docs/b.md")).toBe(true)
    expect(await run("undo")).toMatchObject({ code: 0, stdout: expect.stringContaining("docs/b.md") })
    expect(workspace.exists("docs/b.md")).toBe(false)
    expect(await run("undo")).toMatchObject({ code: 1 })
  })

  it("make calls again on a copy and say what came out differently", async () => {
    await write("--approve", "all")
    expect(await run("replay")).toMatchObject({
      code: 0,
      stdout: "✓ #1 write_file: same\n✓ the files are what the run left behind\n"
    })
    workspace.put("docs/b.md", "changed by hand")
    const changed = await run("replay")
    expect(changed).toMatchObject({ code: 1, stdout: expect.stringContaining("docs/b.md has changed since") })
    expect(changed.stdout).toContain("✗ docs/b.md is different")
    expect(workspace.read("docs/b.md")).toBe("changed by hand")
    await run("call", "fetch_url", "url=https://site.invalid/", "--approve", "all")
    expect(await run("replay")).toMatchObject({ code: 0, stdout: expect.stringContaining("- #1 fetch_url: skipped") })
    expect(await run("replay", "none-such")).toMatchObject({ code: 2 })
  })
})

describe("haft plugin", () => {
  it("starts a plugin that passes its own check", async () => {
    const made = await run("plugin", "new", "haft-plugin-hello")
    expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining(`In ${workspace.root}:\n`) })
    expect(made.stdout).toContain(`Next: cd ${relative(".", join(workspace.root, "haft-plugin-hello"))} &&`)
    expect(workspace.read("haft-plugin-hello/package.json")).toContain('"haft-plugin"')
    expect(await run("plugin", "new", "haft-plugin-hello")).toMatchObject({ code: 2 })
    workspace.put("plain.mjs", "export default {}")
    expect(await run("plugin", "check", "./plain.mjs")).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("not made by definePlugin")
    })
    expect((await run("plugin", "list")).stdout).toContain("@haft/fs-tools")
    expect(await run("plugin", "new", "No Good")).toMatchObject({ code: 2 })
  })
})

it.each(["bash", "zsh", "fish"])("prints a completion script for %s that knows the commands", async (shell) => {
  const { code, stdout } = await haft(["completion", shell])
  expect(code).toBe(0)
  for (const word of ["tools", "call", "rules", "--dialect", "agentbench"])
    expect(stdout).toContain(word.replace("--", ""))
})

describe("haft state", () => {
  it("shows what is kept for a workspace, prunes old runs and removes everything only on confirmation", async () => {
    await write("--approve", "all")
    await write("--approve", "all")
    const info = JSON.parse((await run("state", "info", "--json")).stdout) as { runs: number; format: number }
    expect(info).toMatchObject({ runs: 2, format: 1, openRuns: [] })
    expect((await run("state", "prune", "--older-than", "0m", "--dry-run")).stdout).toMatch(/^Would remove 1 runs/)
    expect((await run("state", "prune", "--older-than", "0m")).stdout).toMatch(/^Removed 1 runs/)
    expect(await run("state", "prune", "--older-than", "soon")).toMatchObject({ code: 2 })
    expect(await run("state", "forget")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("info, prune or remove")
    })
    expect(await run("state", "remove")).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes") })
    expect((await run("log", "runs")).stdout.trim().split("\n")).toHaveLength(1)
    expect(await run("state", "remove", "--yes")).toMatchObject({ code: 0 })
    expect((await run("state")).stderr).toContain("keeps no state")
  })
})
