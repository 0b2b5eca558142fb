import { constants } from "node:os"
import { stripVTControlCharacters } from "node:util"

import {
  Artifacts,
  type Clipped,
  type Command,
  CurrentCall,
  HeadAndTail,
  Journal,
  type ProcessEnd,
  Processes,
  reportProgress,
  Sandbox,
  toolError,
  type ToolError,
  visibleText,
  Workspace
} from "@haft/core"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { CommandMemory } from "../last-command/last-command.ts"
import { ExecSettings } from "../settings.ts"

/** What a reply holds of each stream. The artifact holds more. */
const replyBytes = 100_000
/** The kernel takes no longer argument, and no more of them together; a sandbox adds some of its own. */
const longestWord = 131_071
const longestCommand = 1_800_000
/** bubblewrap takes 9,000, in which each variable counts for three. */
const mostWords = 8000
/** Node's timers count no further. */
const longestTimeoutMs = 2 ** 31 - 1

export interface CommandRequest {
  /** How the command is called in replies and in the record. */
  readonly command: string
  /** The program and its arguments. */
  readonly words: ReadonlyArray<string>
  readonly directory?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  /** The host's default when absent. */
  readonly timeoutMs?: number | undefined
  readonly stdin?: string | undefined
  readonly network?: boolean
  readonly writable?: boolean
}

/** Everything there is to know about a command that ran. */
export interface CommandOutcome {
  /** 128 + number where a signal ended it. */
  readonly exitCode: number
  readonly signal: string | null
  readonly timedOut: boolean
  readonly timeoutMs: number
  readonly durationMs: number
  readonly stdout: Output
  readonly stderr: Output
  /** Processes that were still there when the command ended. In a sandbox they end with it. */
  readonly leftRunning: number
  /** The program that the shell did not find, where that is why it failed. */
  readonly notFound?: string
  readonly sandbox: { readonly kind: string; readonly isolated: boolean }
}

export interface Output extends Clipped {
  /** The artifact with all of it, up to the host's limit. */
  readonly path: string
  /** Bytes beyond that limit, which nobody has. */
  readonly droppedBytes: number
}

/** Runs a program in the sandbox. A failing command is an outcome; a command that could not run is an error. */
export const runCommand = Effect.fnUntraced(function* (request: CommandRequest) {
  yield* checkWords(request)
  const settings = yield* ExecSettings
  if (request.network === true && settings.network === "never") return yield* noNetwork
  const workspace = yield* Workspace
  const directory = yield* workspace.contain(request.directory ?? ".")
  if ((yield* workspace.info(directory)).kind !== "directory") {
    return yield* toolError("not_a_directory", `${request.directory} is not a directory`, {
      details: { path: request.directory }
    })
  }
  const startedAt = yield* Clock.currentTimeMillis
  const collectors = yield* collect(settings.artifactBytes)
  const timeoutMs = Math.min(request.timeoutMs ?? settings.defaultTimeoutMs, longestTimeoutMs)
  const { end, sandbox } = yield* runInSandbox(request, placeOf(workspace.root, directory), timeoutMs, collectors)
  const outcome = outcomeOf(end, timeoutMs, collectors, sandbox)
  const memory = yield* CommandMemory
  yield* memory.remember({ ...outcome, command: request.command, directory, startedAt })
  return outcome
}, Effect.scoped)

/** For contracts that have no field for it: set only where the command ran without a sandbox. */
export const withoutSandbox = z.string().optional().describe("`none` where the command ran without a sandbox")

export const sandboxMark = ({ sandbox }: CommandOutcome): { readonly sandbox?: string } =>
  sandbox.isolated ? {} : { sandbox: sandbox.kind }

const placeOf = (root: string, directory: string): string => (directory === "." ? root : `${root}/${directory}`)

/** The same for people. */
export const showMark = (sandbox: string | undefined): string =>
  sandbox === undefined ? "" : "[ran without a sandbox]\n"

/** The same at the end of a suggestion. */
export const remarkOn = ({ sandbox }: CommandOutcome): string => (sandbox.isolated ? "" : " It ran without a sandbox.")

/** The words that make a shell run a command line. */
export const shellWords = (command: string): ReadonlyArray<string> => ["sh", "-c", findBash, "sh", command]

// bash where there is one: what models write is written for it. The space is for a command that begins with a hyphen:
// shells take options after `-c` too, and not all know what ends them.
const findBash = `command -v bash >/dev/null && exec bash -c " $1"; exec sh -c " $1"`

const checkWords = ({ words, env = {} }: CommandRequest): Effect.Effect<void, ToolError<"invalid_params">> => {
  const variables = Object.entries(env)
  const bad = variables.find(([name, value]) => name === "" || /[=\0]/.test(name) || value.includes("\0"))
  if (bad !== undefined) {
    return toolError(
      "invalid_params",
      `parameter 'env': '${bad[0].replaceAll("\0", "\\0")}' can't be a variable with this value`,
      {
        details: { parameter: "env" }
      }
    )
  }
  const count = words.length + 3 * variables.length
  if (count > mostWords) {
    return toolError(
      "invalid_params",
      `the command has ${words.length} words and ${variables.length} variables; that is too many`,
      {
        suggestion: "Write them to a file first, and use that."
      }
    )
  }
  const lengths = [...words, ...variables.map(([name, value]) => `${name}=${value}`)].map((word) =>
    Buffer.byteLength(word)
  )
  const longest = lengths.reduce((most, length) => Math.max(most, length), 0)
  if (longest > longestWord) return tooLong(longest, longestWord)
  // Each ends with a NUL, and a pointer leads to it.
  const total = lengths.reduce((sum, length) => sum + length + 9, 0)
  if (total > longestCommand) return tooLong(total, longestCommand)
  return words.some((word) => word.includes("\0"))
    ? toolError("invalid_params", "the command holds a NUL character, which no program can be given")
    : Effect.void
}

const tooLong = (bytes: number, most: number): Effect.Effect<never, ToolError<"invalid_params">> =>
  toolError("invalid_params", `the command is ${bytes} bytes long; at most ${most} are possible`, {
    suggestion: "Write what is long to a file first, and use that."
  })

const noNetwork = toolError("approval_denied", "this host allows commands no network", {
  suggestion: "Do without, or ask the person who runs the host to allow it.",
  details: { by: "policy", parameter: "network" }
})

interface Collector {
  readonly push: (chunk: Uint8Array) => void
  readonly finish: () => Output
  readonly lastLine: () => string
}

const collect = Effect.fnUntraced(function* (capBytes: number) {
  const artifacts = yield* Artifacts
  const { step } = yield* CurrentCall
  const collector = Effect.fnUntraced(function* (stream: "stdout" | "stderr") {
    const name = `logs/tool_step_${String(step).padStart(4, "0")}_${stream}.txt`
    const writer = yield* artifacts.create(name, { capBytes })
    const kept = new HeadAndTail(replyBytes)
    let last = new Uint8Array()
    return {
      push: (chunk) => {
        kept.push(chunk)
        writer.write(chunk)
        last = new Uint8Array(chunk.subarray(-200))
      },
      finish: () => {
        const droppedBytes = writer.dropped()
        const whereabouts = `${droppedBytes === 0 ? "all of it" : "more of it"} is in ${writer.path}`
        return { ...kept.finish(whereabouts), path: writer.path, droppedBytes }
      },
      lastLine: () => {
        const lines = new TextDecoder()
          .decode(last)
          .trimEnd()
          .split(/[\r\n]/)
        // It is shown to people while the command runs, and must not do anything to their screen.
        return visibleText(stripVTControlCharacters(lines.at(-1) ?? ""))
      }
    } satisfies Collector
  })
  return { stdout: yield* collector("stdout"), stderr: yield* collector("stderr") }
})

interface Collectors {
  readonly stdout: Collector
  readonly stderr: Collector
}

const runInSandbox = Effect.fnUntraced(function* (
  request: CommandRequest,
  directory: string,
  timeoutMs: number,
  { stdout, stderr }: Collectors
) {
  const { words, env = {}, stdin, network = false, writable = true } = request
  const [program = "", ...args] = words
  const command: Command = { program, args, directory, env, ...(stdin !== undefined && { stdin }) }
  const sandbox = yield* Sandbox
  const { kind, isolated } = yield* sandbox.describe
  yield* recordSandbox({ kind, isolated })
  const wrapped = yield* sandbox.wrap(command, { network, writable })
  const processes = yield* Processes
  const run = processes.run(wrapped, { timeoutMs, onStdout: stdout.push, onStderr: stderr.push })
  const end = yield* Effect.raceFirst(
    run,
    signsOfLife(() => stdout.lastLine() || stderr.lastLine())
  )
  return { end, sandbox: { kind, isolated } }
})

// Contracts have no field for it, so that a command ran without a sandbox must at least be on record.
const recordSandbox = Effect.fnUntraced(function* (sandbox: CommandOutcome["sandbox"]) {
  const journal = yield* Journal
  const { id, step, tool } = yield* CurrentCall
  yield* journal.append({ type: "sandbox_chosen", request_id: id, step, tool, ...sandbox })
})

const signsOfLife = Effect.fnUntraced(function* (lastLine: () => string) {
  for (let seconds = 1; ; seconds++) {
    yield* Effect.sleep("1 second")
    yield* reportProgress({ message: lastLine() || `running for ${seconds} s`, done: seconds })
  }
})

const outcomeOf = (
  { exitCode, signal, timedOut, durationMs, leftRunning }: ProcessEnd,
  timeoutMs: number,
  collectors: Collectors,
  sandbox: CommandOutcome["sandbox"]
): CommandOutcome => {
  const stderr = collectors.stderr.finish()
  const missing = exitCode === 127 ? missingProgram.exec(stderr.text) : null
  const notFound = missing?.[1] ?? missing?.[2]
  return {
    exitCode: exitCode ?? 128 + (constants.signals[signal as keyof typeof constants.signals] ?? 0),
    signal,
    timedOut,
    timeoutMs,
    durationMs: Math.round(durationMs),
    stdout: collectors.stdout.finish(),
    stderr,
    leftRunning,
    sandbox,
    ...(notFound !== undefined && { notFound })
  }
}

// `bash: line 1: nope: command not found`, `sh: 1: nope: not found`, `bash: line 1: ./nope: No such file or directory`,
// `zsh:1: command not found: nope`, `fish: Unknown command: nope`
const missingProgram =
  /^\S*sh:(?:\d+:)? (?:line )?(?:\d+: )?(?:(?:command not found|no such file or directory|Unknown command): (.+)|(.+?): (?:command not found|not found|No such file or directory))$/m
