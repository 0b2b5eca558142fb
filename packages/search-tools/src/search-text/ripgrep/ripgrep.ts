import { createRequire } from "node:module"

import { type ProcessEnd, Processes, type ToolError, toolError, Workspace, type WorkspaceService } from "@haft/core"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"

import { type Expression, optionsFor } from "./expression.ts"
import { Complaints } from "./ripgrep-errors.ts"

/** Where the ripgrep program is. The one that comes with `@vscode/ripgrep`, unless a host names another. */
export class Ripgrep extends Context.Service<
  Ripgrep,
  { readonly program: Effect.Effect<string, ToolError<"search_unavailable">> }
>()("@haft/search-tools/Ripgrep") {}

/** The ripgrep that was installed with this package, without a look at PATH. */
export const installedRipgrep: Effect.Effect<string, ToolError<"search_unavailable">> = Effect.suspend(() => {
  const binary = `@vscode/ripgrep-${process.platform}-${process.arch}/bin/rg${process.platform === "win32" ? ".exe" : ""}`
  try {
    // The platform's package is a dependency of @vscode/ripgrep, so it is looked for from there.
    const own = createRequire(import.meta.url)
    return Effect.succeed(createRequire(own.resolve("@vscode/ripgrep")).resolve(binary))
  } catch {
    return toolError("search_unavailable", `ripgrep for ${process.platform} ${process.arch} is not installed`, {
      suggestion: "Install again with optional dependencies, or name a ripgrep in the configuration of search-tools."
    })
  }
})

/** Starts a ripgrep and gives the version it says it has: a program can be there and not run. */
export const ripgrepVersion = Effect.fnUntraced(function* (
  program: string
): Effect.fn.Return<string, ToolError<"search_unavailable">, Processes> {
  const processes = yield* Processes
  let said = ""
  const { exitCode, signal, timedOut } = yield* processes
    .run(
      { program, args: ["--no-config", "--version"], directory: process.cwd(), env: {} },
      { timeoutMs: 5000, onStdout: (chunk) => (said = (said + Buffer.from(chunk).toString()).slice(0, 1000)) }
    )
    .pipe(Effect.catch(({ message }) => unusable(program, `can't be started: ${message}`)))
  const [, version] = /^ripgrep (\S+)/u.exec(said) ?? []
  if (exitCode === 0) return version ?? (yield* unusable(program, "is something else"))
  return yield* unusable(program, timedOut ? "does not answer" : `ends with ${signal ?? `exit code ${exitCode}`}`)
})

const unusable = (program: string, problem: string): Effect.Effect<never, ToolError<"search_unavailable">> =>
  toolError("search_unavailable", `ripgrep at ${program} ${problem}`, {
    suggestion: "Install again, or name another ripgrep in the configuration of search-tools."
  })

// Nothing but these decides what is searched: no configuration file, no ignore file outside the workspace,
// no link. Hidden files count, `.git` never does.
// A file that is mapped into memory and then cut short by someone else would end ripgrep with SIGBUS, and without
// limits an expression can bring it to take a gigabyte.
const whatIsSearched = [
  "--no-config",
  "--no-follow",
  "--no-mmap",
  "--dfa-size-limit=32M",
  "--regex-size-limit=32M",
  "--hidden",
  "--no-require-git",
  "--no-ignore-parent",
  "--no-ignore-global",
  "--no-ignore-exclude",
  "--no-ignore-dot",
  "--no-ignore-messages",
  "--glob=!.git",
  "--color=never",
  "--no-heading",
  "--with-filename",
  "--null"
]

export interface RipgrepRun {
  readonly expression: Expression
  /** Options of this run; the caller's text is only ever part of one, after a `=`. */
  readonly options: ReadonlyArray<string>
  /** Paths below the workspace, `.` for all of it. */
  readonly targets: ReadonlyArray<string>
  readonly timeoutMs: number
  /** Takes the output; true when that is enough, and the process ends. */
  readonly onOutput: (chunk: Uint8Array) => boolean
}

/** Bytes that one list on ripgrep's command line may have on every system we know; Windows is the narrow one. */
export const maximumArguments = process.platform === "win32" ? 16_000 : 100_000

/** How many of these bytes an argument takes up. */
export const argumentSize = (argument: string): number => Buffer.byteLength(argument) + 16

export const fitOneList = (args: ReadonlyArray<string>): boolean =>
  args.reduce((sum, argument) => sum + argumentSize(argument), 0) <= maximumArguments

// It keeps a whole line in memory, and a whole ignore file, even one that is a link to something endless.
const addressSpaceBytes = 2 * 1024 ** 3

/** Where a contract has no limit: nothing takes that long. */
export const noLimitMs = 3_600_000

export interface RipgrepEnd {
  readonly timedOut: boolean
  readonly stoppedEarly: boolean
  /** Files and directories that could not be read. */
  readonly unreadable: number
}

export type RipgrepError = ToolError<"search_unavailable" | "search_failed" | "invalid_pattern">

/** Runs ripgrep in the workspace until it ends, has given enough, or is out of time. */
export const runRipgrep = Effect.fnUntraced(function* (
  run: RipgrepRun
): Effect.fn.Return<RipgrepEnd, RipgrepError, Ripgrep | Processes | Workspace> {
  const program = yield* (yield* Ripgrep).program
  const processes = yield* Processes
  const workspace = yield* Workspace
  const enough = yield* Deferred.make<"enough">()
  const complaints = new Complaints()
  const { expression, options, targets, timeoutMs, onOutput } = run
  const command = {
    program,
    args: [
      ...whatIsSearched,
      ...options,
      ...optionsFor(expression),
      "--",
      ...targets.flatMap((path) => targetsOf(workspace, path))
    ],
    directory: workspace.links ?? workspace.root,
    env: {}
  }
  const ended = processes.run(command, {
    timeoutMs,
    addressSpaceBytes,
    onStdout: (chunk) => {
      if (onOutput(chunk)) Deferred.doneUnsafe(enough, Effect.succeed("enough"))
    },
    onStderr: (chunk) => complaints.push(chunk)
  })
  const end = yield* Effect.raceFirst(ended, Deferred.await(enough)).pipe(
    Effect.catch(({ message }) => unavailable(message))
  )
  if (end === "enough") return { timedOut: false, stoppedEarly: true, unreadable: complaints.unreadable }
  yield* check(end, complaints)
  return { timedOut: end.timedOut, stoppedEarly: false, unreadable: complaints.unreadable }
})

const outOfMemory = "ripgrep ran out of memory, on a line or an ignore file of a gigabyte"

export const ranOutOfMemory = ({ message }: RipgrepError): boolean => message === outOfMemory

/** A path as ripgrep is given it. Links are followed when they are named, so all named roots are. */
const targetsOf = ({ roots, links }: WorkspaceService, path: string): ReadonlyArray<string> => {
  if (path !== ".") return [`./${path}`]
  return links === undefined ? ["."] : roots.map(({ name }) => `./${name}`)
}

const unavailable = (reason: string): Effect.Effect<never, ToolError<"search_unavailable">> =>
  toolError("search_unavailable", `ripgrep can't be started: ${reason}`, {
    suggestion: "`haft doctor` says what is missing."
  })

// 0: something matched, 1: nothing did, 2: something went wrong, perhaps only with some files. 126 and 127 are from who
// was to start it.
const check = (end: ProcessEnd, complaints: Complaints): Effect.Effect<void, RipgrepError> => {
  if (end.timedOut || end.exitCode === 0 || end.exitCode === 1) return Effect.void
  if (end.exitCode !== 2 && complaints.isAboutMemory) {
    return toolError("search_failed", outOfMemory, {
      suggestion:
        "Leave such files out with a glob. A .gitignore that is a link may lead to something endless: remove it."
    })
  }
  if (end.exitCode === 126 || end.exitCode === 127) return unavailable("it is no program for this machine")
  if (end.exitCode !== 2) {
    return toolError("search_failed", `ripgrep ended with ${end.signal ?? `exit code ${end.exitCode}`}`, {
      retryable: true
    })
  }
  const { fatal } = complaints
  if (fatal === undefined) return Effect.void
  const [, glob, problem] = /error parsing glob '(.*)': (.*)/su.exec(fatal) ?? []
  if (glob !== undefined) {
    return toolError("invalid_pattern", `invalid glob pattern '${glob}': ${problem}`, {
      suggestion: "Correct the pattern; [*] stands for the character itself."
    })
  }
  return /regex|pattern|not allowed|repetition|unicode|literal/iu.test(fatal)
    ? toolError("invalid_pattern", shortened(fatal), { suggestion: "Correct the pattern, or search for it literally." })
    : toolError("search_failed", `ripgrep failed: ${fatal}`)
}

/** The last line of ripgrep's explanation says what is wrong; those before draw an arrow at it. */
const shortened = (explanation: string): string => {
  const error = /^error: (.*)/mu.exec(explanation)?.[1] ?? explanation.split("\n", 1)[0] ?? ""
  return `invalid regex pattern: ${error.trim()}`
}
