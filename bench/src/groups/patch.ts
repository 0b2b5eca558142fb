import { execFileSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { agentbench } from "@haft/dialects"

import type { Contender, Group } from "../benchmark.ts"
import { openFileHost } from "../file-host.ts"

/**
 * Applies patches, each of which makes a version of the files that there was never before: otherwise haft would find
 * the replaced content in its history, and save nothing. `patch` and `git apply` keep nothing; haft keeps what was
 * replaced, for undo, and with durability waits for the disk.
 */
export const benchmarks: Group = async function* (setting) {
  const one = { files: 1, hunks: 1, lines: 400 }
  const many = { files: setting.quick ? 40 : 200, hunks: 5, lines: 400 }
  const home = mkdtempSync(join(setting.home, "patch-"))
  try {
    yield await benchmark(join(home, "one"), one, { floor: "patch -p1", durable: true, atMost: 0.3 })
    yield await benchmark(join(home, "many"), many, { floor: "git apply", durable: false, atMost: 1.3 })
    yield await benchmark(join(home, "durable"), many, { floor: "git apply", durable: true, atMost: 2.5 })
  } finally {
    // Only after everything is measured, because some file systems create files slowly after many were removed.
    rmSync(home, { recursive: true })
  }
}

interface Size {
  readonly files: number
  /** The number in each file. */
  readonly hunks: number
  readonly lines: number
}

const whyOne =
  "haft waits for the disk twice, for the file and for the name in its directory, and patch does not: how much that is against starting a program depends on the disk."

const whyMany =
  "For each file the guarantees take three contained looks, two reads, three hashes, a new file, a name for the old one in the history, and a rename, where git apply removes the file and writes it anew, and waits for nothing. git apply also gets back the inode that it has just freed, and its files are gone again before they reach the disk; a file that is renamed over another is written out by ext4 at once."

const benchmark = async (
  directory: string,
  size: Size,
  goal: { readonly floor: string; readonly durable: boolean; readonly atMost: number }
) => {
  const diff = writeCorpus(directory, size)
  const root = (name: string): string => join(directory, name)
  const state = join(directory, "state")
  const host = await openFileHost(agentbench, { root: root("haft"), state, durable: goal.durable })
  const contender = (
    name: string,
    directory: string,
    apply: (diff: string) => unknown
  ): Pick<Contender, "run" | "check"> => {
    let version = 0
    return {
      run: () => apply(diff(version, ++version)),
      check: () => {
        const found = readFileSync(join(root(directory), "f0.txt"), "utf8")
        if (found !== textOf(0, size, version)) throw new Error(`${name} left other text`)
      }
    }
  }
  const program = (name: string, command: string, args: ReadonlyArray<string>): Contender => ({
    name,
    kind: "peer",
    ...contender(name, command, (input) => execFileSync(command, args, { cwd: root(command), input }))
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
        ...contender("haft", "haft", async (unified_diff) => {
          const reply = (await host.call("apply_patch", { unified_diff })) as { status: string }
          if (reply.status !== "success") throw new Error(JSON.stringify(reply))
        })
      }
    ],
    close: host.dispose
  }
}

/** The lines that a patch changes in each file, counted from 0. */
const changedLines = ({ hunks, lines }: Size): ReadonlyArray<number> =>
  Array.from({ length: hunks }, (_, hunk) => (hunk + 1) * Math.floor(lines / (hunks + 1)))

const lineOf = (file: number, line: number): string => `line ${line} of file ${file}, which is patched`
const changedLine = (line: number, version: number | string): string => `line ${line} in version ${version}`

const textOf = (file: number, size: Size, version: number): string => {
  const changed = new Set(changedLines(size))
  return Array.from(
    { length: size.lines },
    (_, line) => `${changed.has(line) ? changedLine(line, version) : lineOf(file, line)}\n`
  ).join("")
}

/**
 * Writes the first version of the files for each contender. The returned function makes the diff between two versions.
 */
const writeCorpus = (directory: string, size: Size): ((from: number, to: number) => string) => {
  const first = join(directory, "patch")
  mkdirSync(first, { recursive: true })
  const [from, to] = ["<from>", "<to>"]
  let diff = ""
  for (let file = 0; file < size.files; file++) {
    writeFileSync(join(first, `f${file}.txt`), textOf(file, size, 0))
    diff += `--- a/f${file}.txt\n+++ b/f${file}.txt\n`
    for (const line of changedLines(size)) {
      const context = (start: number): string => [0, 1, 2].map((more) => ` ${lineOf(file, start + more)}\n`).join("")
      diff += `@@ -${line - 2},7 +${line - 2},7 @@\n${context(line - 3)}`
      diff += `-${changedLine(line, from)}\n+${changedLine(line, to)}\n${context(line + 1)}`
    }
  }
  for (const name of ["git", "haft"]) cpSync(first, join(directory, name), { recursive: true })
  return (old, now) => diff.replaceAll(from, String(old)).replaceAll(to, String(now))
}
