import { execFileSync } from "node:child_process"
import { linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

import { afterAll, describe, expect, it } from "@effect/vitest"
import { Processes, Sandbox, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { runsTestImage, testImage } from "../../test/container-image.ts"
import { nodeProcesses } from "../process/processes.ts"
import { nodeWorkspace } from "../workspace/workspace.ts"
import { containerSandbox } from "./container/container.ts"
import { bubblewrapSandbox } from "./linux/bubblewrap.ts"
import { unshareSandbox } from "./linux/unshare.ts"

const base = mkdtempSync(join(tmpdir(), "haft-masks-"))
afterAll(() => rmSync(base, { recursive: true, force: true }))

let count = 0
const makeRoot = (files: Readonly<Record<string, string>>): string => {
  const root = join(base, `w${++count}`)
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  return root
}

interface Make {
  readonly layer: typeof bubblewrapSandbox
  readonly isOverlay?: boolean
}

/** Runs a script in a sandbox, and commits what it changed where that was an overlay; what it prints. */
const inSandbox = async ({ layer, isOverlay = false }: Make, root: string, script: string): Promise<string> => {
  const running = Effect.gen(function* () {
    const { wrap, overlay: open } = yield* Sandbox
    const { run } = yield* Processes
    const args = ["-c", `{ ${script}\n} >out.txt 2>&1`]
    const command = { program: "/bin/sh", args, directory: root, env: {} }
    if (!isOverlay || open === undefined) return yield* run(yield* wrap(command))
    const overlay = yield* open
    const end = yield* run(yield* wrap(command, { overlay }))
    const effects = yield* overlay.effects
    const plan = yield* (yield* Workspace).plan
    yield* effects.plan(plan)
    yield* plan.commit()
    return end
  }).pipe(Effect.scoped)
  const services = Layer.merge(nodeWorkspace({ root, state: `${root}.state` }), nodeProcesses)
  await Effect.runPromise(running.pipe(Effect.provide(layer().pipe(Layer.provideMerge(services)))))
  const printed = readFileSync(join(root, "out.txt"), "utf8")
  rmSync(join(root, "out.txt"))
  return printed
}

const git = (root: string, ...args: ReadonlyArray<string>): string =>
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...args], { cwd: root, encoding: "utf8" })

const isLinux = process.platform === "linux"
const namespaces = [
  ["bubblewrap", { layer: bubblewrapSandbox }],
  ["bubblewrap on an overlay", { layer: bubblewrapSandbox, isOverlay: true }],
  ["unshare", { layer: unshareSandbox }],
  ["unshare on an overlay", { layer: unshareSandbox, isOverlay: true }]
] as const

const putMasks = (sandbox: Make): void => {
  it("can't be opened, replaced, renamed or linked, and fail with EACCES", async () => {
    const root = makeRoot({ ".env": "TOKEN=hunter2\n", "app/.ssh/config": "hunter2\n", "a.txt": "a\n" })
    const script = [
      "cat .env; cp .env copy; head -c1 <.env; cat app/.ssh/config; cat a.txt",
      "chmod 777 .env; echo x >.env; rm -f .env; mv .env moved; ln .env linked; dd if=.env of=copied; umount .env",
      "tar -cf archive.tar .env; grep -r hunter2 .; ls -a"
    ]
    const printed = await inSandbox(sandbox, root, script.join("\n"))
    expect(printed).toMatch(denied(".env"))
    expect(printed).toMatch(denied("app/.ssh/config"))
    expect(printed).toContain("a\n")
    expect(execFileSync("grep", ["-rl", "hunter2", root], { encoding: "utf8" }).trim().split("\n").toSorted()).toEqual([
      join(root, ".env"),
      join(root, "app/.ssh/config")
    ])
    expect(readFileSync(join(root, ".env"), "utf8")).toBe("TOKEN=hunter2\n")
  })

  it("can't be read by other names that they had before, wherever these are", async () => {
    const root = makeRoot({ ".env": "TOKEN=hunter2\n", "node_modules/p/a.txt": "a\n" })
    for (const name of ["hard.txt", "node_modules/p/hard.txt"]) linkSync(join(root, ".env"), join(root, name))
    const printed = await inSandbox(sandbox, root, "cat hard.txt node_modules/p/hard.txt; cp hard.txt copy; tar -c .")
    expect(printed).toMatch(denied("hard.txt"))
    expect(printed).toMatch(denied("node_modules/p/hard.txt"))
    expect(printed).not.toContain("hunter2")
  })

  it("whose name is not UTF-8 keep commands from running, and no file is made in their place", async () => {
    const root = makeRoot({ "a.txt": "a\n" })
    writeFileSync(Buffer.concat([Buffer.from(`${root}/bad`), Buffer.from([0xff]), Buffer.from(".pem")]), "hunter2\n")
    await expect(inSandbox(sandbox, root, "cat *.pem")).rejects.toThrow(/can't be masked: its name is not UTF-8/)
    expect(readdirSync(root)).toHaveLength(2)
  })

  it("that were deleted since they were listed are not made again", async () => {
    const root = makeRoot({ ".env": "TOKEN=hunter2\n", "a.txt": "a\n" })
    const services = Layer.merge(nodeWorkspace({ root, state: `${root}.state` }), nodeProcesses)
    const running = Effect.gen(function* () {
      const { wrap } = yield* Sandbox
      const { run } = yield* Processes
      const command = { program: "/bin/sh", args: ["-c", "true"], directory: root, env: {} }
      yield* run(yield* wrap(command))
      rmSync(join(root, ".env"))
      yield* run(yield* wrap(command))
    })
    await Effect.runPromise(running.pipe(Effect.provide(sandbox.layer().pipe(Layer.provideMerge(services)))))
    expect(readdirSync(root)).toEqual(["a.txt"])
  })
}

const putGit = (sandbox: Make): void => {
  it("are in no commit, and git commits, resets and switches branches beside them", async () => {
    const root = makeRoot({
      ".env": "TOKEN=hunter2\n",
      ".npmrc": "tracked\n",
      "a.txt": "a\n",
      "b.key": "hunter2\n",
      ".gitignore": ".env\n*.key\nout.txt\n"
    })
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "add", ".npmrc", ".gitignore", "a.txt")
    git(root, "commit", "--quiet", "--message", "first")
    const script = [
      "set -e; export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@example.com GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@example.com",
      "echo b >a.txt; git add -A; git commit -q -m second",
      "git switch -q -c other; echo c >c.txt; git add c.txt; git commit -q -m third",
      "git switch -q main; echo x >a.txt; git reset -q --hard HEAD~1; git switch -q other; cat a.txt c.txt; echo end"
    ]
    expect(await inSandbox(sandbox, root, script.join("\n"))).toBe("b\nc\nend\n")
    expect(git(root, "ls-tree", "-r", "--name-only", "other")).toBe(".gitignore\n.npmrc\na.txt\nc.txt\n")
    expect(git(root, "show", "other:.npmrc")).toBe("tracked\n")
    expect(readFileSync(join(root, "b.key"), "utf8")).toBe("hunter2\n")
  })

  it("keep git from adding everything where .gitignore does not name them", async () => {
    const root = makeRoot({ ".env": "TOKEN=hunter2\n", "a.txt": "a\n" })
    git(root, "init", "--quiet")
    expect(await inSandbox(sandbox, root, "git add -A; git add a.txt")).toContain(".env: can only add regular files")
    expect(git(root, "ls-files")).toBe("a.txt\n")
  })

  it("are not committed as empty files where git tracks them", async () => {
    const root = makeRoot({ ".env": "TOKEN=hunter2\n" })
    git(root, "init", "--quiet")
    git(root, "add", ".env")
    git(root, "commit", "--quiet", "--message", "first")
    const script = "git add -A; git -c user.name=t -c user.email=t@example.com commit -q -a -m second"
    await inSandbox(sandbox, root, script)
    expect(git(root, "show", "HEAD:.env")).toBe("TOKEN=hunter2\n")
    expect(git(root, "show", ":.env")).toBe("TOKEN=hunter2\n")
  })
}

/** Complaint of `cat`, or of busybox, about a file. */
const denied = (path: string): RegExp => new RegExp(`^cat: (can't open ')?${path}'?: Permission denied$`, "m")

describe.runIf(isLinux).each(namespaces)("secret files in %s (not on this platform)", (_, sandbox) => {
  putMasks(sandbox)
  putGit(sandbox)
})

describe.runIf(runsTestImage("docker"))("secret files in docker (needs an engine, see .ci/test-image)", () => {
  putMasks({ layer: (options) => containerSandbox({ ...options, engine: "docker", image: testImage }) })
})
