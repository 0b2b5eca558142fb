import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { temporaryWorkspace, type TemporaryWorkspace } from "@haft/testing"
import { afterEach, beforeEach, describe, expect, it } from "vitest"

import { haft, placeOf } from "./haft.ts"

let workspace: TemporaryWorkspace
beforeEach(() => {
  workspace = temporaryWorkspace({ "a.txt": "one\n", "sub/b.txt": "two\n" })
})
afterEach(() => workspace.remove())

const inWorkspace = (...args: ReadonlyArray<string>): ReadonlyArray<string> => [...args, ...placeOf(workspace)]

describe("haft call", () => {
  it("takes a value from a file and from standard input", async () => {
    writeFileSync(join(workspace.outside, "draft.md"), "# Draft\n")
    const draft = `content=@${join(workspace.outside, "draft.md")}`
    expect((await haft(inWorkspace("call", "write_file", "path=c.md", draft, "--approve", "all"))).code).toBe(0)
    expect(workspace.read("c.md")).toBe("# Draft\n")
    const typed = inWorkspace("call", "write_file", "path=d.md", "content=-", "--approve", "all")
    expect((await haft(typed, { stdin: "from a pipe\n" })).code).toBe(0)
    expect(workspace.read("d.md")).toBe("from a pipe\n")
    const literal = inWorkspace("call", "write_file", "path=e.md", "content=@@nobody", "--approve", "all")
    expect((await haft(literal)).code).toBe(0)
    expect(workspace.read("e.md")).toBe("@nobody")
  })

  it("refuses a file that is not there, and standard input for two values", async () => {
    const missing = await haft(inWorkspace("call", "write_file", "path=c.md", "content=@nobody"))
    expect(missing).toMatchObject({ code: 2, stdout: "" })
    expect(missing.stderr).toContain("For a value that begins with @, write content=@@nobody")
    const twice = await haft(inWorkspace("call", "write_file", "path=-", "content=-"), { stdin: "x" })
    expect(twice).toMatchObject({ code: 2, stderr: expect.stringContaining("standard input is read already") })
  })

  it("exits with 1 when a command does, and with 0 where the contract calls that success", async () => {
    const options = ["--approve", "all", "--sandbox", "none"]
    const failed = await haft(inWorkspace("call", "run_command", "command=echo out; exit 3", ...options))
    expect(failed.code).toBe(1)
    expect(failed.stdout).toContain("out")
    expect((await haft(inWorkspace("call", "run_command", "command=exit 3", "--json", ...options))).code).toBe(1)
    expect((await haft(inWorkspace("call", "run_command", "command=true", ...options))).code).toBe(0)
    const other = ["call", "shell", "command=exit 3", "--dialect", "toolrouter", "--json", ...options]
    const { code, stdout } = await haft(inWorkspace(...other))
    expect([code, "error" in (JSON.parse(stdout) as object)]).toSatisfy(
      ([exit, isError]: [number, boolean]) => (exit === 1) === isError
    )
  })

  it.each([
    [["red_file", "path=a.txt"], 1, "unknown tool 'red_file' (did you mean read_file?)"],
    [["read_file", "pth=a.txt"], 1, "(did you mean path?)"],
    [["read_file", "path=sub/c.txt"], 1, "sub/c.txt is not there (did you mean sub/b.txt?)"],
    [["read_file", "path=a.txt", "--aprove", "all"], 2, "(did you mean --approve?)"],
    [["read_file", "--path", "a.txt"], 2, "Parameters of a tool are written KEY=VALUE: path=a.txt"],
    [["read_file", "--start-line=2"], 2, "Parameters of a tool are written KEY=VALUE: start_line=2"],
    [["search_text", "--query", "it's"], 2, `KEY=VALUE: 'query=it'\\''s'`]
  ])("%j: says what was meant", async (args, code, hint) => {
    const ended = await haft(inWorkspace("call", ...args))
    expect(ended).toMatchObject({ code, stdout: "" })
    expect(ended.stderr).toContain(hint)
  })

  it("says what it made of arguments that did not fit", async () => {
    const ended = await haft(inWorkspace("call", "read_file", '{"path":"a.txt","start_line":"1"}'))
    expect(ended).toEqual({
      code: 0,
      stdout: "one\n",
      stderr: 'haft: start_line: the string "1" was taken for the number 1\n'
    })
  })
})

it("colors what goes into a pipe with FORCE_COLOR", async () => {
  const args = inWorkspace("call", "read_file", "path=a.txt", "--dialect", "cliagent")
  expect((await haft(args, { env: { FORCE_COLOR: "1" } })).stdout).toContain("\u001B[32m✓")
  expect((await haft(args, { env: { FORCE_COLOR: "0" } })).stdout).not.toContain("\u001B")
  expect((await haft(args)).stdout).not.toContain("\u001B")
})

describe("in a directory of a workspace", () => {
  const env = () => ({ XDG_STATE_HOME: workspace.state, HOME: workspace.outside })
  const below = (...args: ReadonlyArray<string>) => haft(args, { cwd: join(workspace.root, "sub"), env: env() })

  it("call, undo, log and rules find the workspace by its configuration, and say which it is", async () => {
    workspace.put("haft.config.json", "{}")
    const said = `haft: the workspace is ${workspace.root}\n`
    const read = await below("call", "read_file", "path=b.txt")
    expect(read).toMatchObject({ code: 0, stdout: "two\n", stderr: expect.stringContaining(said) })
    const wrote = await below("call", "write_file", "path=new.txt", "content=hi", "--approve", "all")
    expect([wrote.code, workspace.read("sub/new.txt")]).toEqual([0, "hi"])
    expect((await below("log")).stdout).toContain("write_file")
    expect((await below("rules", "list")).stderr).toContain(said)
    expect((await below("undo")).code).toBe(0)
    expect(workspace.exists("sub/new.txt")).toBe(false)
    expect((await below("call", "list_dir")).stdout).not.toContain("a.txt")
    expect((await below("call", "read_file", "path=../a.txt")).stdout).toBe("one\n")
  })

  it("finds it by its state, and reads paths relative to the root where it is named", async () => {
    await haft(["call", "read_file", "path=a.txt"], { cwd: workspace.root, env: env() })
    const read = await below("call", "read_file", "path=b.txt", "--json")
    expect(JSON.parse(read.stdout)).toMatchObject({ ok: true, result: { path: "sub/b.txt" } })
    const named = await below("call", "read_file", "path=a.txt", "--workspace", "..")
    expect(named).toMatchObject({ code: 0, stdout: "one\n", stderr: "" })
  })

  it("takes the directory itself where nothing marks one above, and never the home directory", async () => {
    const home = join(workspace.root, "home")
    mkdirSync(join(home, "project"), { recursive: true })
    writeFileSync(join(home, "haft.config.json"), "{}")
    writeFileSync(join(home, "project", "c.txt"), "three\n")
    const options = { cwd: join(home, "project"), env: { HOME: home, XDG_STATE_HOME: workspace.state } }
    expect(await haft(["call", "read_file", "path=c.txt"], options)).toEqual({ code: 0, stdout: "three\n", stderr: "" })
  })

  it("names the way out in the home directory, whose state would lie inside of it", async () => {
    const { code, stderr } = await haft(["call", "list_dir"], {
      cwd: workspace.root,
      env: { HOME: workspace.root, XDG_STATE_HOME: "" }
    })
    expect(code).toBe(2)
    expect(stderr).toContain("is inside the workspace")
    expect(stderr).toContain("On the command line: --state DIR or --workspace DIR")
  })
})
