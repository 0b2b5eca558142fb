import { type ProgramEnd, runProgram, toolError } from "@haft/core"
import * as Effect from "effect/Effect"

import { filtersOff } from "./filters-off.ts"

export interface GitCommand {
  readonly args: ReadonlyArray<string>
  /** Paths as callers wrote them, taken literally: no wildcards. */
  readonly paths?: ReadonlyArray<string>
  /** Paths from the top of the repository that are left out. */
  readonly leftOut?: ReadonlyArray<string>
  readonly writes?: boolean
  readonly stdin?: string
  /** True if it only reads, and reads the files themselves: then no filter runs, see {@link filtersOff}. */
  readonly comparesFiles?: boolean
  /** Allow access to remotes, over HTTP only and under the host's network policy. Off by default. */
  readonly network?: boolean
  readonly timeoutMs?: number
}

// The configuration of a repository can name programs for git to run, such as a pager or a file monitor. These options
// keep git from running them, and from changing anything on the side.
const harmless = [
  "--no-pager --no-optional-locks",
  "-c core.fsmonitor=false -c core.quotePath=false -c color.ui=false -c gc.auto=0",
  "-c log.showSignature=false"
].flatMap((words) => words.split(" "))

/** Runs git in the sandbox, without network unless it is asked for. If git fails, the error has git's own message. */
export const git = Effect.fnUntraced(function* ({
  args,
  paths = [],
  leftOut = [],
  writes = false,
  stdin,
  comparesFiles = false,
  network = false,
  timeoutMs = 60_000
}: GitCommand) {
  const switchedOff = comparesFiles ? yield* filtersOff : {}
  const end = yield* runProgram({
    program: "git",
    args: [
      ...harmless,
      ...(leftOut.length === 0 ? ["--literal-pathspecs"] : []),
      ...args,
      ...(leftOut.length === 0 ? given(paths) : given(patternsOf(paths, leftOut)))
    ],
    env: {
      GIT_TERMINAL_PROMPT: "0",
      GIT_EDITOR: "true",
      // Objects that a partial clone lacks would be fetched by a program that the repository names.
      GIT_ALLOW_PROTOCOL: network ? "https:http" : "none",
      LC_ALL: "C",
      ...switchedOff
    },
    writable: writes,
    network,
    timeoutMs,
    ...(stdin !== undefined && { stdin })
  })
  if (end.exitCode === 0) return end.stdout.text
  return yield* refused(args[0] ?? "", end)
})

const given = (paths: ReadonlyArray<string>): ReadonlyArray<string> => (paths.length === 0 ? [] : ["--", ...paths])

const patternsOf = (paths: ReadonlyArray<string>, leftOut: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...(paths.length === 0 ? [":(top)"] : paths.map((path) => `:(literal)${path}`)),
  ...leftOut.map((path) => `:(exclude,top,literal)${path}`)
]

/** A git command line, quoted as a person would type it. */
export const commandLine = (...words: ReadonlyArray<string>): string =>
  ["git", ...words]
    .map((word) => (/^[\w@%+=:,./^~-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(" ")

const refused = (command: string, { exitCode, stderr, stdout, timedOut }: ProgramEnd) => {
  if (timedOut) return toolError("timeout", `git ${command} took too long and was stopped`, { retryable: true })
  const words = (stderr.text.trim() || stdout.text.trim()).slice(0, 2000)
  const isRepository = !/not a git repository/i.test(words)
  return toolError(
    "command_failed",
    isRepository ? `git ${command} refused: ${words}` : "this is not a git repository",
    {
      suggestion: isRepository ? "Mend what git names and call again." : "Work in a directory that git keeps.",
      details: { exit_code: exitCode }
    }
  )
}
