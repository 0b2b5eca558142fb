import { execFileSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

import type { Random } from "./random.ts"

// Names that sort differently as names and as paths, or as bytes and as characters, and one that looks like an option.
const names = ["a", "a-b", "a.ts", "b.ts", "a b", ".h", "-e", "B", "ü", "\uFFE6", "🙂", "[x]", "c:d", "x.log"]
const lines = ["", "hit", "Hit it", "a hit b", "no", "…", `${"x".repeat(3000)}hit`, "hitü", "Ühit é", "   "]
const rules = ["*.log", "a/", "/b.ts", "!a.ts", "B", ".*", "a/*", "!a/a.ts"]

/** Paths of files, sorted. */
export interface MadeTree {
  readonly all: ReadonlyArray<string>
  /** Those that git does not ignore. */
  readonly visible: ReadonlyArray<string>
}

/** Fills a workspace with files of all encodings, some of them ignored. */
export const makeTree = (random: Random, root: string): MadeTree => {
  const put = (path: string, content: Buffer | string) => {
    try {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), content)
    } catch {
      // There is something else of that name.
    }
  }
  for (const path of random.several(40, () => random.several(4, () => random.oneOf(names)).join("/"))) {
    put(path, makeText(random))
  }
  for (const directory of random.several(2, () => random.oneOf(["", "", "a/", "a-b/"]))) {
    if (random.below(2) === 0) put(`${directory}.gitignore`, random.several(3, () => random.oneOf(rules)).join("\n"))
  }
  execFileSync("git", ["init", "--quiet", "--template="], { cwd: root })
  return { all: listedByGit(root), visible: listedByGit(root, "--exclude-per-directory=.gitignore") }
}

const makeText = (random: Random): Buffer => {
  const end = random.oneOf(["\n", "\r\n"])
  const text = random.several(40, () => random.oneOf(lines)).join(end) + random.oneOf(["", end])
  return random.oneOf([
    Buffer.from(text),
    Buffer.from(text),
    Buffer.from(`\uFEFF${text}`),
    Buffer.from(`\uFEFF${text}`, "utf16le"),
    Buffer.from(text, "latin1"),
    Buffer.concat([Buffer.from(text), Buffer.from([0xff]), Buffer.from(" hit\n")]),
    Buffer.from(`${text}\0`),
    Buffer.alloc(0)
  ])
}

const listedByGit = (root: string, ...rules: ReadonlyArray<string>): ReadonlyArray<string> => {
  const args = ["-c", "core.excludesFile=/dev/null", "ls-files", "--others", "-z", ...rules]
  return execFileSync("git", args, { cwd: root, encoding: "utf8" }).split("\0").slice(0, -1).toSorted()
}
