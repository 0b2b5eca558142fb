import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

import type { Answer, Contender } from "./contenders.ts"
import type { Tree } from "./corpus.ts"
import { type Damaged, mapTree } from "./damage.ts"

/**
 * `right`: the files are as they should be. `refused`: an error, and no file is changed. `wrong`: anything else, such as
 * a change at another place or a half of the changes.
 */
export type Verdict = "right" | "refused" | "wrong"

export interface Outcome {
  readonly verdict: Verdict
  readonly answer: Answer
  readonly after: Tree
}

/** Lets a contender make a change in a new directory, and judges what it left there. */
export const runCase = async <Request>(contender: Contender<Request>, damaged: Damaged<Request>): Promise<Outcome> => {
  const root = mkdtempSync(join(realpathSync(tmpdir()), "haft-robustness-"))
  try {
    for (const [path, text] of damaged.before) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    const answer = await contender.make(root, damaged.request)
    const after = readTree(root)
    return { verdict: judge(damaged, answer, after), answer, after }
  } finally {
    rmSync(root, { recursive: true })
  }
}

const judge = (damaged: Damaged<unknown>, answer: Answer, after: Tree): Verdict => {
  const isRefused = !answer.ok && isSame(after, damaged.before)
  if (isRefused) return damaged.right.length === 0 || damaged.mayRefuse === true ? "right" : "refused"
  const said = (tree: Tree): Tree => (damaged.said === undefined ? tree : mapTree(tree, damaged.said))
  return answer.ok && damaged.right.some((right) => isSame(said(after), said(right))) ? "right" : "wrong"
}

const isSame = (one: Tree, other: Tree): boolean =>
  one.size === other.size && [...one].every(([path, text]) => other.get(path) === text)

const readTree = (root: string): Tree =>
  new Map(
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((file) => [file.slice(root.length + 1), readFileSync(file, "utf8")])
  )
