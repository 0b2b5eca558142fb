import type { ContentPass } from "./line-views.ts"

/** Where a hunk belongs, or why that can't be told. Lines are counted from 0. */
export type HunkPlacement =
  | {
      readonly kind: "placed"
      /** Index of the hunk's first old line. */
      readonly line: number
      readonly pass: ContentPass | "literal"
      /** Context lines at one side that differ, at most. */
      readonly fuzz: number
    }
  | { readonly kind: "ambiguous"; readonly lines: ReadonlyArray<number> }
  | { readonly kind: "applied"; readonly line: number }
  | { readonly kind: "missing"; readonly anchor?: string; readonly because?: Refusal }

/** Why a place that fits was not taken. */
export type Refusal = "overlap" | "far" | "weak" | "uncertain_line" | "indentation"
