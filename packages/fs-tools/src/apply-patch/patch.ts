import type { ChangedPath, Touches } from "@haft/core"

/** Change of one file by one section of a patch. Unified diffs and envelopes are both parsed into these. */
export type PatchSection =
  | {
      readonly kind: "add"
      readonly path: string
      readonly lines: ReadonlyArray<HunkLine>
      readonly executable: boolean | undefined
      /** True for a symbolic link, whose lines are its target. */
      readonly isLink?: boolean
      /** The content, instead of lines. */
      readonly binary?: BinaryHunk
    }
  | {
      readonly kind: "delete"
      readonly path: string
      /** When there are any, they must account for all of the file. */
      readonly hunks: ReadonlyArray<Hunk>
      readonly isLink?: boolean
      readonly binary?: BinaryHunk
    }
  | {
      readonly kind: "update"
      readonly path: string
      /** Where the result goes, when it is not `path`. */
      readonly target: string | undefined
      /** Leaves the file at `path` in place. */
      readonly isCopy: boolean
      readonly executable: boolean | undefined
      readonly hunks: ReadonlyArray<Hunk>
      /** True for a symbolic link, whose target the hunk changes. */
      readonly isLink?: boolean
      /** The change, instead of hunks. */
      readonly binary?: BinaryHunk
    }

/** Lines to find and what becomes of them. */
export interface Hunk {
  readonly place: StatedLine | ByContent
  readonly lines: ReadonlyArray<HunkLine>
  /** The line of the patch it begins at, from 1. */
  readonly patchLine: number
}

/** A change of a whole file that is not text, as `git diff --binary` prints it. */
export interface BinaryHunk {
  /** New content, or steps that make it of the old content. */
  readonly method: "literal" | "delta"
  /** Bytes of the data once they are inflated. */
  readonly size: number
  readonly deflated: Uint8Array
  /** Git's object ids of the content before and after. */
  readonly before: string
  readonly after: string
  /** The line of the patch it begins at, from 1. */
  readonly patchLine: number
}

/** A hunk that says where it belongs. */
export interface StatedLine {
  readonly kind: "line"
  /** Index of the first old line, or of the line to insert before. */
  readonly line: number
  /** Corrections made to its header. */
  readonly warning: string | undefined
  /** True when the header counts old lines and the hunk has none: then its line is not to be trusted either. */
  readonly lacksOldLines?: boolean
}

/** A hunk that is found by what it holds, below its anchors. */
export interface ByContent {
  readonly kind: "content"
  readonly anchors: ReadonlyArray<string>
  /** True when the place may be anywhere should an anchor not lead to it, as with the headings that git prints. */
  readonly anchorsAreHints?: boolean
  readonly endsFile: boolean
}

export interface HunkLine {
  readonly sign: " " | "-" | "+"
  readonly text: string
  /** True for a line marked as having no newline. */
  readonly noNewline: boolean
  /** True for a context line that came without its leading space, so that it may be mere padding. */
  readonly isBare: boolean
  /** True for a context line that began with neither a space nor any other sign. */
  readonly isUnsigned?: boolean
}

export const hunkLine = (sign: HunkLine["sign"], text: string): HunkLine => ({
  sign,
  text,
  noNewline: false,
  isBare: false
})

/** Every path that a patch changes, in order, each once. */
export const touchedBy = (sections: ReadonlyArray<PatchSection>): Touches => {
  const reads = new Set<string>()
  const writes = new Set<string>()
  const removes = new Set<string>()
  for (const section of sections) {
    const isMove = section.kind === "update" && section.target !== undefined
    // A link is replaced itself: what it leads to is not written.
    const isReplacedLink = section.kind === "update" && section.isLink === true
    if (section.kind === "delete" || (isMove ? !section.isCopy : isReplacedLink)) removes.add(section.path)
    else if (!isMove) writes.add(section.path)
    if (isMove) writes.add(section.target)
    if (isMove && section.isCopy) reads.add(section.path)
  }
  for (const path of removes) writes.delete(path)
  return { ...(reads.size > 0 && { reads: [...reads] }), writes: [...writes], removes: [...removes] }
}

/** True for all but the directories that are made on the way to a file. */
export const isOfFile = ({ what }: ChangedPath): boolean => what !== "directory"
