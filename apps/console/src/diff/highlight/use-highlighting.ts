import { createContext, useEffect, useState } from "react"

import type { DiffLine } from "../diff-rows.ts"
import type { DiffFile } from "../diff.ts"
import { languageOf } from "./language-of.ts"
import type { Token } from "./tokens.ts"

/** Tokens by line, for lines in a language that is known. */
export type LineTokens = ReadonlyMap<DiffLine, ReadonlyArray<Token>>

const none: LineTokens = new Map()

/** Tokens of the diff that is shown. */
export const Highlighting = createContext(none)

/** Lines of files that may be minified have no colors: highlighting one would make the page slow. */
const longestLine = 2_000

/** The tokens of a diff, once they are known. The highlighter is loaded with the first diff that needs it. */
export const useHighlighting = (files: ReadonlyArray<DiffFile>): LineTokens => {
  const [known, setKnown] = useState<{ readonly files: ReadonlyArray<DiffFile>; readonly tokens: LineTokens }>()
  useEffect(() => {
    let isOver = false
    const highlight = async (): Promise<void> => {
      if (!files.some((file) => languageIn(file) !== undefined)) return
      const { highlightLines } = await import("./highlighter.ts")
      if (isOver) return
      const tokens = new Map<DiffLine, ReadonlyArray<Token>>()
      for (const file of files) {
        const language = languageIn(file)
        if (language === undefined) continue
        for (const { rows } of file.hunks) {
          for (const side of ["before", "after"] as const) {
            const lines = rows.flatMap(({ [side]: line }) => (line === undefined ? [] : [line]))
            if (lines.some(({ text }) => text.length > longestLine)) continue
            const found = highlightLines(lines.map(({ text }) => text).join("\n"), language)
            for (const [index, line] of lines.entries()) {
              const own = found?.[index]
              if (own !== undefined) tokens.set(line, own)
            }
          }
        }
      }
      setKnown({ files, tokens })
    }
    // Colors are no reason to fail: without the highlighter a diff is shown as it is.
    highlight().catch(() => undefined)
    return () => {
      isOver = true
    }
  }, [files])
  return known?.files === files ? known.tokens : none
}

const languageIn = ({ before, after }: DiffFile): string | undefined =>
  languageOf(after === "/dev/null" ? before : after)
