import { constants } from "node:os"

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
  Workspace
} from "@haft/core"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as z from "zod"

import { CommandMemory } from "../last-command/last-command.ts"
import { ExecSettings } from "../settings.ts"

/** What a reply holds of each stream. The artifact holds more. */
const replyBytes = 100_000
/** The kernel takes no longer argument. */
const longestCommand = 131_071
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
  const { end, sandbox } = yield* runInSandbox(request, `${workspace.root}/${directory}`, timeoutMs, collectors)
  const outcome = outcomeOf(end, timeoutMs, collectors, sandbox)
  const memory = yield* CommandMemory
  yield* memory.remember({ ...outcome, command: request.command, directory, startedAt })
  return outcome
}, Effect.scoped)

/** For replies of contracts that have no field for it: there only where nothing held the command back. */
export const withoutSandbox = z.string().optional().describe("`none` where the command ran without a sandbox")

export const sandboxMark = ({ sandbox }: CommandOutcome): { readonly sandbox?: string } =>
  sandbox.isolated ? {} : { sandbox: sandbox.kind }

/** The same for people. */
export const showMark = (sandbox: string | undefined): string =>
  sandbox === undefined ? "" : "[ran without a sandbox]\n"

/** The words that make a shell run a command line. */
export const shellWords = (command: string): ReadonlyArray<string> => ["sh", "-c", findBash, "sh", command]

// bash where there is one: what models write is written for it.
const findBash = `command -v bash >/dev/null && exec bash -c "$1"; exec sh -c "$1"`

const checkWords = ({
  words,
  env = {},
  stdin = ""
}: CommandRequest): Effect.Effect<void, ToolError<"invalid_params">> => {
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
  const longest = Math.max(
    ...words.map((word) => Buffer.byteLength(word)),
    ...variables.map(([name, value]) => Buffer.byteLength(name + value) + 1)
  )
  if (longest > longestCommand) {
    return toolError("invalid_params", `the command is ${longest} bytes long; at most ${longestCommand} are possible`, {
      suggestion: "Write it to a file first, and run that."
    })
  }
  return words.some((word) => word.includes("\0")) || stdin.includes("\0")
    ? toolError("invalid_params", "the command holds a NUL character, which no program can be given")
    : Effect.void
}

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
      finish: () => ({ ...kept.finish(), path: writer.path, droppedBytes: writer.dropped() }),
      lastLine: () =>
        new TextDecoder()
          .decode(last)
          .trimEnd()
          .split(/[\r\n]/)
          .at(-1) ?? ""
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
  const notFound = exitCode === 127 ? missingProgram.exec(stderr.text)?.[1] : undefined
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

// `bash: line 1: nope: command not found`, `sh: 1: nope: not found`, `bash: line 1: ./nope: No such file or directory`
const missingProgram = /^\S*sh: (?:line )?(?:\d+: )?(.+?): (?:command not found|not found|No such file or directory)$/m
