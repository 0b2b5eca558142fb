import { chmodSync, existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { temporaryWorkspace, type TemporaryWorkspace } from "@haft/testing"
import type { Finding } from "haft/internal"
import manifest from "haft/package.json" with { type: "json" }
import { afterEach, beforeEach, describe, expect, it } from "vitest"

import { bin, haft, placeOf } from "./haft.ts"

let workspace: TemporaryWorkspace
beforeEach(() => {
  workspace = temporaryWorkspace({ "a.txt": "one\ntwo\nthree\n" })
})
afterEach(() => workspace.remove())

const inWorkspace = (...args: ReadonlyArray<string>): ReadonlyArray<string> => [...args, ...placeOf(workspace)]

describe("haft", () => {
  it("answers --version with the version alone", async () => {
    expect(await haft(["--version"])).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: "" })
  })

  it.each([[[]], [["--help"]], [["help"]]])("shows what it can do with %j", async (args) => {
    const { code, stdout, stderr } = await haft(args)
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    for (const name of ["tools", "call", "mcp", "doctor"]) expect(stdout).toContain(`\n  ${name}`)
  })

  it("points at rules that can't be read, whatever --approve says, and at their file", async () => {
    writeFileSync(join(workspace.state, "rules.json"), "{ not json")
    const refused = await haft(inWorkspace("call", "read_file", "path=a.txt", "--approve", "all"))
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain("the approval rules can't be read, so nothing is allowed")
    expect(refused.stderr).toMatch(/haft: rules hold whatever --approve says; see them with: haft rules list\n$/)
    const listed = await haft(inWorkspace("rules", "list"))
    expect(listed.stderr).toContain(`the rules in ${join(workspace.state, "rules.json")} can't be read: it is not JSON`)
  })

  it("names the rule that forbids a call, and how to change it", async () => {
    const rule = JSON.stringify({ id: "quiet", tool: "read_file", decision: "deny" })
    await haft(inWorkspace("rules", "add", rule))
    for (const mode of ["ask", "all"]) {
      const refused = await haft(inWorkspace("call", "read_file", "path=a.txt", "--approve", mode))
      expect(refused.stdout).toBe("")
      expect(refused.stderr).toContain("rule quiet forbids it")
      expect(refused.stderr).toContain(
        "\nhaft: to change that: haft rules list, haft rules replace quiet RULE, or haft rules disable quiet\n"
      )
    }
  })

  it.each([
    ["xterm", { draws: true, isOrdered: true }],
    // A dumb terminal knows no escape sequences, so nothing is drawn.
    ["dumb", { draws: false, isOrdered: false }]
  ])("tells in a terminal like %s how far a call is, without what would move the cursor", async (TERM, expected) => {
    workspace.put("../slow.config.mjs", slowPlugin)
    const { spawn } = await import("@lydell/node-pty")
    const args = inWorkspace("call", "slow", "--config", join(workspace.root, "../slow.config.mjs"))
    const terminal = spawn(process.execPath, [bin, ...args], {
      name: TERM,
      env: { ...process.env, TERM, NO_COLOR: "" }
    })
    let seen = ""
    terminal.onData((text) => (seen += text))
    await new Promise((resolve) => terminal.onExit(resolve))
    expect(seen).toContain("done")
    const draws = seen.includes(" drawing\\u{1b}[5A a line and \r")
    expect({ draws, isOrdered: seen.includes("\u001B") }).toEqual(expected)
    expect(seen).not.toContain("\u001B[5A")
  })

  it("is interrupted by Ctrl-C at a question, and nothing has changed", async () => {
    const { spawn } = await import("@lydell/node-pty")
    const args = inWorkspace("call", "write_file", "path=new.txt", "content=x")
    const terminal = spawn(process.execPath, [bin, ...args], { env: { ...process.env, NO_COLOR: "1" } })
    let seen = ""
    terminal.onData((text) => {
      const isNew = !seen.includes("Approve?")
      seen += text
      if (isNew && seen.includes("Approve?")) terminal.write("\u0003")
    })
    const end = await new Promise<{ exitCode: number; signal?: number }>((resolve) => terminal.onExit(resolve))
    const isAsked = seen.includes("Approve?")
    const isInterrupted = end.exitCode === 130 || end.signal === 2
    expect({ isInterrupted, isAsked, isThere: workspace.exists("new.txt") }).toEqual({
      isInterrupted: true,
      isAsked: true,
      isThere: false
    })
  })

  it("takes 9 MB of arguments, and keeps secrets of a command line off the record", async () => {
    const content = '\\"x'.repeat(3_000_000)
    const stdin = JSON.stringify({ path: "big.txt", content })
    expect(await haft(inWorkspace("call", "write_file", "-", "--approve", "all"), { stdin })).toMatchObject({ code: 0 })
    expect(workspace.read("big.txt").length).toBe(content.length)
    const command = "echo --password=hunter2 '?access_token=hunter3' '{\"api_key\":\"hunter4\"}'"
    await haft(inWorkspace("call", "run_command", `command=${command}`, "--approve", "all", "--sandbox", "none"))
    const log = await haft(inWorkspace("log", "--json"))
    expect(log.stdout).toContain("run_command")
    expect(log.stdout).not.toMatch(/"params":[^}]*hunter[234]/)
  })

  it("shows in a terminal how things stand before what it can do", async () => {
    const { spawn } = await import("@lydell/node-pty")
    const terminal = spawn(process.execPath, [bin], {
      cwd: workspace.root,
      env: { ...process.env, XDG_STATE_HOME: workspace.state, NO_COLOR: "1" }
    })
    let seen = ""
    terminal.onData((text) => (seen += text))
    const { exitCode } = await new Promise<{ exitCode: number }>((resolve) => terminal.onExit(resolve))
    expect(exitCode).toBe(0)
    expect(seen).toMatch(/Workspace: .*tools in haft[^]*State directory: [^]*Sandbox auto: [^]*Usage: haft COMMAND/)
  })

  it("takes the options of every command before its name too", async () => {
    const { code, stdout } = await haft([...inWorkspace("--json"), "-d", "haft", "call", "read_file", "path=a.txt"])
    expect({ code, ok: (JSON.parse(stdout) as { ok: boolean }).ok }).toEqual({ code: 0, ok: true })
  })

  it("takes no name of a parameter for something else", async () => {
    const { code, stderr } = await haft(inWorkspace("call", "read_file", "path=a.txt", "__proto__=1"))
    expect(code).toBe(1)
    expect(stderr).toContain("__proto__")
  })

  it.each(["tools", "call", "mcp", "doctor"])("explains %s with examples", async (name) => {
    const { code, stdout } = await haft([name, "--help"])
    expect(code).toBe(0)
    expect(stdout).toContain(`Usage: haft ${name}`)
    expect(stdout).toContain("Examples:\n  haft")
  })

  it.each([
    [["cal"], "unknown command 'cal' (did you mean call?)"],
    [["tools", "more"], "unexpected argument 'more': haft tools takes options only"],
    [["call", "--dialct", "x"], "did you mean --dialect?"],
    [["read_file", "path=a.txt"], "unknown command 'read_file'. Tools are called with: haft call read_file."],
    [["call"], "missing tool name"],
    [["tools", "--dialect", "hafd"], "--dialect is one of haft, agentbench"],
    [["call", "read_file", "{path:"], "can't be read as JSON"],
    [
      ["call", "read_file", '{"path":"a","lines":[{"path":1}],"pa\\u0074h":"b"}'],
      `duplicate key "path" in the arguments`
    ],
    [["call", "read_file", "@/nowhere.json"], "/nowhere.json can't be read: there is no such file"],
    [["call", "read_file", "-"], "there is nothing in standard input"],
    [["tools", "--config", "/nowhere.json"], "/nowhere.json can't be loaded: there is no such file"],
    [["tools", "--config", "/nowhere.ts"], "/nowhere.ts can't be loaded: there is no such file\n"],
    [["tools", "--config", "/"], "/ can't be loaded: it is a directory"],
    [["plugin", "docs", "/"], "plugin /: it can't be loaded: it is a directory without a package.json."],
    [["call", "read_file", "path=a", "b"], "'b' is neither KEY=VALUE nor a JSON object"],
    [["call", "read_file", "a.txt"], "'a.txt' is neither KEY=VALUE nor a JSON object. Give the arguments as"],
    [["call", "read_file", "path=a", "path=b"], "path is given twice"],
    [["call", "read_file", "@"], "missing file name after @"],
    [["call", "read_file", "--workspace", ""], "--workspace is empty"],
    [["tools", "--workspace", bin], "bin.js is not a directory"],
    [["--json"], "missing command. Run: haft --help"],
    [["log", "rnus"], "unknown subcommand 'rnus'; expected show, runs or verify"],
    [["undo", "one", "two"], "unexpected argument 'two'"],
    [["serve", "--grace", "-1"], "argument is ambiguous. See: haft serve --help"],
    [["tools", "--workspace", "/nowhere"], "/nowhere"]
  ])("calls %j a mistake of usage and says what to do", async (args, message) => {
    const { code, stdout, stderr } = await haft(args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
    expect(stderr).toContain(message)
  })
})

describe("haft call", () => {
  const result = { ok: true, result: { content: "two\n", start_line: 2, end_line: 2 } }

  it.each([
    ["JSON", ['{"path":"a.txt","start_line":2,"end_line":2}'], ""],
    ["standard input", ["-"], '{"path":"a.txt","start_line":2,"end_line":2}'],
    ["pairs", ["path=a.txt", "start_line=2", "end_line=2"], ""]
  ])("takes its arguments from %s and prints the envelope alone with --json", async (_from, args, stdin) => {
    const { code, stdout, stderr } = await haft(inWorkspace("call", "read_file", ...args, "--json"), { stdin })
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    expect(JSON.parse(stdout)).toMatchObject(result)
  })

  it("takes its arguments from a file", async () => {
    workspace.put("arguments.json", '{"path":"a.txt","start_line":2,"end_line":2}')
    const file = `@${workspace.root}/arguments.json`
    expect(JSON.parse((await haft(inWorkspace("call", "read_file", file, "--json"))).stdout)).toMatchObject(result)
  })

  it("prints the text alone into a pipe", async () => {
    const { code, stdout, stderr } = await haft(inWorkspace("call", "read_file", "path=a.txt"))
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "one\ntwo\nthree\n", stderr: "" })
  })

  it("prints cliagent's headline as its contract shows it, and its JSON with the tool's name", async () => {
    const { stdout } = await haft(inWorkspace("call", "read_file", "path=a.txt", "--dialect", "cliagent"))
    expect(stdout).toMatch(/^✓ Contents of a\.txt \(lines 1-3\):\none\ntwo\nthree\n {2}Time: \d+ms\n$/)
    const json = await haft(inWorkspace("call", "read_file", "path=a.txt", "--dialect", "cliagent", "--json"))
    expect(JSON.parse(json.stdout)).toMatchObject({ tool: "read_file", success: true })
    expect(Object.keys(JSON.parse(json.stdout) as object)[0]).toBe("tool")
  })

  it("shows where it wrote, as cliagent's contract does", async () => {
    const args = ["call", "create_file", "path=new.txt", "content=hello", "--dialect", "cliagent"]
    const { code, stdout } = await haft(inWorkspace(...args, "--approve", "all"))
    expect(code).toBe(0)
    expect(stdout).toMatch(/^✓ Created file: new\.txt \(5 bytes\)\n {2}Location: .+\/new\.txt\n {2}Time: \d+ms\n$/)
  })

  it("refuses what needs approval where nobody can be asked, and says how to allow it", async () => {
    const { code, stderr } = await haft(inWorkspace("call", "write_file", "path=new.txt", "content=hello"))
    expect(code).toBe(1)
    expect(stderr).toContain("--approve all")
    expect(workspace.exists("new.txt")).toBe(false)
  })

  it("finds the programs that came as packages: ripgrep, and the code behind terminals", async () => {
    const search = await haft(inWorkspace("call", "search_text", "query=two", "--json"))
    expect(JSON.parse(search.stdout)).toMatchObject({ ok: true })
    const terminal = await haft(inWorkspace("call", "open_terminal", "command=echo hi", "--approve", "all", "--json"))
    expect(JSON.parse(terminal.stdout)).toMatchObject({ ok: true })
  })

  it.each([
    ["a failure", ["read_file", "path=missing.txt"], "file_not_found"],
    ["bad parameters", ["read_file", "path=a.txt", "speed=1"], "invalid_params"],
    ["an unknown tool", ["nothing"], "unknown_tool"]
  ])("exits with 1 on %s, with the reason in the envelope and for people", async (_what, args, code) => {
    const json = await haft(inWorkspace("call", ...args, "--json"))
    expect(json.code).toBe(1)
    expect(JSON.parse(json.stdout)).toMatchObject({ ok: false, error: { code } })
    const plain = await haft(inWorkspace("call", ...args))
    expect(plain).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/^Error: /) })
  })

  it("calls a tool with a dot in its name under either spelling", async () => {
    for (const name of ["file.read", "file_read"]) {
      const { stdout } = await haft(inWorkspace("call", name, "path=a.txt", "--dialect", "filetools", "--json"))
      expect(JSON.parse(stdout)).toMatchObject({ content: expect.stringContaining("one") })
    }
  })

  it("shows with --help what a tool takes, what lies inside of it too", async () => {
    const { code, stdout } = await haft(inWorkspace("call", "file.patch", "--help", "--dialect", "filetools"))
    expect(code).toBe(0)
    expect(stdout).toContain("Usage: haft call file.patch path=… patches=… [options]\n")
    expect(stdout).toMatch(
      /\n {2}patches +list of object, required {2}Applied in order.*\n {4}find +string, required +Exact/
    )
    const { stdout: more } = await haft(inWorkspace("call", "read_file", "--help"))
    expect(more).toContain("haft call read_file path=… [KEY=VALUE …] [options]\n")
    expect(more).toMatch(/\n {2}encoding +text\|raw\|base64 \(text\) {2}raw converts/)
    const { stdout: none } = await haft(inWorkspace("call", "last_command", "--help"))
    expect(none).toContain("It takes nothing.")
    expect(await haft(inWorkspace("call", "red_file", "--help"))).toEqual({
      code: 2,
      stdout: "",
      stderr: "haft: unknown tool 'red_file' (did you mean read_file?). Run: haft tools\n"
    })
  })

  it("says where to look when parameters are wrong", async () => {
    const { code, stderr } = await haft(inWorkspace("call", "read_file", "file=a.txt"))
    expect(code).toBe(1)
    expect(stderr).toMatch(/\nhaft: its parameters are listed by: haft call read_file --help\n$/)
  })

  it("shows with --dry-run what would be touched, and does nothing", async () => {
    const plain = await haft(inWorkspace("call", "read_file", "path=a.txt", "--dry-run"))
    const verdict = "read_file (read_only) would not ask: haft does not ask before this"
    expect(plain).toEqual({ code: 0, stdout: `${verdict}\n  read   a.txt\n`, stderr: "" })
    const json = await haft(inWorkspace("call", "read_file", "path=a.txt", "--dry-run", "--json"))
    expect(JSON.parse(json.stdout)).toMatchObject({ tool: "read_file", asks: false, facts: { reads: ["a.txt"] } })
    expect(await haft(inWorkspace("call", "read_file", "--dry-run"))).toMatchObject({ code: 1, stdout: "" })
  })
})

describe("haft tools", () => {
  it("lists names, risks and descriptions", async () => {
    const { code, stdout } = await haft(inWorkspace("tools"))
    expect(code).toBe(0)
    expect(stdout).toMatch(/^TOOL +RISK +WHAT\n/)
    expect(stdout).toMatch(/^read_file +read_only +Read a file/m)
  })

  it.each([
    [
      "json",
      { name: "file.read", risk: "read_only", inputSchema: { type: "object" }, replySchema: { type: "object" } }
    ],
    ["openai", { type: "function", name: "file_read", parameters: { type: "object", required: ["path"] } }],
    ["anthropic", { name: "file_read", input_schema: { type: "object", required: ["path"] } }],
    ["mcp", { name: "file_read", annotations: { readOnlyHint: true }, outputSchema: { type: "object" } }]
  ])("exports them as %s", async (format, expected) => {
    const { stdout } = await haft(inWorkspace("tools", "--format", format, "--dialect", "filetools"))
    const tools = JSON.parse(stdout) as Array<{ name: string }>
    expect(tools.find(({ name }) => name.includes("read"))).toMatchObject(expected)
  })

  it("exports the tools that a vendor's API knows by a type by that type", async () => {
    const exported = async (name: string): Promise<ReadonlyArray<object>> => {
      const { stdout } = await haft(inWorkspace("tools", "--format", name, "--dialect", name))
      return JSON.parse(stdout) as ReadonlyArray<object>
    }
    expect(await exported("openai")).toEqual(
      expect.arrayContaining([{ type: "shell", environment: { type: "local" } }, { type: "apply_patch" }])
    )
    expect(await exported("anthropic")).toEqual(
      expect.arrayContaining([
        { type: "bash_20250124", name: "bash" },
        { type: "text_editor_20250728", name: "str_replace_based_edit_tool" },
        { type: "memory_20250818", name: "memory" }
      ])
    )
  })
})

describe("haft doctor", () => {
  it("says what it found, for people and as JSON", async () => {
    const plain = await haft(inWorkspace("doctor"))
    expect(plain.stdout).toContain(`✓ Node: ${process.version}`)
    // Optional packages that a clone installs are found from the bundle, too.
    for (const subject of ["ripgrep", "Code index", "Terminals"]) expect(plain.stdout).toContain(`✓ ${subject}: `)
    const { findings } = JSON.parse((await haft(inWorkspace("doctor", "--json"))).stdout) as {
      findings: Array<Finding>
    }
    expect(findings.find(({ subject }) => subject === "State directory")?.found).toBe(workspace.state)
    expect(findings.map(({ subject }) => subject)).toContain("Port 4711")
    for (const { enforced = [], notEnforced = [] } of findings) {
      for (const limit of enforced) expect(plain.stdout).toContain(`    + ${limit}\n`)
      for (const { limit, mend = "" } of notEnforced) {
        expect(plain.stdout).toContain(`    - not here: ${limit}\n${mend === "" ? "" : `      ${mend}\n`}`)
      }
    }
  })

  it("does not tell to install sandboxes where it is the workspace that can't be used", async () => {
    const { stdout } = await haft(["doctor", "--workspace", import.meta.filename])
    expect(stdout).toContain("cli.test.ts is not a directory\n    Name a directory, or the one that it lies in.")
    expect(stdout).not.toMatch(/install/i)
  })

  it("does not start a docker that only PATH names", async () => {
    workspace.put("programs/docker", '#!/bin/sh\ntouch "$(dirname "$0")/started"\nexit 125\n')
    chmodSync(`${workspace.root}/programs/docker`, 0o755)
    const env = { PATH: `${workspace.root}/programs:${process.env["PATH"]}` }
    const { stdout } = await haft(inWorkspace("doctor"), { env })
    expect(stdout).toContain("Sandbox docker")
    expect(existsSync(`${workspace.root}/programs/started`)).toBe(false)
  })
})

const slowPlugin = `
import { definePlugin, defineTool } from "haft/promise"
import * as z from "${import.meta.resolve("zod")}"
const slow = defineTool({
  name: "slow",
  description: "Takes its time.",
  input: z.strictObject({}),
  output: z.object({}),
  risk: "read_only",
  execute: async (_input, { progress }) => {
    progress({ message: "drawing\\u001B[5A\\na line and " })
    await new Promise((resolve) => setTimeout(resolve, 900))
    return {}
  },
  render: () => "done"
})
export default { plugins: [definePlugin({ name: "slow", version: "1.0.0", tools: [slow] })] }
`
