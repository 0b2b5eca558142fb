import { execFileSync } from "node:child_process"
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

import * as fc from "fast-check"
import { expect, it } from "vitest"

import { openTools } from "../../test/open-tools.ts"

const isLong = process.env["HAFT_LONG"] === "1"
const runs = isLong ? 1000 : 40

interface File {
  readonly lines: ReadonlyArray<string>
  readonly lastNewline: boolean
  readonly executable: boolean
  /** A file with bytes that are not text, a symbolic link, or a text. */
  readonly form: "text" | "binary" | "link"
}
type Tree = Readonly<Record<string, File>>

const names = ["a", "b c", "d/e", "d/f g", "ü", 'h"q', "t\tb", "x/y/z", "k", "x/w"]
const line = fc.constantFrom("alpha", "beta", "", "  x", "foo(bar)", "- dash", "+ plus", "é", "}", "--- a/b", "@@ at")
const file: fc.Arbitrary<File> = fc.record({
  lines: fc.array(
    fc.tuple(line, fc.nat({ max: 30 })).map(([text, number]) => text + String(number)),
    {
      minLength: 4,
      maxLength: 14
    }
  ),
  lastNewline: fc.boolean(),
  executable: fc.boolean(),
  form: fc.constantFrom("text", "text", "text", "binary", "link")
})
/** Change of one file: its number among the others, the kind of change, and its data. */
const change = fc.record({
  which: fc.nat(),
  what: fc.constantFrom("edit", "edit", "delete", "move", "move and edit", "copy", "mode", "add"),
  at: fc.nat({ max: 14 }),
  other: file
})
const example = fc.record({
  tree: fc.dictionary(fc.constantFrom(...names), file, { minKeys: 2 }),
  changes: fc.array(change, { minLength: 1, maxLength: 5 }),
  options: fc.subarray(["-M", "-C", "--no-prefix", "-U1"])
})

const edited = (one: File, at: number): File => ({
  ...one,
  lines: [...one.lines.slice(0, at), "new", ...one.lines.slice(at + 1)]
})

const changed = (
  tree: Tree,
  { which, what, at, other }: typeof change extends fc.Arbitrary<infer A> ? A : never
): Tree => {
  const paths = Object.keys(tree)
  const path = paths[which % Math.max(1, paths.length)] ?? ""
  const free = names.filter((name) => !(name in tree))
  const target = free[which % Math.max(1, free.length)]
  const { [path]: one, ...rest } = tree
  if (one === undefined) return tree
  if (what === "edit") return { ...tree, [path]: edited(one, at) }
  if (what === "delete") return rest
  if (what === "mode") return { ...tree, [path]: { ...one, executable: !one.executable } }
  if (target === undefined) return tree
  if (what === "move") return { ...rest, [target]: one }
  if (what === "move and edit") return { ...rest, [target]: edited(one, at) }
  return { ...tree, [target]: what === "copy" ? one : other }
}

const bytesOf = ({ lines, lastNewline, form }: File): Buffer => {
  const text = lines.join("\n") + (lastNewline ? "\n" : "")
  // Long and mostly alike, so that git prints some as deltas.
  return form === "binary"
    ? Buffer.concat([Buffer.from([0, 255]), Buffer.from(text), Buffer.from(longNoise)])
    : Buffer.from(text)
}

const longNoise = Array.from({ length: 3000 }, (_, index) => (index * 7919) % 251)

/** A target that stays in the workspace from wherever the link is. */
const linkTarget = ({ lines }: File): string => `to ${lines.join(" ").replaceAll("/", "")}`

const write = (root: string, tree: Tree): void => {
  for (const [path, one] of Object.entries(tree)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    if (one.form === "link") {
      symlinkSync(linkTarget(one), join(root, path))
      continue
    }
    writeFileSync(join(root, path), bytesOf(one))
    chmodSync(join(root, path), one.executable ? 0o755 : 0o644)
  }
}

const read = (root: string): ReadonlyArray<readonly [string, string]> =>
  readdirSync(root, { recursive: true, encoding: "utf8" })
    .toSorted()
    .flatMap((path) => {
      const place = join(root, path)
      const stats = lstatSync(place)
      if (stats.isSymbolicLink()) return [[path, `link to ${readlinkSync(place)}`] as const]
      const mode = (stats.mode & 0o111) === 0 ? "" : "executable "
      return stats.isFile() ? [[path, mode + readFileSync(place, "latin1")] as const] : []
    })

/** The diff between two trees, as git makes it. */
const diffOf = (before: Tree, after: Tree, options: ReadonlyArray<string>): string => {
  const directory = mkdtempSync(join(tmpdir(), "haft-tree-oracle-"))
  const git = (...args: ReadonlyArray<string>): string =>
    execFileSync("git", ["--git-dir", join(directory, "git"), "--work-tree", join(directory, "tree"), ...args], {
      encoding: "utf8"
    })
  const treeOf = (tree: Tree): string => {
    rmSync(join(directory, "tree"), { recursive: true, force: true })
    mkdirSync(join(directory, "tree"))
    write(join(directory, "tree"), tree)
    git("add", "--all", "--force")
    return git("write-tree").trim()
  }
  try {
    git("init", "--quiet")
    git("config", "core.autocrlf", "false")
    return git("diff", "--binary", "--no-renames", ...options, treeOf(before), treeOf(after))
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

it.skipIf(process.platform === "win32")(
  "makes of a tree what git says that it became, and undo makes of it what it was (not on this platform)",
  { timeout: isLong ? 3_600_000 : 600_000 },
  async () => {
    let applied = 0
    for (const { tree, changes, options } of fc.sample(example, { numRuns: runs, seed: 1 })) {
      const after = changes.reduce(changed, tree)
      const patch = diffOf(tree, after, options)
      if (patch === "") continue
      await using tools = await openTools()
      const { root } = tools.workspace
      write(root, tree)
      const before = read(root)
      const reply = await tools.call("apply_patch", { patch })
      expect(reply, `${patch}\n${JSON.stringify(reply)}`).toMatchObject({ ok: true })
      await using expected = await openTools()
      write(expected.workspace.root, after)
      expect(read(root), patch).toEqual(read(expected.workspace.root))
      expect(await tools.call("undo", {})).toMatchObject({ ok: true })
      expect(read(root)).toEqual(before)
      applied++
    }
    expect(applied).toBeGreaterThan(runs / 2)
  }
)
