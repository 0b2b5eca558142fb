import type { Sample } from "./corpus.ts"
import { type DamageClass, isLf, mistype, toCrlf, withoutBlanksBehind } from "./damage.ts"
import {
  cutContext,
  type FilePatch,
  type Hunk,
  outerContext,
  parseDiff,
  renderEnvelope,
  renderUnified,
  type UnifiedStyle
} from "./diff.ts"
import {
  contextOf,
  crlfFiles,
  type DamagedPatch,
  drifted,
  identicalBlockAbove,
  modifiedHunks,
  noNewlineMarkMissing,
  tabsToSpaces,
  trailingSpaceTrimmed
} from "./file-damage.ts"
import type { Random } from "./random.ts"

interface PatchDamage extends Omit<DamageClass<string>, "damage"> {
  readonly damage: (sample: Sample, random: Random) => DamagedPatch | undefined
  /** The damage is about numbers or headers that only a unified diff has. */
  readonly isUnifiedOnly?: boolean
}

const hunksOf = ({ files }: Sample, change: (hunk: Hunk) => Hunk): DamagedPatch => ({
  files: files.map((file) => (file.kind === "modify" ? { ...file, hunks: file.hunks.map(change) } : file))
})

/** Changes the lines of one hunk, the first in random order for which that is possible. */
const oneHunk = (
  sample: Sample,
  random: Random,
  change: (hunk: Hunk) => ReadonlyArray<string> | undefined
): DamagedPatch | undefined => {
  for (const { hunk } of random.shuffle(modifiedHunks(sample))) {
    const lines = change(hunk)
    if (lines !== undefined) return hunksOf(sample, (other) => (other === hunk ? { ...other, lines } : other))
  }
  return undefined
}

const isLfOnly = ({ before, after }: Sample): boolean => [...before.values(), ...after.values()].every(isLf)

const shifted = (hunk: Hunk, lines: number): Hunk => ({
  ...hunk,
  oldStart: Math.max(1, hunk.oldStart + lines),
  newStart: Math.max(1, hunk.newStart + lines)
})

/** A shift in either direction; upwards only where there is room, so that the number is wrong in any case. */
const offBy = (hunk: Hunk, from: number, to: number, random: Random): Hunk => {
  const lines = random.between(from, to)
  return shifted(hunk, random.next() < 0.5 && hunk.oldStart > lines ? -lines : lines)
}

const miscounted = (hunk: Hunk, random: Random): Hunk => ({
  ...hunk,
  oldCount: Math.max(1, hunk.oldCount + (random.next() < 0.5 ? -1 : 1) * random.between(1, 3)),
  newCount: Math.max(1, hunk.newCount + (random.next() < 0.5 ? -1 : 1) * random.between(1, 3))
})

/** Cuts one side of the context down, by at least a line. */
const uneven = (hunk: Hunk, random: Random): Hunk => {
  const { leading, trailing } = outerContext(hunk)
  const cut = (context: number): number => (context === 0 ? 0 : random.between(1, context))
  return random.next() < 0.5
    ? cutContext(hunk, { leading: cut(leading), trailing: 0 })
    : cutContext(hunk, { leading: 0, trailing: cut(trailing) })
}

const blankWithoutSpace = (lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.map((line) => (line === " " ? "" : line))

const fenced = (patch: string): string => `\`\`\`diff\n${patch}\`\`\`\n`

const withProse = (patch: string): string =>
  `Here is the change. It keeps the public interface as it is:\n\n${patch}\nLet me know if the tests should be extended, too.\n`

const ellipsis = (hunk: Hunk, random: Random): ReadonlyArray<string> | undefined => {
  const isContext = (line: string | undefined): boolean => line?.startsWith(" ") ?? false
  const { leading, trailing } = outerContext(hunk)
  const inner = [...hunk.lines.keys()]
    .filter((at) => at >= leading && at < hunk.lines.length - trailing - 1)
    .filter((at) => isContext(hunk.lines[at]) && isContext(hunk.lines[at + 1]))
  const at = random.pick(inner) ?? (leading >= 3 ? 0 : undefined)
  if (at === undefined) return undefined
  return hunk.lines.toSpliced(at, 2, random.pick(["...", " ...", " // ..."]) ?? "")
}

const withoutContextLine = ({ lines }: Hunk, random: Random): ReadonlyArray<string> | undefined => {
  const at = random.pick(
    [...lines.keys()].filter((index) => lines[index]?.startsWith(" ") === true && isMissed(lines, index))
  )
  return at === undefined ? undefined : lines.toSpliced(at, 1)
}

/** False for a line beside added ones that have nothing at their other side: without it, the hunk adds them elsewhere. */
const isMissed = (lines: ReadonlyArray<string>, at: number): boolean => {
  const isBeyond = (step: 1 | -1): boolean => {
    let next = at + step
    while (lines[next]?.startsWith("+") === true) next += step
    return next !== at + step && lines[next] === undefined
  }
  return !isBeyond(1) && !isBeyond(-1)
}

const cutShort = (sample: Sample, random: Random): DamagedPatch | undefined => {
  const file = sample.files.at(-1)
  const hunk = file?.hunks.at(-1)
  if (file?.kind !== "modify" || hunk === undefined) return undefined
  const end = random.pick([...hunk.lines.keys()].filter((at) => at > 0 && /^[-+]/.test(hunk.lines[at - 1] ?? "")))
  if (end === undefined || end === hunk.lines.length) return undefined
  const cut = { ...file, hunks: file.hunks.with(file.hunks.length - 1, { ...hunk, lines: hunk.lines.slice(0, end) }) }
  return { files: sample.files.with(sample.files.length - 1, cut), right: [] }
}

const asModelsDo = (sample: Sample, random: Random): DamagedPatch => ({
  said: withoutBlanksBehind((line) => addedLines(sample).has(line)),
  ...hunksOf(sample, (hunk) => {
    const damaged = miscounted(offBy(random.next() < 0.5 ? uneven(hunk, random) : hunk, 1, 300, random), random)
    return { ...damaged, lines: blankWithoutSpace(damaged.lines).map((line) => line.trimEnd()) }
  }),
  style: { header: "names" },
  text: (patch) => withProse(fenced(patch))
})

const addedLines = ({ files }: Sample): ReadonlySet<string> =>
  new Set(
    files
      .flatMap(({ hunks }) => hunks.flatMap(({ lines }) => lines))
      .filter((line) => line.startsWith("+"))
      .map((line) => line.slice(1).trimEnd())
  )

/** As `diff -ruN` prints it, where that a file is created or deleted shows only in a time. */
const timestamps = ({ files }: Sample, header: "timestamps" | "timestamps-after-spaces"): DamagedPatch | undefined =>
  files.some(({ kind }) => kind !== "modify") ? { style: { header } } : undefined

const isCuttable = (sample: Sample, side: "leading" | "trailing"): boolean =>
  modifiedHunks(sample).some(({ hunk }) => outerContext(hunk)[side] > 0)

const damages: ReadonlyArray<PatchDamage> = [
  { name: "intact", damage: () => ({}) },
  { name: "no-git-header", isUnifiedOnly: true, damage: () => ({ style: { header: "names" } }) },
  {
    name: "numbers-off-1-9",
    isUnifiedOnly: true,
    damage: (sample, random) => hunksOf(sample, (hunk) => offBy(hunk, 1, 9, random))
  },
  {
    name: "numbers-off-10-300",
    isUnifiedOnly: true,
    damage: (sample, random) => hunksOf(sample, (hunk) => offBy(hunk, 10, 300, random))
  },
  {
    name: "numbers-all-1",
    isUnifiedOnly: true,
    damage: (sample) => hunksOf(sample, (hunk) => ({ ...hunk, oldStart: 1, newStart: 1 }))
  },
  {
    name: "counts-off",
    isUnifiedOnly: true,
    damage: (sample, random) => hunksOf(sample, (hunk) => miscounted(hunk, random))
  },
  {
    name: "numbers-and-counts-off",
    isUnifiedOnly: true,
    damage: (sample, random) => hunksOf(sample, (hunk) => miscounted(offBy(hunk, 1, 300, random), random))
  },
  { name: "no-final-newline", damage: () => ({ text: (patch) => patch.slice(0, -1) }) },
  { name: "trailing-space-trimmed", isSpacing: true, damage: trailingSpaceTrimmed },
  {
    name: "crlf-file",
    isSpacing: true,
    damage: (sample) => (isLfOnly(sample) ? crlfFiles(sample) : undefined)
  },
  { name: "crlf-patch", isSpacing: true, damage: (sample) => (isLfOnly(sample) ? { text: toCrlf } : undefined) },
  { name: "code-fence", damage: () => ({ text: fenced }) },
  { name: "prose-around", damage: () => ({ text: withProse }) },
  { name: "no-prefix", isUnifiedOnly: true, damage: () => ({ style: { header: "names", prefix: false } }) },
  { name: "timestamps", isUnifiedOnly: true, damage: (sample) => timestamps(sample, "timestamps") },
  {
    name: "timestamps-after-spaces",
    isUnifiedOnly: true,
    damage: (sample) => timestamps(sample, "timestamps-after-spaces")
  },
  { name: "colored", isUnifiedOnly: true, damage: (sample) => ({ text: () => sample.diff("--color=always") }) },
  { name: "function-context", damage: (sample) => ({ files: parseDiff(sample.diff("-W")) }) },
  { name: "uneven-context", damage: (sample, random) => hunksOf(sample, (hunk) => uneven(hunk, random)) },
  {
    name: "uneven-context-numbers-off",
    isUnifiedOnly: true,
    damage: (sample, random) => hunksOf(sample, (hunk) => offBy(uneven(hunk, random), 1, 300, random))
  },
  {
    name: "no-trailing-context",
    damage: (sample) =>
      isCuttable(sample, "trailing")
        ? hunksOf(sample, (hunk) => cutContext(hunk, { leading: 0, trailing: outerContext(hunk).trailing }))
        : undefined
  },
  {
    name: "no-leading-context",
    damage: (sample) =>
      isCuttable(sample, "leading")
        ? hunksOf(sample, (hunk) => cutContext(hunk, { leading: outerContext(hunk).leading, trailing: 0 }))
        : undefined
  },
  { name: "no-context", isUnifiedOnly: true, damage: (sample) => ({ files: parseDiff(sample.diff("-U0")) }) },
  { name: "bare-at", isUnifiedOnly: true, damage: (sample) => hunksOf(sample, (hunk) => ({ ...hunk, header: "@@" })) },
  {
    name: "at-ellipsis",
    isUnifiedOnly: true,
    damage: (sample) => hunksOf(sample, (hunk) => ({ ...hunk, header: "@@ ... @@" }))
  },
  { name: "tabs-to-spaces", isSpacing: true, damage: tabsToSpaces },
  { name: "no-newline-mark-missing", damage: noNewlineMarkMissing },
  {
    name: "blank-context-without-space",
    isSpacing: true,
    damage: (sample) =>
      modifiedHunks(sample).some(({ hunk }) => hunk.lines.includes(" "))
        ? hunksOf(sample, (hunk) => ({ ...hunk, lines: blankWithoutSpace(hunk.lines) }))
        : undefined
  },
  {
    name: "context-line-dropped",
    damage: (sample, random) => oneHunk(sample, random, (hunk) => withoutContextLine(hunk, random))
  },
  {
    name: "context-line-mistyped",
    damage: (sample, random) =>
      oneHunk(sample, random, (hunk) => {
        const line = random.pick(contextOf(hunk))
        const wrong = line && mistype(line.text, random)
        return line === undefined || wrong === undefined ? undefined : hunk.lines.with(line.index, ` ${wrong}`)
      })
  },
  { name: "ellipsis", damage: (sample, random) => oneHunk(sample, random, (hunk) => ellipsis(hunk, random)) },
  {
    name: "lines-without-sign",
    isSpacing: true,
    damage: (sample, random) =>
      oneHunk(sample, random, ({ lines }) => {
        const isUnsignable = (line: string): boolean => /^ [^+\\@* -]/.test(line) || /^ {2,}\S/.test(line)
        return lines.some(isUnsignable) ? lines.map((line) => (isUnsignable(line) ? line.slice(1) : line)) : undefined
      })
  },
  { name: "file-drifted", damage: drifted },
  { name: "applied-twice", damage: ({ after }) => ({ before: after, right: [after], mayRefuse: true }) },
  { name: "cut-short", isUnifiedOnly: true, damage: cutShort },
  {
    name: "hunk-repeated",
    isUnifiedOnly: true,
    damage: (sample) => ({
      files: sample.files.map((file) =>
        file.kind === "modify" ? { ...file, hunks: file.hunks.flatMap((hunk) => [hunk, hunk]) } : file
      ),
      right: [sample.after],
      mayRefuse: true
    })
  },
  { name: "identical-block-above", isAmbiguous: true, damage: identicalBlockAbove },
  { name: "as-models-do", damage: asModelsDo }
]

interface PatchFormat {
  readonly render: (files: ReadonlyArray<FilePatch>, style?: UnifiedStyle) => string | undefined
  /** The format can say whether a file ends in a newline. */
  readonly hasFinalNewlines: boolean
}

const classOf =
  ({ render, hasFinalNewlines }: PatchFormat) =>
  ({ name, isAmbiguous = false, isSpacing = false, damage }: PatchDamage): DamageClass<string> => ({
    name,
    isAmbiguous,
    isSpacing,
    damage: (sample, random) => {
      const damaged = damage(sample, random)
      const patch = damaged && render(damaged.files ?? sample.files, damaged.style)
      if (patch === undefined || damaged === undefined) return undefined
      const {
        before = sample.before,
        right = [sample.after],
        mayRefuse = false,
        text = (same: string) => same,
        said = (same: string) => same
      } = damaged
      const [after] = right
      const isUnsaid = (path: string): boolean =>
        !hasFinalNewlines && before.get(path)?.endsWith("\n") !== after?.get(path)?.endsWith("\n")
      return {
        before,
        right,
        mayRefuse,
        said: (same, path) => (isUnsaid(path) ? said(same, path).replace(/\r?\n$/, "") : said(same, path)),
        request: text(patch)
      }
    }
  })

/** Damaged unified diffs. */
export const unifiedDamage: ReadonlyArray<DamageClass<string>> = damages.map(
  classOf({ render: renderUnified, hasFinalNewlines: true })
)

/** Damaged `*** Begin Patch` sections: without line numbers there is less to get wrong, and less to go by. */
export const envelopeDamage: ReadonlyArray<DamageClass<string>> = damages
  .filter(({ isUnifiedOnly = false }) => !isUnifiedOnly)
  .map(classOf({ render: renderEnvelope, hasFinalNewlines: false }))
