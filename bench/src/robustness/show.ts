import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import type { Tree } from "./corpus.ts"
import type { Outcome } from "./run-case.ts"
import type { ShownCase } from "./series.ts"

/** A case in full: the request, and how far what each contender left is from what is right. */
export const showCase = ({ commit, damaged, outcomes }: ShownCase): string => {
  const { before, request, right, mayRefuse = false } = damaged
  const [nearest] = right
  const refusal = mayRefuse ? "the files as they are, or a refusal" : "a refusal"
  return [
    `commit ${commit}, files ${[...before.keys()].join(", ")}`,
    heading("request"),
    request,
    ...(nearest === undefined || mayRefuse
      ? [heading("right"), refusal]
      : [heading("right, against the files before"), differences(before, nearest)]),
    ...[...outcomes].map(([name, outcome]) => showOutcome(name, outcome, nearest ?? before))
  ].join("\n")
}

const showOutcome = (name: string, { verdict, answer, after }: Outcome, right: Tree): string => {
  const answered = `${heading(`${name}: ${verdict}`)}\n${answer.message.slice(0, 4000)}`
  return verdict === "wrong"
    ? `${answered}\n${heading(`${name}: what is wrong, against what is right`)}\n${differences(right, after)}`
    : answered
}

const heading = (text: string): string => `\n──── ${text} ────`

const differences = (one: Tree, other: Tree): string => {
  const paths = [...new Set([...one.keys(), ...other.keys()])]
  return paths
    .filter((path) => one.get(path) !== other.get(path))
    .map((path) => `${path}\n${diffTexts(one.get(path) ?? "", other.get(path) ?? "")}`)
    .join("\n")
}

/** Both texts are made visible where terminals show nothing: tabs, carriage returns, blanks at line ends. */
const diffTexts = (one: string, other: string): string => {
  const directory = mkdtempSync(join(tmpdir(), "haft-robustness-diff-"))
  try {
    const files = [one, other].map((text, index) => {
      const file = join(directory, String(index))
      writeFileSync(file, visible(text))
      return file
    })
    return spawnSync("git", ["diff", "--no-index", "--no-color", ...files], { encoding: "utf8" })
      .stdout.split("\n")
      .slice(4)
      .join("\n")
  } finally {
    rmSync(directory, { recursive: true })
  }
}

const visible = (text: string): string =>
  text
    .replaceAll("\t", "→")
    .replaceAll("\r", "␍")
    .replaceAll(/ +$/gm, (blanks) => "·".repeat(blanks.length))
