import { parseArgs } from "node:util"

/** An option of a command, for the parser and for the help. */
export interface Option {
  readonly describe: string
  /** Name of the value in the help; absent for a switch. */
  readonly value?: string
  readonly choices?: ReadonlyArray<string>
  readonly short?: string
}

/**
 * One command of the program. All commands are loaded at the start, so they import heavy modules only when they run.
 */
export interface Subcommand {
  readonly name: string
  readonly summary: string
  /** Arguments after the name: `TOOL [JSON]`. */
  readonly takes?: string
  /** The most words that may follow; absent for any number. */
  readonly atMost?: number
  /** The values of the first argument, for completion. */
  readonly subcommands?: ReadonlyArray<string>
  readonly options?: Readonly<Record<string, Option>>
  readonly examples: ReadonlyArray<string>
  /** A more special help page for these arguments, if there is one: `haft call TOOL --help` is about the tool. */
  readonly explain?: (given: Given) => Promise<string | undefined>
  /** Answers with the exit code. */
  readonly run: (given: Given) => Promise<number>
}

/** A command line that has been read. */
export interface Given {
  readonly version: string
  readonly positionals: ReadonlyArray<string>
  readonly value: (option: string) => string | undefined
  readonly has: (option: string) => boolean
}

/** A wrong command line; the message says what would be right. Ends in exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError"
}

export const commonOptions = {
  workspace: { value: "DIR", describe: "the directory to work in (.)", short: "w" },
  dialect: {
    value: "NAME",
    describe: "the contract to speak (haft)",
    short: "d",
    choices: [
      "haft",
      "agentbench",
      "toolrouter",
      "approvalgate",
      "cliagent",
      "filetools",
      "anthropic",
      "claude-code",
      "codex",
      "gemini-cli",
      "mcp-filesystem",
      "openai"
    ]
  },
  profile: {
    value: "NAME",
    describe: "the tools that models are shown at first: minimal, coding, all (coding)",
    choices: ["minimal", "coding", "all"]
  },
  state: { value: "DIR", describe: "where records, rules and history are kept" },
  mode: {
    value: "MODE",
    describe: "how much runs without a question: plan, ask, accept-edits, auto",
    choices: ["plan", "ask", "accept-edits", "auto"]
  },
  approve: {
    value: "WHO",
    describe: "who answers a question: ask (a person), all (yes), none (no)",
    choices: ["ask", "all", "none"]
  },
  sandbox: {
    value: "NAME",
    describe: "what holds commands back (auto)",
    choices: ["auto", "bubblewrap", "unshare", "docker", "seatbelt", "none"]
  },
  config: { value: "FILE", describe: "a configuration to use, wherever it lies", short: "c" },
  json: { describe: "machine-readable output, and nothing else on stdout" },
  help: { describe: "this text", short: "h" }
} satisfies Readonly<Record<string, Option>>

export const optionsOf = ({ options = {} }: Subcommand): Readonly<Record<string, Option>> => ({
  ...options,
  ...commonOptions
})

/** Options of the command line for settings that the library names in its messages. */
export const optionsForSettings = (settings: ReadonlyArray<string> = []): ReadonlyArray<string> =>
  settings.flatMap((setting) => optionForSetting[setting] ?? [])

const optionForSetting: Readonly<Record<string, string>> = {
  root: "--workspace DIR",
  state: "--state DIR",
  file: "--config FILE"
}

/** Reads what follows the command's name. */
export const read = (command: Subcommand, args: ReadonlyArray<string>, version: string): Given => {
  const options = optionsOf(command)
  const { values, positionals } = parsed(command, args, options)
  for (const [name, { choices }] of Object.entries(options)) {
    const chosen = values[name]
    if (chosen === "") throw new UsageError(`--${name} is empty. See: haft ${command.name} --help`)
    if (choices === undefined || typeof chosen !== "string" || choices.includes(chosen)) continue
    throw new UsageError(`--${name} is one of ${choices.join(", ")}, not '${chosen}'${guess(chosen, choices)}`)
  }
  const [stray] = positionals
  if (stray !== undefined && command.takes === undefined) {
    throw new UsageError(
      `unexpected argument '${stray}': haft ${command.name} takes options only. See: haft ${command.name} --help`
    )
  }
  const beyond = command.atMost === undefined ? undefined : positionals[command.atMost]
  if (beyond !== undefined) {
    throw new UsageError(`unexpected argument '${beyond}'. See: haft ${command.name} --help`)
  }
  const value = (name: string): string | undefined => {
    const given = values[name]
    return typeof given === "string" ? given : undefined
  }
  return { version, positionals, value, has: (name) => values[name] !== undefined }
}

/** Moves the command's name to the front: common options may be typed before it. */
export const nameFirst = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  let at = 0
  for (let word = args[at]; word?.startsWith("-") === true; word = args[at]) {
    const option = Object.entries<Option>(commonOptions).find(
      ([name, { short }]) => word === `--${name}` || word === `-${short}`
    )?.[1]
    at += option?.value === undefined ? 1 : 2
  }
  const name = args[at]
  return name === undefined ? args : [name, ...args.slice(0, at), ...args.slice(at + 1)]
}

interface Parsed {
  readonly values: Readonly<Record<string, unknown>>
  readonly positionals: ReadonlyArray<string>
}

const parsed = (
  command: Subcommand,
  args: ReadonlyArray<string>,
  options: Readonly<Record<string, Option>>
): Parsed => {
  const wanted = Object.entries(options).map(([name, { value, short }]) => [
    name,
    { type: value === undefined ? "boolean" : "string", ...(short !== undefined && { short }) } as const
  ])
  try {
    return parseArgs({ args: [...args], options: Object.fromEntries(wanted), allowPositionals: true, strict: true })
  } catch (cause) {
    const unknown = args.find(
      (arg) => arg.startsWith("--") && !Object.hasOwn(options, arg.slice(2).split("=")[0] ?? "")
    )
    const message = cause instanceof Error ? (cause.message.split(/\.\s/)[0] ?? "") : String(cause)
    const hint = unknown === undefined ? "" : guess(unknown.slice(2), Object.keys(options), "--")
    const isParameter = unknown !== undefined && hint === "" && command.takes?.includes("KEY=VALUE") === true
    const parameter = isParameter ? ` Parameters of a tool are written KEY=VALUE: ${asPair(unknown, args)}.` : ""
    throw new UsageError(`${message}${hint}.${parameter} See: haft ${command.name} --help`, { cause })
  }
}

/** `--path x` and `--path=x` as `path=x`, quoted for a shell where that is needed. */
const asPair = (option: string, args: ReadonlyArray<string>): string => {
  const [key = "", ...value] = option.slice(2).split("=")
  const next = args[args.indexOf(option) + 1] ?? ""
  const text = value.length > 0 ? value.join("=") : next.startsWith("-") ? "" : next
  const pair = `${key.replaceAll("-", "_")}=${text}`
  return /^[\w=./:@%+,-]+$/.test(pair) ? pair : `'${pair.replaceAll("'", String.raw`'\''`)}'`
}

/** " (did you mean …?)" with the most similar of the words, or "" when none is similar. */
export const guess = (typed: string, words: ReadonlyArray<string>, prefix = ""): string => {
  const near = words
    .map((word) => ({ word, distance: distance(typed, word) }))
    .toSorted((one, other) => one.distance - other.distance)[0]
  return near === undefined || near.distance > Math.max(1, typed.length / 3)
    ? ""
    : ` (did you mean ${prefix}${near.word}?)`
}

const distance = (from: string, to: string): number => {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [at, letter] of from.split("").entries()) {
    const next = [at + 1]
    for (let index = 0; index < to.length; index++) {
      const swap = (row[index] ?? 0) + (to[index] === letter ? 0 : 1)
      next.push(Math.min(swap, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}
