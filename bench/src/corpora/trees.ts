import { execFileSync } from "node:child_process"
import { existsSync, linkSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"

import type { Setting } from "../benchmark.ts"
import { generatedPatterns, generateTree } from "./generated-tree.ts"

/** A tree of source files, made once and kept in the home directory of the benchmarks. */
export interface Tree {
  readonly root: string
  /** For the axis of a plot. */
  readonly size: { readonly value: number; readonly label: string }
  /** Texts that occur in a few files, in about a thousand files of the largest tree, and nearly everywhere. */
  readonly patterns: { readonly rare: string; readonly expression: string; readonly common: string }
}

interface Source {
  readonly name: string
  readonly patterns: Tree["patterns"]
  readonly make: (directory: string) => void
}

const generated: Source = { name: "generated", patterns: generatedPatterns, make: generateTree }

/** The source of Linux, as Debian packages it: 78,621 files. */
const kernel: Source = {
  name: "linux-source-6.1",
  patterns: {
    rare: "kmalloc_node_track_caller",
    expression: String.raw`devm_[a-z]+_ioremap_resource\(`,
    common: "struct"
  },
  make: (directory) => {
    execFileSync("apt-get", ["download", "--quiet", "linux-source-6.1"], { cwd: directory, stdio: "pipe" })
    const [deb = ""] = readdirSync(directory)
    execFileSync("dpkg-deb", ["--extract", deb, "."], { cwd: directory })
    execFileSync("tar", ["--extract", "--file", "usr/src/linux-source-6.1.tar.xz"], { cwd: directory })
    // Debian's .gitignore ignores everything, so it is removed.
    for (const used of [deb, "usr", "linux-source-6.1/.gitignore"]) rmSync(join(directory, used), { recursive: true })
  }
}

/** For systems without that package: large packages from npm, about 70,000 files. */
const packages: Source = {
  name: "npm-packages",
  patterns: { rare: "requestIdleCallback", expression: "Arrow[a-z]+", common: "export" },
  make: (directory) => {
    const wanted = ["@mui/icons-material@9.5.0", "@tabler/icons-react@3.51.0", "date-fns@4.4.0", "googleapis@188.0.0"]
    const flags = ["--ignore-scripts", "--legacy-peer-deps", "--no-audit", "--no-fund", "--no-package-lock"]
    execFileSync("npm", ["install", "--prefix", directory, ...flags, ...wanted], { stdio: "pipe" })
  }
}

/**
 * Trees of about 1,000, 10,000 and 80,000 files; the smaller ones are samples of the largest. With `quick` only 1,000.
 */
export const treesOf = ({ home, quick }: Setting): ReadonlyArray<Tree> => {
  if (quick) return [treeAt(made(home, generated), generated)]
  const source = firstThatWorks(home, [kernel, packages])
  const root = made(home, source)
  return [treeAt(sampleOf(root, 80), source), treeAt(sampleOf(root, 8), source), treeAt(root, source)]
}

const made = (home: string, { name, make }: Source): string => {
  const root = join(home, "trees", name)
  if (existsSync(root)) return root
  const unfinished = `${root}.unfinished`
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(unfinished, { recursive: true })
  make(unfinished)
  return finished(unfinished, root)
}

const firstThatWorks = (home: string, sources: ReadonlyArray<Source>): Source => {
  for (const source of sources) {
    try {
      made(home, source)
      return source
    } catch (error) {
      process.stderr.write(`${source.name} can't be had: ${String(error).split("\n", 1)[0]}\n`)
    }
  }
  return generated
}

/** A tree with every n-th file of another one, as hard links. */
const sampleOf = (root: string, step: number): string => {
  const sample = `${root}-${step}th`
  if (existsSync(sample)) return sample
  const unfinished = `${sample}.unfinished`
  rmSync(unfinished, { recursive: true, force: true })
  for (const [index, file] of filesOf(root).entries()) {
    if (index % step !== 0) continue
    const target = join(unfinished, file)
    mkdirSync(dirname(target), { recursive: true })
    linkSync(join(root, file), target)
  }
  return finished(unfinished, sample)
}

// Makes the tree a git repository, so that no tool looks for ignore files above it.
const finished = (unfinished: string, root: string): string => {
  execFileSync("git", ["init", "--quiet", "--template="], { cwd: unfinished })
  renameSync(unfinished, root)
  return root
}

/** The sorted relative paths of all files of a tree, without those of git. */
export const filesOf = (root: string): ReadonlyArray<string> =>
  execFileSync("find", [".", "-name", ".git", "-prune", "-o", "-type", "f", "-print"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 2 ** 30
  })
    .split("\n")
    .slice(0, -1)
    .map((file) => file.slice(2))
    .toSorted()

const treeAt = (root: string, { patterns }: Source): Tree => {
  const value = filesOf(root).length
  return { root, patterns, size: { value, label: `${value.toLocaleString("en-US")} files` } }
}
