import type { Reply } from "@haft/core"

/** The output of `search_text`. */
export interface Found {
  readonly matches: ReadonlyArray<{ readonly path: string; readonly line: number; readonly content: string }>
  readonly total_matches: number
  readonly truncated: boolean
  readonly timed_out: boolean
  readonly remarks: ReadonlyArray<string>
}

export const resultOf = (reply: Reply): Found => (reply.wire as { result: Found }).result
export const placesOf = (reply: Reply) => resultOf(reply).matches.map(({ path, line }) => `${path}:${line}`)
