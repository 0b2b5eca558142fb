import { isUtf8 } from "node:buffer"
import { execFileSync } from "node:child_process"

import { type FilePatch, parseDiff } from "./diff.ts"
import { Random, sortedBy } from "./random.ts"

/** The content of each file, by path. */
export type Tree = ReadonlyMap<string, string>

/** A real commit: the files that it changes, before and after. */
export interface Sample {
  readonly commit: string
  readonly before: Tree
  readonly after: Tree
  readonly files: ReadonlyArray<FilePatch>
  /** The commit as git prints it with other options. */
  readonly diff: (...options: ReadonlyArray<string>) => string
}

const limits = { commits: 5000, files: 6, diffLines: 400, fileBytes: 300_000 }

export interface Corpus {
  readonly repository: string
  /** The commit whose history is used. */
  readonly revision: string
  readonly seed: string
}

/** The commit that a name stands for. */
export const resolveRevision = (repository: string, name: string): string =>
  execFileSync("git", ["-C", repository, "rev-parse", "--verify", `${name}^{commit}`], { encoding: "utf8" }).trim()

/**
 * Commits of a repository in an order that the seed and their hashes decide: small ones that change text, without renames, modes, links
 * and submodules, so that each means the same in every format.
 */
export function* samplesOf({ repository, revision, seed }: Corpus): Generator<Sample> {
  const git = (args: ReadonlyArray<string>, input?: string): Buffer =>
    execFileSync("git", ["-C", repository, "-c", "core.quotePath=true", "-c", "core.autocrlf=false", ...args], {
      maxBuffer: 2 ** 30,
      stdio: ["pipe", "pipe", "pipe"],
      ...(input !== undefined && { input })
    })
  const log = git([
    "log",
    "--no-merges",
    "--no-renames",
    "--raw",
    "--no-abbrev",
    "--format=%x00%H",
    `-${limits.commits}`,
    revision
  ])
  const commits = log.toString().split("\0").slice(1)
  // By the hash of each, so that new commits do not change the order of those before.
  for (const entry of sortedBy(commits, (one) => new Random(`${seed} ${one.slice(0, 40)}`).next())) {
    const [commit = "", ...lines] = entry.split("\n").filter((line) => line !== "")
    const changes = lines.map(parseChange)
    if (changes.length > limits.files || !changes.every((change) => change !== undefined)) continue
    if (!changes.some(({ before, after }) => before !== none && after !== none)) continue
    const blobs = readBlobs(
      changes.flatMap(({ before, after }) => [before, after]),
      (input) => git(["cat-file", "--batch"], input)
    )
    if (blobs === undefined) continue
    const treeOf = (side: "before" | "after"): Tree =>
      new Map(
        changes.flatMap((change) => (change[side] === none ? [] : [[change.path, blobs.get(change[side]) ?? ""]]))
      )
    const diff = (...options: ReadonlyArray<string>): string =>
      git([
        "diff-tree",
        "-p",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        "--src-prefix=a/",
        "--dst-prefix=b/",
        ...options,
        `${commit}^`,
        commit
      ]).toString()
    const text = diff()
    if (text.split("\n").length > limits.diffLines) continue
    yield { commit, before: treeOf("before"), after: treeOf("after"), files: parseDiff(text), diff }
  }
}

const none = "0".repeat(40)

/** A line of `git log --raw`; `undefined` for what the corpus leaves out. */
const parseChange = (line: string): { path: string; before: string; after: string } | undefined => {
  const [, oldMode, newMode, before = "", after = "", path = ""] =
    /^:(\d+) (\d+) ([0-9a-f]+) ([0-9a-f]+) [AMD]\t(.*)$/.exec(line) ?? []
  const isPlain = (mode: string | undefined): boolean => mode === "100644" || mode === "000000"
  const isSame = oldMode === newMode && oldMode === "100755"
  return path !== "" && !path.startsWith('"') && (isSame || (isPlain(oldMode) && isPlain(newMode)))
    ? { path, before, after }
    : undefined
}

/** The contents of text files by their hashes; `undefined` if one is empty, binary or too large. */
const readBlobs = (
  hashes: ReadonlyArray<string>,
  batch: (input: string) => Buffer
): ReadonlyMap<string, string> | undefined => {
  const wanted = [...new Set(hashes)].filter((hash) => hash !== none)
  const output = batch(wanted.map((hash) => `${hash}\n`).join(""))
  const blobs = new Map<string, string>()
  let at = 0
  for (const hash of wanted) {
    const end = output.indexOf("\n", at)
    const size = Number(output.toString("latin1", at, end).split(" ")[2])
    const content = output.subarray(end + 1, end + 1 + size)
    if (!(size > 0) || size > limits.fileBytes || !isUtf8(content) || content.includes(0)) return undefined
    blobs.set(hash, content.toString())
    at = end + 1 + size + 1
  }
  return blobs
}
