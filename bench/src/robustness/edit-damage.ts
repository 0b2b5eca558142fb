import type { Sample, Tree } from "./corpus.ts"
import { type Damaged, type DamageClass, isLf, mistype, tabbed, toCrlf, withoutBlanksBehind } from "./damage.ts"
import { placedLines } from "./diff.ts"
import type { Random } from "./random.ts"

/** One replacement of one text by another. */
export interface Edit {
  readonly path: string
  readonly find: string
  readonly replace: string
}

/** One hunk of a commit as a replacement of lines that stand only once in the file. */
interface SampleEdit {
  readonly path: string
  readonly before: string
  readonly after: string
  readonly find: ReadonlyArray<string>
  readonly replace: ReadonlyArray<string>
  /** The index of the first line that is replaced. */
  readonly start: number
}

/** Difference from the undamaged edit. */
interface DamagedEdit {
  readonly before?: string
  readonly find?: ReadonlyArray<string>
  readonly replace?: ReadonlyArray<string>
  /** The texts that are right; none where the edit must be refused. */
  readonly right?: ReadonlyArray<string>
  readonly mayRefuse?: boolean
  readonly said?: (text: string) => string
}

interface EditDamage extends Omit<DamageClass<Edit>, "damage"> {
  readonly damage: (edit: SampleEdit, random: Random) => DamagedEdit | undefined
}

const sampleEdit = ({ files, before: tree }: Sample, random: Random): SampleEdit | undefined => {
  const modified = files.filter(({ kind }) => kind === "modify")
  for (const { file, hunk } of random.shuffle(modified.flatMap((file) => file.hunks.map((hunk) => ({ file, hunk }))))) {
    const before = tree.get(file.path) ?? ""
    const placed = placedLines(hunk).filter(({ sign }) => sign !== "\\")
    const find = placed.filter((line) => line.before !== undefined).map(({ text }) => text)
    const replace = placed.filter((line) => line.after !== undefined).map(({ text }) => text)
    const isUnique = before.split(find.join("\n")).length === 2
    const hasMark = hunk.lines.some((line) => line.startsWith("\\"))
    // A text of blank lines at an end would make it unclear what the request says.
    const isBounded = [find, replace].every((lines) => lines.at(0)?.trim() !== "" && lines.at(-1)?.trim() !== "")
    if (!isUnique || hasMark || !isBounded || find.length < 2 || replace.length === 0 || !isLf(before)) continue
    const start = hunk.oldStart - 1
    return { path: file.path, before, after: replaced(before, start, find, replace), find, replace, start }
  }
  return undefined
}

const replaced = (text: string, start: number, find: ReadonlyArray<string>, replace: ReadonlyArray<string>): string =>
  text
    .split("\n")
    .toSpliced(start, find.length, ...replace)
    .join("\n")

/** The edit made on a file whose found lines were changed, with the same change in the lines that stay. */
const otherLines = (
  edit: SampleEdit,
  change: (line: string) => string
): { readonly before: string; readonly after: string } => {
  const stays = new Set(edit.find)
  const find = edit.find.map(change)
  const replace = edit.replace.map((line) => (stays.has(line) ? change(line) : line))
  const before = replaced(edit.before, edit.start, edit.find, find)
  return { before, after: replaced(before, edit.start, find, replace) }
}

const dedent = (lines: ReadonlyArray<string>, depth: number): ReadonlyArray<string> =>
  lines.map((line) => line.slice(Math.min(depth, line.length - line.trimStart().length)))

/** The indentation that all lines of both sides have. */
const commonIndent = ({ find, replace }: SampleEdit): number =>
  Math.min(
    ...[...find, ...replace].filter((line) => line.trim() !== "").map((line) => line.length - line.trimStart().length)
  )

/** The edit without the indentation that all its lines have, in the texts that are named. */
const dedented =
  (...sides: ReadonlyArray<"find" | "replace">) =>
  (edit: SampleEdit): DamagedEdit | undefined => {
    const depth = commonIndent(edit)
    if (depth === 0) return undefined
    const literal = { ...edit, replace: sides.includes("replace") ? dedent(edit.replace, depth) : edit.replace }
    return {
      ...(sides.includes("find") && { find: dedent(edit.find, depth) }),
      replace: literal.replace,
      // A find that is exact leaves no doubt about the replacement, so that taking it as it is is right, too.
      right: sides.includes("find")
        ? [edit.after]
        : [edit.after, replaced(edit.before, edit.start, edit.find, literal.replace)]
    }
  }

const inTabs = (edit: SampleEdit, file: "tabs" | "spaces"): DamagedEdit | undefined => {
  const request = file === "tabs" ? "spaces" : "tabs"
  const [before, after] = [tabbed(edit.before), tabbed(edit.after)]
  if (before === undefined || after === undefined) return undefined
  const lines = (text: string, count: number) => text.split("\n").slice(edit.start, edit.start + count)
  const find = lines(before[request], edit.find.length)
  if (find.join("\n") === lines(before[file], edit.find.length).join("\n")) return undefined
  return {
    before: before[file],
    find,
    replace: lines(after[request], edit.replace.length),
    right: [after[file]]
  }
}

/** Look-alike characters in both find and replace. Lines that stay must stay as they are; new ones may be either. */
const lookAlikes =
  (from: RegExp, to: (found: string) => string) =>
  (edit: SampleEdit): DamagedEdit | undefined => {
    const change = (line: string): string => line.replaceAll(from, to)
    const find = edit.find.map(change)
    if (find.join() === edit.find.join()) return undefined
    const stays = new Set(edit.find)
    const mixed = edit.replace.map((line) => (stays.has(line) ? line : change(line)))
    return {
      find,
      replace: edit.replace.map(change),
      right: [edit.after, replaced(edit.before, edit.start, edit.find, mixed)]
    }
  }

const isBlank = (line: string): boolean => line.trim() === ""

const isInner = (lines: ReadonlyArray<string>, at: number): boolean => at > 0 && at < lines.length - 1

const blankDropped = (edit: SampleEdit): DamagedEdit | undefined => {
  const drop = (lines: ReadonlyArray<string>) => lines.filter((line) => !isBlank(line))
  if (!edit.find.some(isBlank)) return undefined
  const below = edit.before.split("\n").length - edit.start - edit.find.length
  // The request says nothing about blank lines between its lines; those around it must stay.
  const said = (text: string): string => {
    const lines = text.split("\n")
    const end = lines.length - below
    return [...lines.slice(0, edit.start), ...drop(lines.slice(edit.start, end)), ...lines.slice(end)].join("\n")
  }
  return { find: drop(edit.find), replace: drop(edit.replace), said }
}

const blankAdded = (edit: SampleEdit, random: Random): DamagedEdit | undefined => {
  const at = random.pick(
    [...edit.find.keys()].filter((index) => isInner(edit.find, index) && !isBlank(edit.find[index] ?? ""))
  )
  return at === undefined ? undefined : { find: edit.find.toSpliced(at, 0, ""), right: [edit.after] }
}

const numbered = (lines: ReadonlyArray<string>, start: number): ReadonlyArray<string> =>
  lines.map((line, at) => `${start + at + 1}\t${line}`)

const escapeHtml = (line: string): string =>
  line.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

const damages: ReadonlyArray<EditDamage> = [
  { name: "intact", damage: () => ({}) },
  {
    name: "crlf-request",
    isSpacing: true,
    damage: ({ find, replace }) => ({ find: [find.join("\r\n")], replace: [replace.join("\r\n")] })
  },
  { name: "crlf-find-only", isSpacing: true, damage: ({ find }) => ({ find: [find.join("\r\n")] }) },
  {
    name: "crlf-file",
    isSpacing: true,
    damage: ({ before, after }) => ({ before: toCrlf(before), right: [toCrlf(after)] })
  },
  {
    name: "trailing-space-in-file",
    isSpacing: true,
    damage: (edit) => {
      const spaced = otherLines(edit, (line) => (isBlank(line) ? line : `${line}  `))
      // Lines that stay may lose the blanks, which the request does not have, and copies of them may get some; new ones not.
      const old = new Set(edit.find.map((line) => line.trimEnd()))
      return { before: spaced.before, right: [spaced.after], said: withoutBlanksBehind((line) => old.has(line)) }
    }
  },
  { name: "trailing-space-in-find", isSpacing: true, damage: ({ find }) => ({ find: find.map((line) => `${line} `) }) },
  {
    name: "blank-lines-indented-in-file",
    isSpacing: true,
    damage: (edit) => {
      if (!edit.find.some(isBlank)) return undefined
      const spaced = otherLines(edit, (line) => (isBlank(line) ? "    " : line))
      return { before: spaced.before, right: [spaced.after, edit.after] }
    }
  },
  { name: "indentation-lost", isSpacing: true, damage: dedented("find", "replace") },
  { name: "indentation-lost-in-find", isSpacing: true, damage: dedented("find") },
  { name: "indentation-lost-in-replace", isSpacing: true, damage: dedented("replace") },
  {
    name: "first-indentation-lost",
    isSpacing: true,
    damage: ({ find, replace }) =>
      /^\s/.test(find[0] ?? "") && find[0] === replace[0]
        ? { find: find.with(0, find[0]?.trimStart() ?? ""), replace: replace.with(0, replace[0]?.trimStart() ?? "") }
        : undefined
  },
  {
    name: "indentation-doubled",
    isSpacing: true,
    damage: (edit) => {
      const indent = (line: string): string => (isBlank(line) ? line : `    ${line}`)
      return { find: edit.find.map(indent), replace: edit.replace.map(indent) }
    }
  },
  { name: "tabs-in-file", isSpacing: true, damage: (edit) => inTabs(edit, "tabs") },
  { name: "tabs-in-request", isSpacing: true, damage: (edit) => inTabs(edit, "spaces") },
  { name: "curly-quotes", damage: lookAlikes(/["']/g, (quote) => (quote === '"' ? "\u201D" : "\u2019")) },
  { name: "no-break-spaces", isSpacing: true, damage: lookAlikes(/(?<=\S) (?=\S)/g, () => "\u00A0") },
  { name: "long-dashes", damage: lookAlikes(/(?<= )-(?= )/g, () => "\u2013") },
  { name: "blank-line-dropped", isSpacing: true, damage: blankDropped },
  { name: "blank-line-added-to-find", isSpacing: true, damage: blankAdded },
  {
    name: "final-newline-added",
    isSpacing: true,
    damage: ({ find, replace }) => ({ find: [...find, ""], replace: [...replace, ""] })
  },
  {
    name: "line-numbers-pasted",
    damage: ({ find, replace, start }) => ({ find: numbered(find, start), replace: numbered(replace, start) })
  },
  { name: "line-numbers-in-find", damage: ({ find, start }) => ({ find: numbered(find, start) }) },
  {
    name: "newlines-escaped",
    damage: ({ find, replace }) => ({ find: [find.join(String.raw`\n`)], replace: [replace.join(String.raw`\n`)] })
  },
  {
    name: "html-escaped",
    damage: ({ find, replace }) =>
      find.some((line) => /[&<>]/.test(line))
        ? { find: find.map(escapeHtml), replace: replace.map(escapeHtml) }
        : undefined
  },
  {
    name: "line-mistyped",
    damage: ({ find }, random) => {
      const at = random.between(0, find.length - 1)
      const wrong = mistype(find[at] ?? "", random)
      return wrong === undefined ? undefined : { find: find.with(at, wrong) }
    }
  },
  {
    name: "line-dropped-from-find",
    damage: ({ find }, random) =>
      find.length < 4 ? undefined : { find: find.toSpliced(random.between(1, find.length - 2), 1) }
  },
  {
    name: "not-unique",
    damage: (edit) => {
      const before = `${edit.before.replace(/\n?$/, "\n")}${edit.find.join("\n")}\n`
      return { before, right: [] }
    }
  },
  {
    name: "applied-twice",
    damage: ({ after, find }) =>
      after.includes(find.join("\n")) ? undefined : { before: after, right: [after], mayRefuse: true }
  }
]

const spacedOut = (lines: ReadonlyArray<string>): string => lines.join("\n").trim().replaceAll(/\s+/g, " ")

/** Damaged requests to replace a text that must be unique. */
export const editDamage: ReadonlyArray<DamageClass<Edit>> = damages.map(({ name, isSpacing = false, damage }) => ({
  name,
  isSpacing,
  damage: (sample, random): Damaged<Edit> | undefined => {
    const edit = sampleEdit(sample, random)
    // Where spacing is what an edit changes, nothing tells that change from the damage.
    if (edit !== undefined && isSpacing && spacedOut(edit.find) === spacedOut(edit.replace)) return undefined
    const damaged = edit && damage(edit, random)
    if (edit === undefined || damaged === undefined) return undefined
    const {
      before = edit.before,
      find = edit.find,
      replace = edit.replace,
      right = [edit.after],
      mayRefuse = false,
      said = (text: string) => text
    } = damaged
    const tree = (text: string): Tree => new Map([[edit.path, text]])
    return {
      before: tree(before),
      right: right.map(tree),
      mayRefuse,
      said,
      request: { path: edit.path, find: find.join("\n"), replace: replace.join("\n") }
    }
  }
}))
