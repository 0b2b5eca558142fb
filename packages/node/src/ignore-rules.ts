import ignore from "ignore"

import { findCostlyPart } from "./glob-pattern.ts"

/** What the `.gitignore` files from the workspace down to a directory say. */
export interface IgnoreRules {
  /** The path is relative to the workspace, and nothing above it is ignored. */
  readonly ignores: (path: string, isDirectory: boolean) => boolean
}

export const noRules: IgnoreRules = { ignores: () => false }

/** Adds the `.gitignore` of one directory, given as the prefix of the paths in it; the nearest file has the last word. */
export const withIgnoreFile = (outer: IgnoreRules, prefix: string, content: Uint8Array): IgnoreRules => {
  // A line that could take hours to match is as good as none, and the workspace may be hostile.
  const lines = decoder.decode(content).split(/\r?\n/u)
  const rules = ignore().add(lines.filter((line) => findCostlyPart(line) === undefined))
  return {
    ignores: (path, isDirectory) => {
      const { ignored, unignored } = rules.test(path.slice(prefix.length) + (isDirectory ? "/" : ""))
      return ignored || (!unignored && outer.ignores(path, isDirectory))
    }
  }
}

const decoder = new TextDecoder()
