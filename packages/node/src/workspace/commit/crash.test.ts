import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process"
import { once } from "node:events"
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync
} from "node:fs"
import { join } from "node:path"
import type { Readable } from "node:stream"
import { text } from "node:stream/consumers"

import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"

import { bundleProgram } from "../../../test/bundle.ts"
import { filesOf, modeOf, scratchOf, type Version } from "../../../test/crash-plan.ts"
import { contentsOf, inWorkspace, makeWorkspaces, outcome } from "../../../test/workspaces.ts"

const workspaces = makeWorkspaces("crash")
const child = join(workspaces.base, "child.mjs")
const trials = process.env["HAFT_LONG"] === undefined ? 200 : 1000

beforeAll(() => bundleProgram("crash-child.ts", child))
afterAll(workspaces.remove)

const makeOld = (): string => {
  const files = Object.entries(filesOf("old")).filter((entry): entry is [string, string] => entry[1] !== null)
  return workspaces.make(Object.fromEntries(files), (root) => {
    linkSync(join(root, "hard.txt"), `${root}.outside`)
    chmodSync(join(root, "run.sh"), modeOf("old"))
  })
}

/** Files are exchanged in another way when nobody waits for the disk. */
const ways = ["durable", "quick"] as const
type Way = (typeof ways)[number]

const startChild = (
  root: string,
  dieAt: number,
  begin: Version | "none",
  way: Way
): ChildProcessByStdio<null, Readable, null> =>
  spawn(process.execPath, [child, root, `${root}.state`, String(dieAt), begin, way], {
    stdio: ["ignore", "pipe", "inherit"]
  })

const ended = async (child: ChildProcess): Promise<string | null> => {
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null]
  expect(code ?? 0).toBe(0)
  return signal
}

/** Which version the workspace shows once the next host has opened it. Fails on a mixture. */
const versionAfterRecovery = async (root: string): Promise<Version> => {
  // A scratch directory is removed by its owner, whatever became of the commit.
  rmSync(scratchOf(root), { force: true })
  await inWorkspace(root, () => Effect.void, { open: { durable: false } })
  const found = contentsOf(root)
  const version = found["a.txt"] === filesOf("old")["a.txt"] ? "old" : "new"
  expect(found).toEqual(filesOf(version))
  expect(statSync(join(root, "run.sh")).mode & 0o777).toBe(modeOf(version))
  // A name outside the workspace keeps what it was.
  expect(readFileSync(`${root}.outside`, "utf8")).toBe(filesOf("old")["hard.txt"])
  expect(readdirSync(join(`${root}.state`, "commits"))).toEqual([])
  // A file that the history keeps is no other name of a file in use.
  const several = Object.keys(found).filter((path) => {
    const stats = lstatSync(join(root, path))
    return stats.isFile() && stats.nlink > 1
  })
  expect(several.filter((path) => path !== "hard.txt")).toEqual([])
  return version
}

describe("a host that is killed", () => {
  it.each(ways)("leaves all old or all new, at every step of a commit (%s)", { timeout: 120_000 }, async (way) => {
    const root = makeOld()
    let version: Version = "old"
    const seen = new Set<string>()
    for (let step = 1; ; step++) {
      const target: Version = version === "old" ? "new" : "old"
      const signal = await ended(startChild(root, step, target, way))
      const hasScratch = existsSync(scratchOf(root))
      const after = await versionAfterRecovery(root)
      // A file to be adopted is not lost where the commit did not happen, and gone where it came to its end.
      const isLost = target === "new" && after === "old" && !hasScratch
      const isLeft = target === "new" && signal === null && hasScratch
      expect({ isLost, isLeft }).toEqual({ isLost: false, isLeft: false })
      seen.add(after === version ? "back" : "forward")
      version = after
      if (signal === null) break
    }
    expect(seen).toEqual(new Set(["back", "forward"]))
  })

  it.each(ways)(
    "can undo what was made, and has nothing to undo of what was not (%s)",
    { timeout: 600_000 },
    async (way) => {
      const seen = new Set<string>()
      const often = process.env["HAFT_LONG"] === undefined ? 2 : 1
      for (let step = 1; ; step += often) {
        const root = makeOld()
        const signal = await ended(startChild(root, step, "new", way))
        const version = await versionAfterRecovery(root)
        const undone = await inWorkspace(root, (workspace) => outcome(workspace.undo()))
        const calls = typeof undone === "string" ? undone : undone.calls
        expect(calls).toEqual(version === "old" ? "no_history" : ["call"])
        expect(await versionAfterRecovery(root)).toBe("old")
        seen.add(version)
        if (signal === null) break
      }
      expect(seen).toEqual(new Set(["old", "new"]))
    }
  )

  it.each(ways)(
    "leaves the same when the host that tidies up is killed too (%s)",
    { timeout: 600_000 },
    async (way) => {
      const root = makeOld()
      let version: Version = "old"
      const often = process.env["HAFT_LONG"] === undefined ? 3 : 1
      for (let step = often; ; step += often) {
        const target: Version = version === "old" ? "new" : "old"
        if ((await ended(startChild(root, step, target, way))) === null) break
        for (const second of often === 1 ? [1, 2, 3, 5, 8, 13] : [1 + (step % 9)]) {
          await ended(startChild(root, second, "none", way))
        }
        version = await versionAfterRecovery(root)
      }
    }
  )

  it.each(["sweep", "commit", "abort"])(
    "leaves no history of what did not happen when the host that tidies up is killed too (%s)",
    { timeout: 120_000 },
    async (record) => {
      for (let second = 1, signal: string | null = "SIGKILL"; signal !== null; second++) {
        const root = makeOld()
        await ended(startChild(root, record === "sweep" ? 6 : 30, "new", "quick"))
        const commits = join(`${root}.state`, "commits")
        const name = readdirSync(commits).find((file) => file.endsWith(".commit")) ?? ""
        expect(name !== "").toBe(record !== "sweep")
        if (record === "abort") renameSync(join(commits, name), join(commits, name.replace(".commit", ".abort")))
        signal = await ended(startChild(root, second, "none", "quick"))
        expect(await versionAfterRecovery(root)).toBe(record === "commit" ? "new" : "old")
        const undone = await inWorkspace(root, (workspace) => outcome(workspace.undo()))
        const calls = typeof undone === "string" ? undone : undone.calls
        expect(calls).toEqual(record === "commit" ? ["call"] : "no_history")
        expect(await versionAfterRecovery(root)).toBe("old")
      }
    }
  )

  it.each(ways)(
    "leaves all old where it was giving a commit up, at every step (%s)",
    { timeout: 120_000 },
    async (way) => {
      let given = 0
      for (let step = 1; ; step++) {
        const root = makeOld()
        const host = startChild(root, step, "new", way)
        const [signal, said] = await Promise.all([ended(host), text(host.stdout)])
        expect(signal).toBe("SIGKILL")
        const commits = join(`${root}.state`, "commits")
        for (const name of readdirSync(commits).filter((file) => file.endsWith(".commit"))) {
          renameSync(join(commits, name), join(commits, name.replace(".commit", ".abort")))
          given++
        }
        expect(await versionAfterRecovery(root)).toBe("old")
        expect(await inWorkspace(root, (workspace) => outcome(workspace.undo()))).toBe("no_history")
        if (said.includes("synced")) break
      }
      expect(given).toBeGreaterThan(5)
    }
  )

  it.each(["commit", "abort"] as const)(
    "is recovered from when a directory is back that was away at the next start (%s)",
    { timeout: 120_000 },
    async (record) => {
      const root = makeOld()
      await ended(startChild(root, 30, "new", "quick"))
      const commits = join(`${root}.state`, "commits")
      const name = readdirSync(commits).find((file) => file.endsWith(".commit")) ?? ""
      if (record === "abort") renameSync(join(commits, name), join(commits, name.replace(".commit", ".abort")))
      renameSync(join(root, "d"), `${root}.away`)
      const before = contentsOf(root)
      const change = (path: string) =>
        inWorkspace(root, (workspace) => {
          const content = new TextEncoder().encode("x")
          return outcome(workspace.commit([{ kind: "write", path, content, createDirectories: true }]))
        })
      for (const path of ["d/b.txt", "d/other.txt", "d", "a.txt", "made/other"]) {
        expect(await change(path)).toBe("write_failed")
      }
      expect(contentsOf(root)).toEqual(before)
      expect(await change("apart.txt")).toHaveLength(1)
      rmSync(join(root, "apart.txt"))
      renameSync(`${root}.away`, join(root, "d"))
      expect(await versionAfterRecovery(root)).toBe(record === "commit" ? "new" : "old")
      expect(await change("d/other.txt")).toHaveLength(1)
    }
  )

  it("leaves an unfinished commit behind once its directory is made anew", { timeout: 120_000 }, async () => {
    const root = makeOld()
    await ended(startChild(root, 30, "new", "quick"))
    rmSync(scratchOf(root), { force: true })
    rmSync(join(root, "d"), { recursive: true })
    await inWorkspace(root, () => Effect.void)
    expect(readdirSync(join(`${root}.state`, "commits"))).toContainEqual(expect.stringMatching(/\.commit$/))
    mkdirSync(join(root, "d"))
    await inWorkspace(root, () => Effect.void)
    expect(readdirSync(join(`${root}.state`, "commits"))).toEqual([])
    expect(Object.keys(contentsOf(root)).filter((path) => path.includes(".haft-"))).toEqual([])
  })

  it(`leaves all old or all new, at ${trials} moments by chance`, { timeout: 1_200_000 }, async () => {
    const versions = { old: 0, new: 0 }
    const lane = async (way: Way) => {
      const root = makeOld()
      let version: Version = "old"
      // As long as a commit takes here, whatever else the machine does: found by going up and down.
      let longest = 12
      for (let trial = 0; trial < trials / 2; trial++) {
        const host = startChild(root, 0, version === "old" ? "new" : "old", way)
        const end = ended(host)
        await Promise.race([once(host.stdout, "data"), end])
        await new Promise((resolve) => setTimeout(resolve, Math.random() * longest))
        host.kill("SIGKILL")
        expect(await end).toBe("SIGKILL")
        const after = await versionAfterRecovery(root)
        longest *= after === version ? 1.1 : 0.9
        version = after
        versions[version]++
      }
    }
    await Promise.all(ways.map(lane))
    expect(versions.old + versions.new).toBe(trials)
    expect(Math.min(versions.old, versions.new)).toBeGreaterThan(0)
  })
})
