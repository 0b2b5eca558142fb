import { visibleLines } from "@haft/core/visible-text"
import { Fragment, useContext, useMemo, useState, useSyncExternalStore } from "react"

import { useSetting } from "../hooks/use-setting.ts"
import { Block } from "../parts.tsx"
import { changedPart } from "./changed-part.ts"
import type { DiffLine, DiffRow } from "./diff-rows.ts"
import { type DiffFile, type DiffHunk, parseDiff, reversed } from "./diff.ts"
import { markedPieces } from "./highlight/tokens.ts"
import { Highlighting, useHighlighting } from "./highlight/use-highlighting.ts"
import { unifiedRows } from "./unified-rows.ts"

/** A diff with more rows is folded: drawing it would make the page slow. */
const manyRows = 2_000

/** Hunks that a person refuses, each as `<path>\n<number from 1>`. */
export interface HunkChoice {
  readonly refused: ReadonlySet<string>
  readonly onChoose: (key: string, isRefused: boolean) => void
}

const hunkKey = (path: string, hunk: number): string => `${path}\n${hunk}`

interface DiffViewProps {
  readonly text: string
  /** Swaps before and after. */
  readonly isReversed?: boolean
  /** Lets a person refuse hunks one by one. */
  readonly choice?: HunkChoice
}

/** A diff: unified, or with the old lines on the left and the new ones on the right. */
export const DiffView = ({ text, isReversed = false, choice }: DiffViewProps) => {
  const files = useMemo(() => {
    const shown = parseDiff(visibleLines(text))
    return isReversed ? reversed(shown) : shown
  }, [text, isReversed])
  const rows = files.reduce((sum, file) => sum + file.hunks.reduce((count, hunk) => count + hunk.rows.length, 0), 0)
  const [isOpen, setIsOpen] = useState(false)
  if (rows === 0) return <Block>{text}</Block>
  if (rows <= manyRows) return <Files files={files} choice={choice} />
  return (
    <details onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>A long diff: {rows.toLocaleString()} lines</summary>
      {isOpen && <Files files={files} choice={choice} />}
    </details>
  )
}

interface FilesProps {
  readonly files: ReadonlyArray<DiffFile>
  readonly choice: HunkChoice | undefined
}

const Files = ({ files, choice }: FilesProps) => {
  const tokens = useHighlighting(files)
  return (
    <Highlighting value={tokens}>
      <FileTables files={files} choice={choice} />
    </Highlighting>
  )
}

const FileTables = ({ files, choice }: FilesProps) => {
  const [layout, setLayout] = useSetting("diff", ["split", "unified"], "split")
  // Below this width no line would fit beside another.
  const isNarrow = useMedia("(max-width: 56.25rem)")
  const isUnified = isNarrow || layout === "unified"
  return (
    <div className="diff">
      {!isNarrow && (
        <label className="diff-layout">
          <span className="for-readers">Layout of diffs</span>
          <select value={layout} onChange={(event) => setLayout(event.target.value as "split" | "unified")}>
            <option value="split">Split</option>
            <option value="unified">Unified</option>
          </select>
        </label>
      )}
      {files.map((file) => (
        <table key={`${file.before}\n${file.after}`} className={isUnified ? "diff-file unified" : "diff-file"}>
          <caption>{nameOf(file.before, file.after)}</caption>
          <colgroup>
            <col className="diff-numbers" />
            {!isUnified && <col />}
            <col className="diff-numbers" />
            <col />
          </colgroup>
          <thead className="for-readers">
            <tr>
              <th scope="col">Line before</th>
              {!isUnified && <th scope="col">Before</th>}
              <th scope="col">Line after</th>
              <th scope="col">{isUnified ? "Change" : "After"}</th>
            </tr>
          </thead>
          {file.hunks.map((hunk, index) => (
            // Hunks and rows have no identity but their index, and are never reordered.
            // oxlint-disable-next-line react/no-array-index-key
            <tbody key={index}>
              {(choice !== undefined || index > 0 || hunk.title !== "") && (
                <tr className="diff-gap">
                  <td colSpan={isUnified ? 3 : 4}>
                    {choice === undefined ? (
                      hunkTitle(hunk)
                    ) : (
                      <ChooseHunk choice={choice} file={file} number={index + 1} title={hunkTitle(hunk)} />
                    )}
                  </td>
                </tr>
              )}
              {isUnified
                ? unifiedRows(hunk.rows).map((row, line) => (
                    // oxlint-disable-next-line react/no-array-index-key
                    <UnifiedRow key={line} row={row} />
                  ))
                : hunk.rows.map((row, line) => (
                    // oxlint-disable-next-line react/no-array-index-key
                    <Row key={line} row={row} />
                  ))}
            </tbody>
          ))}
        </table>
      ))}
    </div>
  )
}

const hunkTitle = ({ title }: DiffHunk): string => (title === "" ? "⋯" : title)

interface ChooseHunkProps {
  readonly choice: HunkChoice
  readonly file: DiffFile
  readonly number: number
  readonly title: string
}

const ChooseHunk = ({ choice, file, number, title }: ChooseHunkProps) => {
  const path = file.after === "/dev/null" ? file.before : file.after
  const key = hunkKey(path, number)
  return (
    <label className="check">
      <input
        type="checkbox"
        checked={!choice.refused.has(key)}
        onChange={(event) => choice.onChoose(key, !event.target.checked)}
      />
      <span>
        Hunk {number}
        <span className="for-readers"> of {path}</span> {title === "⋯" ? "" : title}
      </span>
    </label>
  )
}

const useMedia = (query: string): boolean =>
  useSyncExternalStore(
    (listener) => {
      const list = window.matchMedia(query)
      list.addEventListener("change", listener)
      return () => list.removeEventListener("change", listener)
    },
    () => window.matchMedia(query).matches
  )

const nameOf = (before: string, after: string): string => {
  if (before === after) return after
  if (before === "/dev/null") return `${after} (new)`
  if (after === "/dev/null") return `${before} (deleted)`
  return `${before} → ${after}`
}

const Row = ({ row: { before, after } }: { readonly row: DiffRow }) => {
  const isReplaced = before?.isChanged === true && after?.isChanged === true
  return (
    <tr className={before?.isChanged === true || after?.isChanged === true ? "is-changed" : undefined}>
      <Cells side="before" line={before} other={isReplaced ? after : undefined} />
      <Cells side="after" line={after} other={isReplaced ? before : undefined} />
    </tr>
  )
}

const UnifiedRow = ({ row: { before, after, other } }: { readonly row: ReturnType<typeof unifiedRows>[number] }) => {
  const side = after === undefined ? "before" : "after"
  const line = after ?? before
  const kind = line?.isChanged === true ? side : "same"
  return (
    <tr className={kind === "same" ? undefined : "is-changed"}>
      <td className={`diff-number before ${kind}`}>{before?.number}</td>
      <td className={`diff-number after ${kind}`}>{after?.number}</td>
      <td className={`diff-text ${side} ${kind}`}>
        <Line side={side} line={line} other={other} />
      </td>
    </tr>
  )
}

interface CellsProps {
  readonly side: "before" | "after"
  readonly line: DiffLine | undefined
  readonly other: DiffLine | undefined
}

const Cells = ({ side, line, other }: CellsProps) => {
  const kind = line === undefined ? "nothing" : line.isChanged ? side : "same"
  return (
    <>
      <td className={`diff-number ${side} ${kind}`}>{line?.number}</td>
      <td className={`diff-text ${side} ${kind}`}>
        <Line side={side} line={line} other={other} />
      </td>
    </>
  )
}

const Line = ({ side, line, other }: CellsProps) => (
  <>
    {line?.isChanged === true && <span className="for-readers">{side === "before" ? "removed: " : "added: "}</span>}
    {line !== undefined && <Text line={line} other={other} />}
  </>
)

const Text = ({ line, other }: { readonly line: DiffLine; readonly other: DiffLine | undefined }) => {
  const tokens = useContext(Highlighting).get(line) ?? [{ text: line.text }]
  const changed = other === undefined ? nothing : changedPart(line.text, other.text)
  // Two lines with nothing in common need no mark inside: the whole row is colored.
  const isWhole = changed.start === 0 && changed.end === line.text.length
  return markedPieces(tokens, isWhole ? nothing : changed).map(({ text, kind, isMarked }, index) => {
    const shown = kind === undefined ? text : <span className={`token ${kind}`}>{text}</span>
    // oxlint-disable-next-line react/no-array-index-key -- pieces have no identity but their index
    return isMarked ? <mark key={index}>{shown}</mark> : <Fragment key={index}>{shown}</Fragment>
  })
}

const nothing = { start: 0, end: 0 }
