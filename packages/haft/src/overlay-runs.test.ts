import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { askCallback } from "@haft/approval"
import { openHost } from "@haft/core/promise"
import { type Fixture, temporaryWorkspace } from "@haft/testing"
import { describe, expect, it, onTestFinished } from "vitest"

import { standardHost } from "./host/standard-host.ts"
import { type HaftConfig, openRules } from "./internal.ts"

const isLinux = process.platform === "linux"

interface Answering {
  readonly config?: HaftConfig
  readonly rules?: ReadonlyArray<object>
  readonly approve?: (question: { readonly reason: string; readonly preview?: string }, number: number) => boolean
  readonly files?: Readonly<Record<string, Fixture>>
}

/** A host with real files, a real sandbox, and somebody who answers: yes to every command, then what a test says. */
const open = async ({ config = {}, rules = [], approve = () => true, files = {} }: Answering = {}) => {
  const workspace = temporaryWorkspace(files)
  const questions: Array<{ readonly reason: string; readonly preview?: string; readonly isEffects?: true }> = []
  const asker = askCallback((question) => {
    questions.push(question)
    return { approved: approve(question, questions.length) }
  })
  const all: HaftConfig = { root: workspace.root, state: workspace.state, sandbox: "unshare", ...config }
  const store = await openRules(all)
  for (const rule of rules) await store.add(rule)
  const host = await openHost(standardHost(all, { asker }))
  onTestFinished(async () => {
    await host.dispose()
    workspace.remove()
  })
  const run = async (command: string, more: object = {}) => {
    const reply = await host.call("run_command", { command, ...more })
    return { reply, output: (reply.output ?? reply.error?.output) as Output }
  }
  return { workspace, host, run, questions, overlays: join(workspace.state, "overlays") }
}

interface Output {
  readonly exit_code: number
  readonly stdout: string
  readonly changes?: {
    readonly outcome: string
    readonly created: number
    readonly modified: number
    readonly deleted: number
    readonly paths: ReadonlyArray<{ readonly path: string; readonly kind: string }>
    readonly left_out?: ReadonlyArray<{ readonly path: string; readonly reason: string }>
    readonly diff_path?: string
  }
  readonly no_overlay?: string
}

/** Everything below a directory: kind, permission bits, content or target, and which names are one file. */
const treeOf = (root: string): Readonly<Record<string, string>> => {
  const numbers = new Map<number, string>()
  const visit = (path: string): ReadonlyArray<readonly [string, string]> => {
    const full = Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, "latin1")])
    const stats = lstatSync(full)
    const mode = (stats.mode & 0o7777).toString(8)
    if (stats.isDirectory()) {
      const names = readdirSync(full, { encoding: "latin1" })
      const inside = names.toSorted().flatMap((name) => visit(path === "" ? name : `${path}/${name}`))
      return path === "" ? inside : [[path, `directory ${mode}`], ...inside]
    }
    if (stats.isSymbolicLink()) return [[path, `symlink ${readlinkSync(full)}`]]
    if (!stats.isFile()) return [[path, "special"]]
    const first = numbers.get(stats.ino) ?? path
    numbers.set(stats.ino, first)
    const hash = createHash("sha256").update(readFileSync(full)).digest("hex").slice(0, 8)
    return [[path, `file ${mode} ${hash}${first === path ? "" : ` same as ${first}`}`]]
  }
  return Object.fromEntries(visit(""))
}

const socketAt = (path: string): string =>
  `perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0); bind(S, sockaddr_un("${path}"))'`

/** A case: the files that the command finds, the command, and names that an overlay leaves out and a plain directory has. */
const cases: Readonly<Record<string, readonly [before: string, command: string, leftOut?: ReadonlyArray<string>]>> = {
  "creates files and directories": ["", "mkdir -p a/b/c; echo 1 > a/b/c/f; : > empty; mkdir bare"],
  "changes a file in place": ["echo 1 > f", "echo 2 >> f"],
  "replaces a file by a rename": ["echo 1 > f; chmod 640 f", "echo 2 > g; mv g f"],
  "replaces a read-only file": ["echo 1 > f; chmod 444 f", "echo 2 > g; mv -f g f"],
  "deletes a file": ["echo 1 > f; echo 2 > g", "rm f"],
  "deletes a directory with all in it": ["mkdir -p d/e; echo 1 > d/e/f; echo 2 > d/g", "rm -r d"],
  "deletes a directory and makes it again": [
    "mkdir -p d/e/f; echo 1 > d/x; echo 2 > d/e/y; echo 3 > d/e/f/z",
    "rm -r d; mkdir -p d/e/f; echo 4 > d/e/new"
  ],
  "renames a file": ["mkdir d; echo 1 > f", "mv f d/g"],
  "renames a directory": ["mkdir -p d/e; echo 1 > d/e/f", "mv d moved"],
  "swaps two files": ["echo 1 > a; echo 2 > b", "mv a t; mv b a; mv t b"],
  "changes permissions": ["mkdir d; echo 1 > f; echo 2 > d/g", "chmod 755 f; chmod 700 d; chmod 600 d/g"],
  "makes a directory that nobody can write to": ["", "mkdir d; echo 1 > d/f; chmod 555 d"],
  "opens a directory that nobody could write to": ["mkdir d; chmod 555 d", "chmod 755 d; echo 1 > d/f"],
  "makes, changes and removes links": [
    "ln -s a one; ln -s b two; echo 1 > a",
    "ln -sfn c one; rm two; ln -s ../outside three; ln -s nowhere four"
  ],
  "puts a file where a directory was": ["mkdir d; echo 1 > d/f", "rm -r d; echo 2 > d"],
  "puts a directory where a file was": ["echo 1 > d", "rm d; mkdir d; echo 2 > d/f"],
  "puts a file where a link was, and a link where a file was": [
    "ln -s x l; echo 1 > f",
    "rm l f; echo 2 > l; ln -s l f"
  ],
  "makes hard links": ["echo 1 > a", "ln a b; echo 2 > c; ln c d"],
  "writes odd names": ["", "echo 1 > 'a b'; echo 2 > '-x'; echo 3 > 'ä\u{1F600}'; echo 4 > \"$(printf 'new\\nline')\""],
  "makes pipes": ["", "mkfifo pipe; mkdir d; mkfifo d/pipe; echo 1 > f", ["pipe", "d/pipe"]],
  "makes sockets": ["", `${socketAt("s")}; echo 1 > f`, ["s"]],
  "writes through a hard link that it made": ["echo 1 > a", "ln a b; echo 2 >> b"],
  "keeps the bits of directories": ["mkdir d; chmod 2755 d", "mkdir e d/e; chmod 1777 e; echo 1 > d/f"],
  "takes permissions away": ["mkdir d; echo 1 > d/f; echo 2 > g", "chmod 0 g d/f; chmod 500 d"],
  "replaces a link to a directory by one": ["mkdir d; echo 1 > d/f; ln -s d l", "rm l; mkdir l; echo 2 > l/g"],
  "makes names that are not UTF-8": ["", String.raw`echo 1 > "$(printf 'bad\351')"; echo 2 > f`, ["bad\xe9"]],
  "makes and removes what never was": ["", "echo 1 > t; mkdir d; echo 2 > d/x; rm -r t d; echo 3 > kept"],
  "writes large files": ["head -c 3000000 /dev/zero > big", "head -c 5000000 /dev/zero >> big; cp big other"],
  "changes nothing": ["echo 1 > f; mkdir d", "cat f > /dev/null; ls -R > /dev/null"]
}

describe.runIf(isLinux).each(["unshare", "bubblewrap"] as const)("a command on an overlay, with %s,", (sandbox) => {
  it("leaves the workspace as the same command leaves a plain directory", async () => {
    const { workspace, host } = await open({ config: { sandbox, approvalOptions: { deletedFiles: 1000 } } })
    const plain = join(workspace.outside, "plain")
    mkdirSync(plain)
    for (const [index, [before]] of Object.values(cases).entries()) {
      const directory = join(workspace.root, `case${index}`)
      mkdirSync(directory)
      execFileSync("bash", ["-c", before], { cwd: directory })
    }
    // Not copied, because that would break links and times.
    execFileSync("cp", ["-a", `${workspace.root}/.`, plain])
    for (const [index, [title, [, command, leftOut = []]]] of Object.entries(cases).entries()) {
      const cwd = `case${index}`
      const reply = await host.call("run_command", { command, cwd })
      expect(reply.error, title).toBeUndefined()
      const output = reply.output as Output
      expect([output.exit_code, output.no_overlay], title).toEqual([0, undefined])
      execFileSync("bash", ["-c", command], { cwd: join(plain, cwd) })
      const expected = { ...treeOf(join(plain, cwd)) }
      for (const name of leftOut) delete expected[name]
      expect(treeOf(join(workspace.root, cwd)), title).toEqual(expected)
      expect(output.changes?.left_out?.length ?? 0, title).toBe(leftOut.length)
    }
    await host.dispose()
    expect(readdirSync(join(workspace.state, "overlays"))).toEqual([])
  }, 120_000)

  it("can be undone, whatever it did", async () => {
    const { workspace, host } = await open({ config: { sandbox, approvalOptions: { deletedFiles: 1000 } } })
    for (const [index, [before]] of Object.values(cases).entries()) {
      const directory = join(workspace.root, `case${index}`)
      mkdirSync(directory)
      execFileSync("bash", ["-c", before], { cwd: directory })
    }
    const before = treeOf(workspace.root)
    const began = Date.now()
    for (const [index, [title, [, command]]] of Object.entries(cases).entries()) {
      const reply = await host.call("run_command", { command, cwd: `case${index}` })
      expect(reply.error, title).toBeUndefined()
    }
    expect(treeOf(workspace.root)).not.toEqual(before)
    const undone = await host.call("undo", { since: new Date(began).toISOString() })
    expect(undone.error).toBeUndefined()
    // A file that got a second name keeps its own content, and is its own file again.
    expect(treeOf(workspace.root)).toEqual(before)
  }, 120_000)
})

describe.runIf(isLinux)("what a command changed", () => {
  it("is told by counts, the first paths and a diff, and undone by its call", async () => {
    const { workspace, host, run } = await open({
      files: { "a.txt": "one\n", "b.txt": "two\n", ".gitignore": "out/\n" }
    })
    const { reply, output } = await run("echo 1 >> a.txt; rm b.txt; mkdir out; echo x > out/built; echo n > new")
    expect(output.changes).toMatchObject({ outcome: "committed", created: 3, modified: 1, deleted: 1 })
    expect(output.changes?.paths).toContainEqual({ path: "a.txt", kind: "modified" })
    expect(reply.writes).toContain("a.txt")
    const diff = readFileSync(
      join(workspace.state, "runs", output.changes?.diff_path?.replace("artifact:", "") ?? ""),
      "utf8"
    )
    expect(diff).toContain("+++ b/a.txt")
    expect(diff).toContain("+1")
    expect(diff).toContain("… and 2 ignored paths")
    expect(diff).not.toContain("out/built")
    expect((await host.call("undo", {})).error).toBeUndefined()
    expect(treeOf(workspace.root)).toMatchObject({ "a.txt": expect.anything(), "b.txt": expect.anything() })
    expect([workspace.read("a.txt"), workspace.exists("out"), workspace.exists("new")]).toEqual(["one\n", false, false])
  })

  it("is committed when the command fails, and dropped where the call says so", async () => {
    const { workspace, run } = await open()
    expect((await run("echo 1 > kept; exit 3")).output).toMatchObject({
      exit_code: 3,
      changes: { outcome: "committed" }
    })
    const dropped = await run("echo 1 > gone; echo out; exit 3", { on_failure: "drop" })
    expect(dropped.output).toMatchObject({ exit_code: 3, stdout: "out\n", changes: { outcome: "dropped", created: 1 } })
    expect((await run("echo 1 > fine", { on_failure: "drop" })).output.changes?.outcome).toBe("committed")
    expect(readdirSync(workspace.root).toSorted()).toEqual(["fine", "kept"])
  })

  it("is committed at the time-out and when the call is cancelled, without control files", async () => {
    const { workspace, host, run, overlays } = await open()
    const late = await run("echo 1 > late; sleep 60", { timeout_ms: 500 })
    expect(late.reply.error?.code).toBe("timeout")
    expect(workspace.read("late")).toBe("1\n")
    const cancel = new AbortController()
    const call = host.call(
      "run_command",
      { command: "echo 1 > cancelled; echo evil > .envrc; echo begun; sleep 60" },
      { signal: cancel.signal, onProgress: ({ message }) => message === "begun" && cancel.abort() }
    )
    await expect(call).rejects.toBeDefined()
    expect(readdirSync(workspace.root).toSorted()).toEqual(["cancelled", "late"])
    await host.dispose()
    expect(readdirSync(overlays)).toEqual([])
  }, 20_000)

  it("stays out of the workspace while the command runs, and edits go on meanwhile", async () => {
    const { workspace, host, run } = await open({ files: { "a.txt": "one\n", "b.txt": "two\n" } })
    let seen: boolean | undefined
    const running = host.call(
      "run_command",
      {
        command: "echo 1 > mine; echo 3 >> a.txt; echo begun; while [ -e b.txt ]; do sleep 0.1; done; rm -f b.txt",
        timeout_ms: 5000
      },
      {
        onProgress: ({ message }) => {
          if (message !== "begun" || seen !== undefined) return
          seen = workspace.exists("mine")
          void host.call("write_file", { path: "c.txt", content: "edited\n" })
        }
      }
    )
    await running
    expect(seen).toBe(false)
    expect(workspace.read("c.txt")).toBe("edited\n")
    expect(workspace.read("a.txt")).toBe("one\n3\n")
    expect((await run("cat mine")).output.stdout).toBe("1\n")
  }, 20_000)

  it("conflicts with an edit of the same file: nothing is committed, and the reply names it", async () => {
    const { workspace, host } = await open({ files: { "a.txt": "one\n", "b.txt": "two\n", "d/e": "x\n" } })
    const during = async (command: string, edit: () => unknown) => {
      let edited: unknown
      const reply = await host.call(
        "run_command",
        { command: `${command}; echo begun; sleep 1.5` },
        { onProgress: ({ message }) => message === "begun" && (edited ??= Promise.resolve(edit())) }
      )
      await edited
      return reply
    }
    const written = await during("echo 1 >> a.txt; echo 2 > other", () =>
      host.call("write_file", { path: "a.txt", content: "edited\n" })
    )
    expect(written.error?.code).toBe("stale_file")
    expect(written.error?.message).toContain("a.txt")
    expect(written.error).toMatchObject({ output: { stdout: "begun\n" } })
    expect([workspace.read("a.txt"), workspace.exists("other")]).toEqual(["edited\n", false])
    const deleted = await during("echo 1 >> b.txt", () => host.call("delete_path", { path: "b.txt" }))
    expect(deleted.error?.message).toContain("b.txt")
    const outside = await during("rm -r d", () => writeFileSync(join(workspace.root, "d/new"), "by hand"))
    expect(outside.error?.code).toBe("stale_file")
    expect(workspace.read("d/new")).toBe("by hand")
    const same = await during("echo same > a.txt", () => host.call("write_file", { path: "a.txt", content: "same\n" }))
    expect(same.error).toBeUndefined()
  }, 30_000)

  it("is dropped after a crash of the host, and that is told", async () => {
    const { workspace, overlays } = await open()
    const left = join(overlays, "haft-overlay-1-999999-1-abcdef00", "upper")
    mkdirSync(left, { recursive: true })
    const namespace = /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "0"
    const dead = join(overlays, `haft-overlay-${namespace}-999999-1-abcdef01`)
    mkdirSync(join(dead, "upper"), { recursive: true })
    mkdirSync(join(overlays, `haft-ended-${namespace}-999999-1-abcdef02`, "work"), { recursive: true })
    const config: HaftConfig = { root: workspace.root, state: workspace.state, sandbox: "unshare", approval: "all" }
    const host = await openHost(standardHost(config))
    await host.call("run_command", { command: "true" })
    await host.dispose()
    expect(readdirSync(overlays)).toEqual(["haft-overlay-1-999999-1-abcdef00"])
  })
})

/** System calls for extended attributes, by perl: not every machine has the programs for them. */
const [setAttribute, getAttribute] = process.arch === "arm64" ? [5, 8] : [188, 191]
const setting = (path: string, name: string, value: string): string =>
  `perl -e 'my ($p, $n, $v) = ("${path}\\0", "${name}\\0", "${value}"); exit(syscall(${setAttribute}, $p, $n, $v, length $v, 0) != 0)'`
const attributeOf = (path: string, name: string): string => {
  const script = `my ($p, $n, $v) = ("$ARGV[0]\\0", "$ARGV[1]\\0", "\\0" x 99); my $l = syscall(${getAttribute}, $p, $n, $v, 99); print substr $v, 0, $l if $l > 0`
  return execFileSync("perl", ["-e", script.replaceAll("\\\\", "\\"), path, name], { encoding: "utf8" })
}

describe.runIf(isLinux)("what an overlay can't take over", () => {
  it("is left as it was and listed, and the rest is committed", async () => {
    const { workspace, run } = await open({ files: { piped: "1\n", "d/f": "1\n", ".gitignore": "out\n" } })
    execFileSync(
      "bash",
      ["-c", "echo 1 > a; ln a b; echo 1 > s; chmod 4755 s; mkdir out; echo 1 > out/a; ln out/a out/b"],
      {
        cwd: workspace.root
      }
    )
    const { output } = await run(
      `rm piped; mkfifo piped; echo 2 >> a; echo 2 >> out/a; touch s; ${setting("d", "user.k", "v")}; echo 2 > d/f`
    )
    expect(output).toMatchObject({ exit_code: 0, changes: { outcome: "committed" } })
    expect(output.changes?.left_out?.toSorted((one, other) => one.path.localeCompare(other.path))).toEqual([
      { path: "a", reason: "its other names keep the old content" },
      { path: "d", reason: "its extended attributes, not the directory" },
      { path: "piped", reason: "it is a pipe, a socket or a device" },
      { path: "s", reason: "its set-user-ID and set-group-ID bits, not the file" }
    ])
    expect(["a", "b", "piped", "d/f"].map((path) => workspace.read(path))).toEqual(["1\n2\n", "1\n", "1\n", "2\n"])
    expect(workspace.mode("s")).toBe(0o755)
    // Written to again, the directory has the attributes that it had, and one name is left of the file.
    execFileSync("bash", ["-c", setting("d", "user.k", "v")], { cwd: workspace.root })
    expect((await run("echo 3 > d/f; echo 3 > a")).output.changes).not.toHaveProperty("left_out")
  })

  it("has no part in extended attributes of files, which stay", async () => {
    const { workspace, run } = await open({ files: { a: "1\n", b: "1\n" } })
    execFileSync("bash", ["-c", setting("a", "user.old", "x")], { cwd: workspace.root })
    const { output } = await run(`echo 2 >> a; ${setting("b", "user.new", "y")}`)
    expect(output.changes).not.toHaveProperty("left_out")
    const found = ["a", "b"].map((name) => join(workspace.root, name))
    expect([attributeOf(found[0] ?? "", "user.old"), attributeOf(found[1] ?? "", "user.new")]).toEqual(["x", "y"])
    expect(found.map((path) => attributeOf(path, "user.overlay.origin"))).toEqual(["", ""])
  })

  it("can't be forged: no command makes devices or marks of the overlay's own", async () => {
    const { workspace, run } = await open({ files: { "keep/a": "1\n", b: "2\n" } })
    const { output } = await run(
      [
        "for kind in 'c 0 0' 'c 1 3' 'b 7 0'; do mknod node $kind 2>/dev/null && echo made $kind; done",
        `${setting("keep", "user.overlay.opaque", "y")}; ${setting("keep", "user.overlay.whiteout", "")}`,
        "echo 3 > keep/new; mkdir other; ",
        `${setting("other", "user.overlay.redirect", "/keep")}; true`
      ].join("\n")
    )
    expect(output.stdout).toBe("")
    expect(output.changes).toMatchObject({ outcome: "committed", deleted: 0 })
    expect(Object.keys(treeOf(workspace.root))).toEqual(["b", "keep", "keep/a", "keep/new", "other"])
  })
})

describe.runIf(isLinux)("what a command changed is judged again", () => {
  it("for secret paths, where a person can be asked", async () => {
    const { workspace, run, questions } = await open({ approve: ({ reason }) => !reason.includes("secret path") })
    const made = await run("mkdir -p node_modules/p; echo k > node_modules/p/test.pem; echo TOKEN=hunter2 > .env")
    expect(made.reply.error?.code).toBe("approval_denied")
    expect(questions.at(-1)).toMatchObject({ isEffects: true, reason: expect.stringContaining(".env") })
    expect(questions.at(-1)?.preview).not.toContain("hunter2")
    expect(readdirSync(workspace.root)).toEqual([])
    expect((await run("mkdir -p node_modules/p; echo k > node_modules/p/test.pem")).reply.error).toBeUndefined()
  })

  it("by rules that deny or ask: nothing is committed after a no, and the output is kept", async () => {
    const { workspace, run, questions } = await open({
      rules: [
        { id: "env", decision: "deny", touches: { writes: "**/.env" } },
        { id: "lock", decision: "ask", touches: { writes: "package-lock.json" } }
      ],
      approve: ({ reason }) => !reason.includes("lock") || reason.includes("may")
    })
    const secret = await run("x=.e; echo out; echo 1 > a; echo KEY > ${x}nv")
    expect(secret.reply.error).toMatchObject({ code: "approval_denied", output: { stdout: "out\n" } })
    expect(secret.output.changes?.outcome).toBe("refused")
    expect(readdirSync(workspace.root)).toEqual([])
    const asked = await run("x=package; echo 1 > ${x}-lock.json")
    expect(asked.reply.error?.code).toBe("approval_denied")
    expect(questions.at(-1)).toMatchObject({ isEffects: true })
    expect(questions.at(-1)?.preview).toContain("package-lock.json")
    expect(readdirSync(workspace.root)).toEqual([])
    expect((await run("echo 1 > fine")).output.changes?.outcome).toBe("committed")
  })

  it("asks once about all control files", async () => {
    const answers = [true, false, true, true]
    const { workspace, run, questions } = await open({ approve: (_question, number) => answers[number - 1] ?? true })
    const command = "echo evil > .envrc; mkdir .vscode; echo '{}' > .vscode/tasks.json; echo 1 > a"
    expect((await run(command)).reply.error?.code).toBe("approval_denied")
    expect(questions).toHaveLength(2)
    expect(questions[1]?.preview).toContain(".envrc")
    expect(questions[1]?.preview).toContain(".vscode/tasks.json")
    expect(readdirSync(workspace.root)).toEqual([])
    expect((await run(command)).reply.error).toBeUndefined()
    expect(readdirSync(workspace.root).toSorted()).toEqual([".envrc", ".vscode", "a"])
  })

  it("asks nothing about what git itself writes, and about hooks and settings that run something", async () => {
    const { workspace, run, questions } = await open({
      approve: ({ reason }) => !reason.includes("other programs trust")
    })
    const git = "git -c user.name=n -c user.email=e@example.com"
    const made = await run(
      `git init -q . && echo 1 > a && git add a && ${git} commit -qm one && git branch two && git switch -q two && git clone -q . clone && git status --short`
    )
    expect(made.reply.error).toBeUndefined()
    expect(made.output.exit_code).toBe(0)
    expect(questions).toHaveLength(1)
    expect(execFileSync("git", ["-C", workspace.root, "log", "--oneline", "--all"], { encoding: "utf8" })).toContain(
      "one"
    )
    const before = treeOf(workspace.root)
    for (const command of [
      "echo 'echo evil' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
      "git config core.fsmonitor 'touch /tmp/evil'",
      "echo /elsewhere > .git/commondir",
      "rm .git/config",
      "git init -q --bare bare && git -C bare config core.fsmonitor evil",
      "mkdir nested && cd nested && git init -q && git config core.sshCommand evil"
    ]) {
      expect((await run(command)).reply.error?.code, command).toBe("approval_denied")
      expect(treeOf(workspace.root), command).toEqual(before)
    }
  }, 60_000)

  it("judges a repository whose parts come with several commands", async () => {
    const { run } = await open({ approve: ({ reason }) => !reason.includes("other programs trust") })
    expect((await run("mkdir x; printf '[core]\\n\\tfsmonitor = evil\\n' > x/config")).reply.error).toBeUndefined()
    const completed = await run("mkdir x/objects x/refs; echo 'ref: refs/heads/main' > x/HEAD")
    expect(completed.reply.error?.code).toBe("approval_denied")
  })

  it("holds control files back in a dialect without questions, and commits the rest", async () => {
    const { workspace, host } = await open({ config: { dialect: "agentbench" } })
    const reply = await host.call("run", { command: "echo evil > .envrc; echo 1 > a" })
    expect(reply.error).toBeUndefined()
    expect(reply.wire).toMatchObject({ data: { quarantined: [".envrc"] } })
    expect(readdirSync(workspace.root)).toEqual(["a"])
    expect(readdirSync(join(workspace.state, "quarantine"))).toHaveLength(1)
  })

  it("asks about many deleted files, without build output", async () => {
    const files = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`f${index}`, "x"]))
    const built = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`out/f${index}`, "x"]))
    const { workspace, run, questions } = await open({
      files: { ...files, ...built, ".gitignore": "out\n" },
      approve: ({ reason }) => !reason.includes("deleted 30 files")
    })
    expect((await run("rm -r out")).reply.error).toBeUndefined()
    expect(questions).toHaveLength(1)
    expect((await run("rm f*")).reply.error?.code).toBe("approval_denied")
    expect(workspace.exists("f7")).toBe(true)
  })

  it("asks before it commits what undo can't take back", async () => {
    let isWanted = false
    const { workspace, run } = await open({
      files: { a: "1\n" },
      approve: ({ reason }) => isWanted || !reason.includes("can't be undone")
    })
    // More than the history keeps, and it takes no room on the disk.
    const large = join(workspace.root, "large")
    writeFileSync(large, "")
    truncateSync(large, 450 * 1024 * 1024)
    expect((await run("rm large")).reply.error?.code).toBe("approval_denied")
    expect(workspace.exists("large")).toBe(true)
    expect((await run("rm a")).output.changes).not.toHaveProperty("undoable")
    isWanted = true
    expect((await run("rm large")).output.changes).toMatchObject({ outcome: "committed", undoable: false })
  })

  it("runs first and asks about the diff where the host says so", async () => {
    const { workspace, run, questions } = await open({
      config: { packages: { exec: { approveEffects: true } } },
      approve: (_question, number) => number !== 1
    })
    expect((await run("cat /dev/null")).reply.error).toBeUndefined()
    expect(questions).toHaveLength(0)
    expect((await run("echo 1 > a")).reply.error?.code).toBe("approval_denied")
    expect(questions[0]).toMatchObject({ isEffects: true })
    expect(questions[0]?.preview).toContain("+1")
    expect(workspace.exists("a")).toBe(false)
    expect((await run("echo 1 > a")).reply.error).toBeUndefined()
    expect(workspace.read("a")).toBe("1\n")
  })
})

describe.runIf(isLinux)("an overlay", () => {
  it("is off by the host's settings, and where there is none, which the reply says", async () => {
    const never = await open({ config: { packages: { exec: { overlay: "never" } } } })
    expect((await never.run("echo 1 > a")).output).toMatchObject({ no_overlay: "the host's settings say never" })
    expect(never.workspace.read("a")).toBe("1\n")
    const none = await open({ config: { sandbox: "none" } })
    expect((await none.run("echo 1 > a")).output.no_overlay).toContain("none")
    const always = await open({ config: { sandbox: "none", packages: { exec: { overlay: "always" } } } })
    expect((await always.run("echo 1 > a")).reply.error?.code).toBe("sandbox_unavailable")
  })

  it("is not seen by tools or by the command itself", async () => {
    const { run, overlays, workspace } = await open()
    const { output } = await run(`ls ${overlays} ${workspace.state}; find / -name 'haft-overlay-*' 2>/dev/null; exit 0`)
    expect(output.stdout).toBe("")
    expect((await run("ls -a")).output.stdout.split("\n").toSorted()).toEqual(["", ".", ".."])
  })
})

it.runIf(isLinux && process.getuid?.() === 0)(
  "commands of root's run on an overlay as who owns the workspace",
  async () => {
    const { workspace } = await open()
    execFileSync("chown", ["-R", "1234:1234", workspace.root])
    execFileSync("chmod", ["755", join(workspace.root, "..")])
    const config: HaftConfig = { root: workspace.root, state: workspace.state, sandbox: "bubblewrap", approval: "all" }
    const host = await openHost(standardHost(config))
    const reply = await host.call("run_command", { command: "id -u; echo 1 > a; mkdir d; echo 2 > d/b" })
    await host.dispose()
    expect(reply.output).toMatchObject({ stdout: "1234\n", changes: { outcome: "committed", created: 3 } })
    expect(["a", "d", "d/b"].map((path) => lstatSync(join(workspace.root, path)).uid)).toEqual([1234, 1234, 1234])
  }
)

describe.runIf(isLinux && process.getuid?.() === 0)("a host of an ordinary user", () => {
  const asNobody = (root: string, state: string, sandbox: string, command: string): string => {
    const cli = join(import.meta.dirname, "../../../apps/cli/src/bin.ts")
    const who = ["--reuid=65534", "--regid=65534", "--clear-groups"]
    const call = ["call", "run_command", `command=${command}`, "--workspace", root, "--state", state, "--json"]
    const host = [process.execPath, "--conditions=@haft/source", cli, ...call, "--sandbox", sandbox, "--approve", "all"]
    return execFileSync("setpriv", [...who, ...host], {
      encoding: "utf8",
      env: { PATH: process.env["PATH"], HOME: state }
    })
  }

  it.each(["bubblewrap", "unshare"])(
    "commits what a command did on an overlay of %s",
    (sandbox) => {
      using workspace = temporaryWorkspace({ "a.txt": "one\n", "shut/b.txt": "two\n" })
      execFileSync("chmod", ["555", join(workspace.root, "shut")])
      execFileSync("chown", ["-R", "65534:65534", join(workspace.root, "..")])
      const command = "echo 1 >> a.txt; echo 3 > shut/b.txt; mkdir d; echo 2 > d/c; chmod 500 d; git init -q g"
      const reply = asNobody(workspace.root, workspace.state, sandbox, command)
      expect(JSON.parse(reply)).toMatchObject({ ok: true, result: { exit_code: 0, changes: { outcome: "committed" } } })
      expect([workspace.read("a.txt"), workspace.read("shut/b.txt")]).toEqual(["one\n1\n", "3\n"])
      expect([workspace.mode("shut"), workspace.mode("d"), workspace.exists("g/.git/HEAD")]).toEqual([
        0o555,
        0o500,
        true
      ])
    },
    60_000
  )

  it("writes directly where files belong to others, and says so", () => {
    using workspace = temporaryWorkspace({ "a.txt": "one\n", "d/theirs.txt": "two\n" })
    execFileSync("chown", ["-R", "65534:65534", join(workspace.root, "..")])
    execFileSync("chown", ["65534:4321", join(workspace.root, "d/theirs.txt")])
    const reply = asNobody(workspace.root, workspace.state, "unshare", "echo 3 >> d/theirs.txt")
    expect(JSON.parse(reply)).toMatchObject({
      result: { exit_code: 0, no_overlay: expect.stringContaining("d/theirs.txt") }
    })
    expect(workspace.read("d/theirs.txt")).toBe("two\n3\n")
  }, 60_000)
})
