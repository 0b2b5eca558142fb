import { type ChangedPath, singleLine } from "@haft/core"

/** A warning for each file that had other names: they keep what it held before, because one may lie outside. */
export const linkWarnings = (changes: ReadonlyArray<ChangedPath>): ReadonlyArray<string> =>
  changes.flatMap(({ path, movedTo, otherNames = 0 }) =>
    otherNames === 0
      ? []
      : [
          `${singleLine(movedTo ?? path)} was a hard link: its ${otherNames} other name${otherNames === 1 ? " keeps" : "s keep"} the old content`
        ]
  )
