import { visibleLines } from "@haft/core/visible-text"
import { useMemo, useState } from "react"

import { Block } from "../parts.tsx"
import { changedPart } from "./changed-part.ts"
import type { DiffLine, DiffRow } from "./diff-rows.ts"
import { type DiffFile, parseDiff, reversed } from "./diff.ts"

/** A diff with more rows is folded: drawing it would make the page slow. */
const manyRows = 2_000

interface DiffViewProps {
  readonly text: string
  /** Swaps before and after. */
  readonly isReversed?: boolean
}

/** A diff with the old lines on the left and the new ones on the right. */
export const DiffView = ({ text, isReversed = false }: DiffViewProps) => {
  const files = useMemo(() => {
    const shown = parseDiff(visibleLines(text))
    return isReversed ? reversed(shown) : shown
  }, [text, isReversed])
  const rows = files.reduce((sum, file) => sum + file.hunks.reduce((count, hunk) => count + hunk.rows.length, 0), 0)
  const [isOpen, setIsOpen] = useState(false)
  if (rows === 0) return <Block>{text}</Block>
  if (rows <= manyRows) return <Files files={files} />
  return (
    <details onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>A long diff: {rows.toLocaleString()} lines</summary>
      {isOpen && <Files files={files} />}
    </details>
  )
}

const Files = ({ files }: { readonly files: ReadonlyArray<DiffFile> }) => (
  <div className="diff">
    {files.map((file) => (
      <table key={`${file.before}\n${file.after}`} className="diff-file">
        <caption>{nameOf(file.before, file.after)}</caption>
        <colgroup>
          <col className="diff-numbers" />
          <col />
          <col className="diff-numbers" />
          <col />
        </colgroup>
        <thead className="for-readers">
          <tr>
            <th scope="col">Line before</th>
            <th scope="col">Before</th>
            <th scope="col">Line after</th>
            <th scope="col">After</th>
          </tr>
        </thead>
        {file.hunks.map((hunk, index) => (
          // Hunks and rows have no identity but their index, and are never reordered.
          // oxlint-disable-next-line react/no-array-index-key
          <tbody key={index}>
            {(index > 0 || hunk.title !== "") && (
              <tr className="diff-gap">
                <td colSpan={4}>{hunk.title === "" ? "⋯" : hunk.title}</td>
              </tr>
            )}
            {hunk.rows.map((row, line) => (
              // oxlint-disable-next-line react/no-array-index-key
              <Row key={line} row={row} />
            ))}
          </tbody>
        ))}
      </table>
    ))}
  </div>
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
        {line?.isChanged === true && <span className="for-readers">{side === "before" ? "removed: " : "added: "}</span>}
        {line !== undefined && <Text line={line} other={other} />}
      </td>
    </>
  )
}

const Text = ({ line, other }: { readonly line: DiffLine; readonly other: DiffLine | undefined }) => {
  if (other === undefined) return line.text
  const { start, end } = changedPart(line.text, other.text)
  // Two lines with nothing in common need no mark inside: the whole row is colored.
  if (start === 0 && end === line.text.length) return line.text
  return (
    <>
      {line.text.slice(0, start)}
      <mark>{line.text.slice(start, end)}</mark>
      {line.text.slice(end)}
    </>
  )
}
