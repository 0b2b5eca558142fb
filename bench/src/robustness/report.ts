import type { Verdict } from "./run-case.ts"
import type { ClassResult, SeriesResult } from "./series.ts"

const verdictNames: ReadonlyArray<Verdict> = ["right", "refused", "wrong"]

/** The shares of right, refused and wrong in percent, for each class and each contender, and for all classes. */
export const tableOf = ({ name, classes, absent }: SeriesResult): string => {
  const contenders = [...(classes[0]?.verdicts.keys() ?? [])]
  const row = (title: string, ofRow: ReadonlyArray<ClassResult>): ReadonlyArray<string> => [
    title,
    String(ofRow.reduce((sum, { commits }) => sum + commits.length, 0)),
    ...contenders.map((contender) => sharesText(ofRow.flatMap(({ verdicts }) => verdicts.get(contender) ?? [])))
  ]
  const rows = [
    [`${name}: right / refused / wrong, %`, "cases", ...contenders],
    ...classes.map((one) => row(one.name, [one])),
    row("all", classes)
  ]
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)))
  const lines = rows.map((cells) => `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`)
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`
  return [lines[0], rule, ...lines.slice(1), ...absent.map((one) => `${one.name}: ${one.reason}`)].join("\n")
}

const sharesText = (verdicts: ReadonlyArray<Verdict>): string =>
  verdicts.length === 0
    ? "–"
    : verdictNames.map((verdict) => percent(share(verdicts, (one) => one === verdict))).join(" / ")

const share = (verdicts: ReadonlyArray<Verdict>, isCounted: (verdict: Verdict) => boolean): number =>
  verdicts.length === 0 ? 0 : verdicts.filter(isCounted).length / verdicts.length

const percent = (ratio: number): string => (ratio * 100).toFixed(1).replace(/\.0$/, "")

const shownPerClass = 3

/** haft's wrong results by the names that `--show` takes, the first of each class. */
export const wrongCases = ({ name, classes }: SeriesResult): ReadonlyArray<string> =>
  classes.flatMap((one) => {
    const wrong = ours([one]).flatMap((verdict, number) =>
      verdict === "wrong" ? [`${name}/${one.name}/${number} ${one.commits[number]?.slice(0, 12)}`] : []
    )
    const more = wrong.length - shownPerClass
    return more > 0 ? wrong.slice(0, shownPerClass).concat(`${name}/${one.name}: ${more} more`) : wrong
  })

interface Goal {
  readonly text: string
  readonly isMet: boolean
}

/** Goals about the classes that were run, each with its result. */
export const goalsOf = (results: ReadonlyArray<SeriesResult>): ReadonlyArray<Goal> => {
  const ofFormat = (format: string): ReadonlyArray<ClassResult> =>
    results.filter(({ name }) => name === format).flatMap(({ classes }) => classes)
  const all = results.flatMap(({ classes }) => classes).filter(({ isAmbiguous = false }) => !isAmbiguous)
  const unified = ofFormat("unified")
  const spacing = ofFormat("edit").filter(({ isSpacing = false }) => isSpacing)
  return [...neverWrong(all), ...oftenRight(unified), ...asGit(unified), ...forgiving(spacing)]
}

const neverWrong = (classes: ReadonlyArray<ClassResult>): ReadonlyArray<Goal> => {
  const wrong = ours(classes).filter((verdict) => verdict === "wrong").length
  return [{ text: `wrong, without ambiguous classes: ${wrong}, the goal is 0`, isMet: wrong === 0 }]
}

const oftenRight = (classes: ReadonlyArray<ClassResult>): ReadonlyArray<Goal> => {
  if (classes.length === 0) return []
  const right = share(ours(classes), isRight)
  return [{ text: `unified diffs right: ${percent(right)} %, the goal is 82.7 %`, isMet: right >= 0.827 }]
}

const asGit = (classes: ReadonlyArray<ClassResult>): ReadonlyArray<Goal> =>
  classes
    .filter(({ name }) => name === "function-context")
    .map(({ verdicts }) => {
      const [haft, git] = ["haft", "git apply"].map((name) => share(verdicts.get(name) ?? [], isRight)) as [
        number,
        number
      ]
      return { text: `git diff -W right: ${percent(haft)} %, git apply ${percent(git)} %`, isMet: haft >= git }
    })

const forgiving = (classes: ReadonlyArray<ClassResult>): ReadonlyArray<Goal> => {
  if (classes.length === 0) return []
  const not = share(ours(classes), (verdict) => !isRight(verdict))
  return [
    { text: `edits that differ in spacing only, not made: ${percent(not)} %, the goal is 1 %`, isMet: not <= 0.01 }
  ]
}

const isRight = (verdict: Verdict): boolean => verdict === "right"

const ours = (classes: ReadonlyArray<ClassResult>): ReadonlyArray<Verdict> =>
  classes.flatMap(({ verdicts }) => verdicts.get("haft") ?? [])
