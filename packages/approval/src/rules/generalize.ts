import type { Facts } from "@haft/core"

import { readCommand, runsOthers } from "../matching/parse-command.ts"
import type { TouchConditions } from "./rule.ts"

/** Conditions that cover a call, with how wide they are. */
export interface Generalization {
  readonly width: "command" | "command-prefix" | "page" | "host" | "files" | "directory"
  readonly touches: TouchConditions
}

/**
 * Conditions that cover what a call touches, from narrow to broad: what was touched itself, then the directories above
 * it, but never the whole workspace. None for what is typed, for opaque commands and for protected paths.
 */
export const generalize = (facts: Facts): ReadonlyArray<Generalization> => {
  const { reads, writes, runs, network, fetches, types } = facts
  if (types !== undefined) return []
  if (runs !== undefined) {
    if (writes.length > 0 || fetches !== undefined || reads.some(hasWildcards)) return []
    const where = {
      ...(network !== undefined && { network }),
      ...(reads.every((path) => path === ".") ? {} : { reads: [...reads] })
    }
    return commandsIn(runs).map(({ width, commands }) => ({
      width,
      touches: { runs: commands.length === 1 ? (commands[0] ?? "") : [...commands], ...where }
    }))
  }
  if (fetches !== undefined) {
    const url = URL.parse(fetches)
    if (url === null || url.host === "" || writes.length > 0) return []
    const page = `${url.origin}${url.pathname}`
    const host = { width: "host", touches: { fetches: url.host } } as const
    return url.search === "" && !hasWildcards(page) ? [{ width: "page", touches: { fetches: page } }, host] : [host]
  }
  if (writes.length === 0 || writes.some(({ path, isProtected }) => isProtected || hasWildcards(path))) return []
  const paths = [...new Set(writes.map(({ path }) => path))]
  return [
    { width: "files", touches: { writes: paths } },
    ...sharedDirectories(paths).map((directory) => ({
      width: "directory" as const,
      touches: { writes: `${directory}/**` }
    }))
  ]
}

/** A simple command, or the parts of a compound one: exactly, and with any further words after each subcommand. */
const commandsIn = (line: string) => {
  const { words, parts } = readCommand(line)
  const commands = words === undefined ? (parts ?? []).map((part) => part.words) : [words]
  if (commands.length === 0 || !commands.every(isPlain)) return []
  const exact = [...new Set(commands.map((command) => command.join(" ")))]
  const open = [...new Set(commands.map((command) => prefixOf(command) ?? command.join(" ")))]
  return [
    { width: "command", commands: exact } as const,
    ...(open.some((command) => command.endsWith(" **")) ? [{ width: "command-prefix", commands: open } as const] : [])
  ]
}

const isPlain = (words: ReadonlyArray<string>): boolean =>
  runsOthers(words) === undefined && !words.some((word) => /[*\s]/.test(word) || word === "")

/** `npm test **`, `npm run build **`; none for a command without a subcommand. */
const prefixOf = ([program = "", ...rest]: ReadonlyArray<string>): string | undefined => {
  const named = rest.slice(0, rest[0] === "run" ? 2 : 1)
  const isNamed = named.length > 0 && named.every((word) => /^[a-z][a-z0-9:-]*$/.test(word)) && named.at(-1) !== "run"
  return isNamed ? [program, ...named, "**"].join(" ") : undefined
}

const hasWildcards = (path: string): boolean => /[*?[\]{}\\]/.test(path)

const sharedDirectories = (paths: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [first = "", ...others] = paths
  const parts = first.split("/").slice(0, -1)
  const above = parts.map((_, place) => parts.slice(0, parts.length - place).join("/"))
  return above.filter((directory) => others.every((path) => path.startsWith(`${directory}/`)))
}
