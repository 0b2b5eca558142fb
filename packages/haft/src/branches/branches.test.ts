import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { type Fixture, temporaryWorkspace } from "@haft/testing"
import { describe, expect, it, onTestFinished } from "vitest"

import { definePlugin, type HaftConfig, openBranches, openHost, openRules, readRun } from "../promise.ts"

const isLinux = process.platform === "linux"

const open = async (files: Readonly<Record<string, Fixture>> = { "a.txt": "one\n" }, more: HaftConfig = {}) => {
  const workspace = temporaryWorkspace(files)
  const config: HaftConfig = { root: workspace.root, state: workspace.state, approval: "all", ...more }
  const branches = await openBranches(config)
  onTestFinished(async () => {
    await branches.dispose()
    workspace.remove()
  })
  const sh = (branch: string, script: string) => branches.run(branch, { program: "/bin/sh", args: ["-c", script] })
  const at = (path: string) => join(workspace.root, path)
  return { workspace, config, branches, sh, at, read: (path: string) => readFileSync(at(path), "utf8") }
}

/** True for the process of a host on the branch in this directory. */
const isHostOn = (pid: string, branch: string): boolean => {
  try {
    const isHost = readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("branch-host-process")
    return isHost && readFileSync(`/proc/${pid}/environ`, "utf8").includes(`HAFT_BRANCH=${branch}`)
  } catch {
    return false
  }
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => "no error",
    (error: { readonly code?: string }) => error.code
  )

describe.runIf(isLinux)("branches (not on this platform)", () => {
  it("keep what each of them changed apart from the others and from the workspace", async () => {
    const { branches, sh, read, at } = await open({ "a.txt": "one\n", "src/b.txt": "b\n" })
    await branches.create("fix-1")
    await branches.create("fix-2")
    expect(await sh("fix-1", "echo two > a.txt; mkdir new; echo n > new/n.txt; rm src/b.txt")).toBe(0)
    expect(await sh("fix-2", "test ! -e new && grep -q one a.txt && echo three >> a.txt && exit 7")).toBe(7)
    expect(await sh("fix-1", "cat a.txt new/n.txt | tr '\\n' , | grep -qx two,n, && test ! -e src/b.txt")).toBe(0)
    expect({ a: read("a.txt"), b: read("src/b.txt"), isNew: existsSync(at("new")) }).toEqual({
      a: "one\n",
      b: "b\n",
      isNew: false
    })
    expect((await branches.list()).map(({ name, isInUse }) => [name, isInUse])).toEqual([
      ["fix-1", false],
      ["fix-2", false]
    ])
    const { changes, diff, conflicts } = await branches.diff("fix-1")
    expect(changes.toSorted((one, other) => one.path.localeCompare(other.path))).toEqual([
      { path: "a.txt", kind: "modified" },
      { path: "new", kind: "created" },
      { path: "new/n.txt", kind: "created" },
      { path: "src/b.txt", kind: "deleted" }
    ])
    expect(diff).toContain("-one\n+two\n")
    expect(conflicts).toEqual([])
  })

  it("are merged as one call that is on record and can be undone", async () => {
    const { config, branches, sh, read, at } = await open({ "a.txt": "one\n", "old/x.txt": "x\n" })
    await branches.create("fix")
    await sh("fix", "echo two > a.txt; chmod 755 a.txt; rm -r old; ln -s a.txt link; mkdir old; echo y > old/y.txt")
    const reply = await branches.merge("fix")
    expect(reply.output).toMatchObject({ branch: "fix", diff_path: expect.stringContaining("diffs/") })
    expect([read("a.txt"), read("link"), read("old/y.txt"), existsSync(at("old/x.txt"))]).toEqual([
      "two\n",
      "two\n",
      "y\n",
      false
    ])
    expect(statSync(at("a.txt")).mode & 0o777).toBe(0o755)
    expect(await branches.list()).toEqual([])
    const events = await readRun(config)
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(["branch_changed", "tool_call_started", "command_effects", "tool_call_finished"])
    )
    await using host = await openHost({ ...config, packages: ["fs"], sandbox: "none" })
    expect((await host.call("undo", {})).ok).toBe(true)
    expect([read("a.txt"), read("old/x.txt"), existsSync(at("link"))]).toEqual(["one\n", "x\n", false])
  })

  it("refuse names that are hostile, taken or unknown", async () => {
    const { branches } = await open()
    for (const name of ["", "..", "a/b", "-x", ".hidden", "a\nb", "ä", "x".repeat(65)]) {
      expect([name, await codeOf(branches.create(name))]).toEqual([name, "invalid_params"])
      expect(await codeOf(branches.drop(name))).toBe("invalid_params")
    }
    const made = await Promise.all([1, 2, 3].map(() => codeOf(branches.create("one"))))
    expect(made.filter((code) => code === "no error")).toHaveLength(1)
    expect(made.filter((code) => code === "already_exists")).toHaveLength(2)
    expect(await codeOf(branches.diff("two"))).toBe("file_not_found")
    expect((await branches.merge("two")).error?.message).toBe("there is no branch 'two'; there are: one")
    await branches.drop("one")
    expect(await branches.list()).toEqual([])
  })

  it("are refused to everybody else while a program works on them, and free after it was killed", async () => {
    const { workspace, branches, sh } = await open()
    await branches.create("busy")
    const ready = join(workspace.outside, "ready")
    const running = sh("busy", `echo mine > mine.txt; echo $$ > ${ready}.new; mv ${ready}.new ${ready}; exec sleep 60`)
    while (!existsSync(ready)) await new Promise((resolve) => setTimeout(resolve, 10))
    expect((await branches.list()).map(({ isInUse }) => isInUse)).toEqual([true])
    for (const work of [() => sh("busy", "true"), () => branches.diff("busy"), () => branches.drop("busy")]) {
      expect(await codeOf(work())).toBe("branch_in_use")
    }
    expect((await branches.merge("busy")).error?.code).toBe("branch_in_use")
    process.kill(Number(readFileSync(ready, "utf8")), "SIGKILL")
    expect(await running).toBe(137)
    expect((await branches.diff("busy")).changes).toEqual([{ path: "mine.txt", kind: "created" }])
    await branches.drop("busy")
  })

  it("tell which paths changed on both sides, and merge nothing unless a side is chosen", async () => {
    const files = {
      "both.txt": "0\n",
      "alike.txt": "0\n",
      "touched.txt": "0\n",
      "gone/deep.txt": "0\n",
      "mine.txt": "0\n"
    }
    const { branches, sh, at, read } = await open(files)
    await branches.create("fix")
    await sh("fix", "for f in both alike touched mine; do echo branch > $f.txt; done; rm -r gone")
    writeFileSync(at("both.txt"), "workspace\n")
    writeFileSync(at("alike.txt"), "branch\n")
    writeFileSync(at("gone/deep.txt"), "changed\n")
    writeFileSync(at("other.txt"), "other\n")
    utimesSync(at("touched.txt"), 1, 1)
    const reply = await branches.merge("fix")
    expect(reply.error).toMatchObject({ code: "stale_file", details: { paths: ["both.txt", "gone"] } })
    expect(reply.error?.message).toBe("both.txt, gone changed in the workspace and on branch 'fix'; nothing was merged")
    expect(read("mine.txt")).toBe("0\n")
    expect((await branches.diff("fix")).conflicts).toEqual(["both.txt", "gone"])
    expect((await branches.merge("fix", { conflicts: "workspace" })).output).toMatchObject({ modified: 2, deleted: 0 })
    expect(["both", "alike", "touched", "mine"].map((name) => read(`${name}.txt`))).toEqual([
      "workspace\n",
      "branch\n",
      "branch\n",
      "branch\n"
    ])
    expect(read("gone/deep.txt")).toBe("changed\n")
  })

  it("take the branch's side of a conflict when that is chosen", async () => {
    const { branches, sh, at, read } = await open({ "a.txt": "0\n", "b.txt": "0\n" })
    await branches.create("fix")
    await sh("fix", "echo branch > a.txt; rm b.txt")
    writeFileSync(at("a.txt"), "workspace\n")
    writeFileSync(at("b.txt"), "workspace\n")
    expect((await branches.merge("fix", { conflicts: "branch" })).ok).toBe(true)
    expect([read("a.txt"), existsSync(at("b.txt"))]).toEqual(["branch\n", false])
  })

  it("take a path for changed that the workspace changed while the branch was at work", async () => {
    const { workspace, branches, sh, at } = await open({ "a.txt": "0\n" })
    await branches.create("fix")
    const [ready, go] = ["ready", "go"].map((name) => join(workspace.outside, name))
    const running = sh("fix", `echo branch > a.txt; touch ${ready}; while ! test -e ${go}; do sleep 0.02; done`)
    while (!existsSync(ready ?? "")) await new Promise((resolve) => setTimeout(resolve, 10))
    writeFileSync(at("a.txt"), "workspace\n")
    writeFileSync(go ?? "", "")
    await running
    expect((await branches.merge("fix")).error?.details?.["paths"]).toEqual(["a.txt"])
  })

  it("are judged by rules about written paths and asked about for control files, with their diff", async () => {
    const { config, branches, sh, at } = await open(undefined, { approval: "ask" })
    const rules = await openRules(config)
    await rules.add({ id: "no-env", decision: "deny", touches: { writes: "**/.env" } })
    await branches.create("fix")
    await sh("fix", "echo SECRET=1 > .env")
    const previews: Array<string | undefined> = []
    const ask = async ({ preview }: { readonly preview?: string }) => {
      previews.push(preview)
      return { approved: true }
    }
    expect((await branches.merge("fix", { ask })).error?.code).toBe("approval_denied")
    expect(existsSync(at(".env"))).toBe(false)
    await sh("fix", "rm .env; echo 'echo hi' > .envrc")
    expect((await branches.merge("fix", { ask: async () => ({ approved: false }) })).error?.code).toBe(
      "approval_denied"
    )
    expect((await branches.merge("fix", { ask })).ok).toBe(true)
    expect(previews.slice(-2)).toEqual([expect.stringContaining("+echo hi"), expect.stringContaining("+echo hi")])
    expect(existsSync(at(".envrc"))).toBe(true)
  })

  it("are not merged with changes that nobody was shown", async () => {
    const { branches, sh, at } = await open(undefined, { approval: "ask" })
    await branches.create("fix")
    await sh("fix", "echo shown > a.txt")
    const ask = async () => {
      await sh("fix", "echo hidden > b.txt")
      return { approved: true }
    }
    expect((await branches.merge("fix", { ask })).error).toMatchObject({
      code: "stale_file",
      message: "branch 'fix' has changed since it was shown; nothing was merged"
    })
    expect(existsSync(at("b.txt"))).toBe(false)
  })

  it("run nothing after a merge that a crash cut short, and can be merged again", async () => {
    const { workspace, branches, sh, read } = await open()
    await branches.create("fix")
    await sh("fix", "echo two > a.txt")
    writeFileSync(join(workspace.state, "branches/fix/merging"), "")
    expect(await codeOf(sh("fix", "true"))).toBe("branch_in_use")
    expect((await branches.merge("fix")).ok).toBe(true)
    expect(read("a.txt")).toBe("two\n")
  })

  it("list what can't be merged, and leave the records of their hosts to the workspace", async () => {
    const { workspace, branches, sh } = await open()
    await branches.create("fix")
    await sh("fix", "mkfifo pipe; mkdir -p $HAFT_BRANCH/state/runs/20260101T000000000-00000000")
    expect((await branches.diff("fix")).leftOut).toEqual([
      { path: "pipe", reason: "it is a pipe, a socket or a device" }
    ])
    expect((await branches.merge("fix")).output).toMatchObject({ left_out: [{ path: "pipe" }] })
    expect(existsSync(join(workspace.state, "runs/20260101T000000000-00000000"))).toBe(true)
  })

  it("leave the state of the workspace alone where a program is not on the branch that its environment names", async () => {
    const { workspace, config, branches } = await open()
    await branches.create("fix")
    process.env["HAFT_BRANCH"] = join(workspace.state, "branches/fix")
    onTestFinished(() => void delete process.env["HAFT_BRANCH"])
    await expect(openHost({ ...config, packages: ["fs"] })).rejects.toThrow("this process is not on it")
    rmSync(join(workspace.state, "branches/fix"), { recursive: true })
    await using host = await openHost({ ...config, packages: ["fs"] })
    expect((await host.call("read_file", { path: "a.txt" })).ok).toBe(true)
  })

  it("have a host of their own, whose files, search, commands and undo see the branch", async () => {
    const { branches, read, at } = await open()
    await branches.create("fix")
    {
      await using host = await branches.host("fix")
      expect(host.tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["read_file", "run_command"]))
      const edit = { path: "a.txt", edits: [{ find: "one", replace: "two" }] }
      expect((await host.call("edit_file", edit)).ok).toBe(true)
      const ran = await host.call("run_command", { command: "cat a.txt; echo made > made.txt" })
      expect(ran.output).toMatchObject({ stdout: "two\n", changes: { outcome: "committed", created: 1 } })
      expect((await host.call("search_text", { query: "made" })).text).toContain("made.txt")
      expect((await host.call("undo", {})).text).toContain("made.txt")
      expect((await host.preview("read_file", { path: "a.txt" })).facts.reads).toEqual(["a.txt"])
      expect((await host.call("read_file", { path: "none" })).error).toMatchObject({ code: "file_not_found" })
      await expect(host.preview("no_tool", {})).rejects.toMatchObject({ code: "unknown_tool" })
      const signal = AbortSignal.timeout(300)
      await expect(host.call("run_command", { command: "sleep 60" }, { signal })).rejects.toBeInstanceOf(Error)
      expect(await codeOf(branches.diff("fix"))).toBe("branch_in_use")
    }
    expect((await branches.diff("fix")).changes).toEqual([{ path: "a.txt", kind: "modified" }])
    expect([read("a.txt"), existsSync(at("made.txt"))]).toEqual(["one\n", false])
  }, 60_000)

  it("ask whoever calls a tool on one, and tell when their host has died", async () => {
    const { workspace, branches } = await open(undefined, { approval: "ask" })
    await branches.create("fix")
    await using host = await branches.host("fix")
    const reasons: Array<string> = []
    const ask = async ({ reason }: { readonly reason: string }) => {
      reasons.push(reason)
      return { approved: true }
    }
    const command = `cat /proc/self/stat > /dev/null; echo ok`
    expect((await host.call("run_command", { command }, { ask })).ok).toBe(true)
    expect(reasons).toHaveLength(1)
    expect((await host.call("run_command", { command })).error?.code).toBe("approval_denied")
    const waiting = host.call("run_command", { command: "sleep 60" }, { ask })
    const pid = readdirSync("/proc").find((name) => isHostOn(name, join(workspace.state, "branches/fix")))
    process.kill(Number(pid), "SIGKILL")
    await expect(waiting).rejects.toMatchObject({ code: "cancelled", message: expect.stringContaining("SIGKILL") })
  }, 60_000)

  it("refuse a configuration that can't be sent to a host's process", async () => {
    const plugin = definePlugin({ name: "mine", version: "1.0.0", tools: [] })
    const { branches } = await open(undefined, { plugins: [plugin] })
    await branches.create("fix")
    await expect(branches.host("fix")).rejects.toThrow("give its plugins and dialect by name")
  })

  it("take less than a megabyte for eight of them", async () => {
    const { workspace, branches } = await open()
    const names = Array.from({ length: 8 }, (_, index) => `fix-${index}`)
    for (const name of names) await branches.create(name)
    const { stateUsage } = await import("../internal.ts")
    const { parts } = stateUsage({ root: workspace.root, state: workspace.state })
    expect(parts["branches"]).toBeLessThan(1024 * 1024)
  })
})

describe.runIf(isLinux && process.getuid?.() === 0)("an ordinary user (not on this platform)", () => {
  it("opens a host on a branch, whose files and commands see it, and merges it", () => {
    using workspace = temporaryWorkspace({ "a.txt": "one\n" })
    execFileSync("chown", ["-R", "65534:65534", join(workspace.root, "..")])
    const cli = [
      process.execPath,
      "--conditions=@haft/source",
      join(import.meta.dirname, "../../../../apps/cli/src/bin.ts")
    ]
    const options = ["--workspace", workspace.root, "--state", workspace.state, "--approve", "all"]
    const haft = (...words: ReadonlyArray<string>): string =>
      execFileSync("setpriv", ["--reuid=65534", "--regid=65534", "--clear-groups", ...cli, ...words], {
        encoding: "utf8",
        env: { PATH: process.env["PATH"], HOME: workspace.state }
      })
    haft("branch", ...options, "create", "fix")
    const command = ["call", "run_command", "command=cat a.txt; echo two > a.txt; mkdir d; git init -q d/g", ...options]
    const ran = haft("branch", ...options, "run", "fix", "--", ...cli, ...command, "--json")
    expect(JSON.parse(ran)).toMatchObject({ result: { stdout: "one\n", changes: { outcome: "committed" } } })
    expect([workspace.read("a.txt"), workspace.exists("d")]).toEqual(["one\n", false])
    expect(haft("branch", ...options, "merge", "fix")).toMatch(/^Merged fix: \d+ created, 1 modified, 0 deleted/)
    expect([workspace.read("a.txt"), workspace.exists("d/g/.git/HEAD")]).toEqual(["two\n", true])
  }, 60_000)
})
