import { execFileSync } from "node:child_process"
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { agentbench } from "@haft/dialects"

import type { Contender, Group } from "../benchmark.ts"
import { openFileHost } from "../file-host.ts"

/**
 * A patch and its reverse, applied in turn, so that every run finds the files as they were. `patch` and `git apply`
 * keep nothing; haft also keeps what was there before, for undo, and with durability waits for the disk.
 */
export const benchmarks: Group = async function* (setting) {
  const one = { files: 1, hunks: 1, lines: 400 }
  const many = { files: setting.quick ? 40 : 200, hunks: 5, lines: 400 }
  yield await benchmark(setting.home, one, { floor: "patch -p1", durable: true, atMost: 0.3 })
  yield await benchmark(setting.home, many, { floor: "git apply", durable: false, atMost: 1.3 })
  yield await benchmark(setting.home, many, { floor: "git apply", durable: true, atMost: 2.5 })
}

interface Size {
  readonly files: number
  /** In each file. */
  readonly hunks: number
  readonly lines: number
}

const whyOne =
  "haft waits for the disk twice, for the file and for the name in its directory, and patch does not: how much that is against starting a program depends on the disk."

const whyMany =
  "For each file the guarantees take two contained reads, three hashes, a new file, a second name for the old one until all are in place, and a rename, where git apply removes the file and writes it anew, and waits for nothing. On the disk that this was measured on, ext4 without a journal, up to two fifths of the time go into finding free inodes, which takes the longer the more files were removed lately: haft needs 200 new ones before it lets go of any, while git apply gets back the one that it has just freed."

const benchmark = async (
  home: string,
  size: Size,
  goal: { readonly floor: string; readonly durable: boolean; readonly atMost: number }
) => {
  const directory = join(home, "patch")
  rmSync(directory, { recursive: true, force: true })
  const diffs = writeCorpus(directory, size)
  const root = (name: string): string => join(directory, name)
  const state = join(directory, "state")
  const host = await openFileHost(agentbench, { root: root("haft"), state, durable: goal.durable })
  const check = (name: string) => (): void => {
    const found = readFileSync(join(root(name), "f0.txt"), "utf8")
    if (found !== textOf(size.lines)) throw new Error(`${name} did not undo its patch`)
  }
  const program = (name: string, command: string, args: ReadonlyArray<string>): Contender => ({
    name,
    kind: "peer",
    run: () => {
      for (const input of [diffs.forward, diffs.back]) execFileSync(command, args, { cwd: root(command), input })
    },
    check: check(command)
  })
  return {
    group: "patch",
    name: `${size.files * size.hunks} hunks in ${size.files} files${goal.durable ? ", durable" : ""}`,
    floor: goal.floor,
    ifMissed: size.files === 1 ? whyOne : whyMany,
    contenders: [
      program("patch -p1", "patch", ["-p1", "--silent", "--force"]),
      program("git apply", "git", ["apply", "-"]),
      {
        name: "haft",
        kind: "haft" as const,
        atMost: goal.atMost,
        run: async () => {
          for (const unified_diff of [diffs.forward, diffs.back]) {
            const reply = (await host.call("apply_patch", { unified_diff })) as { status: string }
            if (reply.status !== "success") throw new Error(JSON.stringify(reply))
          }
        },
        check: check("haft")
      }
    ],
    close: host.dispose
  }
}

const textOf = (lines: number): string =>
  Array.from({ length: lines }, (_, line) => `line ${line} of a file that is patched\n`).join("")

const writeCorpus = (directory: string, { files, hunks, lines }: Size) => {
  const first = join(directory, "patch")
  mkdirSync(first, { recursive: true })
  const step = Math.floor(lines / (hunks + 1))
  let forward = ""
  let back = ""
  for (let file = 0; file < files; file++) {
    const before = textOf(lines)
    writeFileSync(join(first, `f${file}.txt`), before)
    const old = before.split("\n")
    const headers = `--- a/f${file}.txt\n+++ b/f${file}.txt\n`
    const changed = Array.from({ length: hunks }, (_, hunk) => (hunk + 1) * step)
    const hunk = (line: number, from: string, to: string): string => {
      const context = (start: number): string => [0, 1, 2].map((offset) => ` ${old[start + offset]}\n`).join("")
      return `@@ -${line - 2},7 +${line - 2},7 @@\n${context(line - 3)}-${from}\n+${to}\n${context(line + 1)}`
    }
    forward += headers + changed.map((line) => hunk(line, old[line] ?? "", `changed ${line}`)).join("")
    back += headers + changed.map((line) => hunk(line, `changed ${line}`, old[line] ?? "")).join("")
  }
  for (const name of ["git", "haft"]) cpSync(first, join(directory, name), { recursive: true })
  return { forward, back }
}
