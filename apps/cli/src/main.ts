import {
  type Subcommand,
  commonOptions,
  guess,
  nameFirst,
  type Option,
  optionsForSettings,
  optionsOf,
  read,
  UsageError
} from "./command.ts"
import { call, Interrupted } from "./commands/call.ts"
import { cluster } from "./commands/cluster.ts"
import { completionFor } from "./commands/completion.ts"
import { config } from "./commands/config.ts"
import { contract } from "./commands/contract.ts"
import { doctor, printFindings } from "./commands/doctor.ts"
import { mcp } from "./commands/mcp.ts"
import { plugin } from "./commands/plugin.ts"
import { rules } from "./commands/rules.ts"
import { serve } from "./commands/serve.ts"
import { token } from "./commands/token.ts"
import { tools } from "./commands/tools.ts"
import { branch } from "./commands/workspace/branch.ts"
import { log } from "./commands/workspace/log.ts"
import { quarantine } from "./commands/workspace/quarantine.ts"
import { replay } from "./commands/workspace/replay.ts"
import { state } from "./commands/workspace/state.ts"
import { undo } from "./commands/workspace/undo.ts"
import { configOf } from "./host.ts"
import { table, wrapped } from "./table.ts"
import { forScreen, lostOutput, note, print, styled } from "./terminal.ts"

const working: ReadonlyArray<Subcommand> = [
  tools,
  call,
  mcp,
  serve,
  cluster,
  state,
  token,
  rules,
  log,
  undo,
  branch,
  quarantine,
  replay,
  plugin,
  contract,
  config,
  doctor
]
const commands = [...working, completionFor(working)]

/** Runs the program; answers with its exit code. */
export const main = async (args: ReadonlyArray<string>, version: string): Promise<number> => {
  try {
    const code = await run(args, version)
    const lost = lostOutput()
    if (lost !== undefined) throw new UsageError(`not all of the output could be written: ${lost.message}`)
    return code
  } catch (cause) {
    return explain(cause)
  }
}

const run = async (args: ReadonlyArray<string>, version: string): Promise<number> => {
  const [name, ...rest] = nameFirst(args)
  if (name === undefined && process.stdout.isTTY) return welcome(version)
  if (name === undefined || name === "help" || name === "--help" || name === "-h") return help(rest[0])
  if (name.startsWith("-")) throw new UsageError("missing command. Run: haft --help")
  const command = commandNamed(name)
  const given = read(command, rest, version)
  if (!given.has("help")) return command.run(given)
  print((await command.explain?.(given)) ?? pageOf(command))
  return 0
}

const commandNamed = (name: string): Subcommand => {
  const found = commands.find((command) => command.name === name)
  if (found !== undefined) return found
  const names = commands.map((command) => command.name)
  const near = guess(name, names)
  const asTool = near === "" && /^[a-z]+[_.][\w.]+$/.test(name) ? ` Tools are called with: haft call ${name}.` : ""
  throw new UsageError(`unknown command '${name}'${near}.${asTool} Commands: ${names.join(", ")}`)
}

/** Prints what is wrong and how to mend it, and returns the exit code. Of a bug the stack is shown with HAFT_DEBUG. */
export const explain = (cause: unknown): number => {
  if (cause instanceof Interrupted) return 130
  const error = cause instanceof Error ? cause : new Error(String(cause))
  // The `name` of a StateError is that of its document, so its kind is told by the tag.
  const kind = "_tag" in error ? error._tag : error.name
  const haft = styled(process.stderr, "red", "haft:")
  if (["UsageError", "ConfigError", "PluginError", "ToolError", "StateError"].includes(String(kind))) {
    note(`${haft} ${forScreen(process.stderr, error.message)}`)
    if ("suggestion" in error && typeof error.suggestion === "string")
      note(`  ${forScreen(process.stderr, error.suggestion)}`)
    const options = optionsFor(error)
    if (options.length > 0) note(`  On the command line: ${options.join(" or ")}`)
  } else if ("syscall" in error && error.syscall === "uv_cwd") {
    note(`${haft} the current directory is gone\n  Go to one that is there.`)
  } else {
    note(`${haft} internal error: ${forScreen(process.stderr, error.message)}`)
    note(isDebugged() ? String(error.stack) : "  This is a bug in haft or in a plugin. HAFT_DEBUG=1 shows the stack.")
  }
  return 2
}

const optionsFor = (error: Error): ReadonlyArray<string> => {
  const { details } = error as { details?: { settings?: ReadonlyArray<string> } }
  return optionsForSettings(details?.settings)
}

const isDebugged = (): boolean => (process.env["HAFT_DEBUG"] ?? "") !== ""

// For somebody who types just `haft` in a terminal: what works here, then the commands.
const welcome = async (version: string): Promise<number> => {
  const [{ config }, { examine }] = await Promise.all([configOf(read(doctor, [], version)), import("haft/internal")])
  const findings = await examine(config, { briefly: true })
  printFindings(findings.map(({ enforced: _leftOut, ...finding }) => finding))
  print("\n")
  return help(undefined)
}

const help = (name: string | undefined): number => {
  print(name === undefined ? overview() : pageOf(commandNamed(name)))
  return 0
}

/** Every page of the help, for the docs. */
export const commandReference = (): string =>
  [["haft", overview()], ...commands.map((command) => [`haft ${command.name}`, pageOf(command)])]
    .map(([title, page]) => `## ${title}\n\n\`\`\`text\n${page}\`\`\``)
    .join("\n\n")

const overview = (): string => `haft: the tool layer for AI agents

Usage: haft COMMAND [options]

${indent(
  table(
    commands.map(({ name, summary }) => [name, summary]),
    fitting
  )
)}

Options of every command:
${optionTable(commonOptions)}
      --version        the version

Examples:
${indent(["haft tools", ...commands.map(({ examples }) => examples[0] ?? "").slice(1)].join("\n"))}

More about a command: haft COMMAND --help
`

const pageOf = (command: Subcommand): string => `${wrapped(`haft ${command.name}: ${command.summary}`, 2)}

${wrapped(`Usage: haft ${[command.name, command.takes, "[options]"].filter((part) => part !== undefined).join(" ")}`, 7)}

${optionTable(optionsOf(command))}

Examples:
${indent(command.examples.join("\n"))}
`

const optionTable = (options: Readonly<Record<string, Option>>): string =>
  indent(
    table(
      Object.entries(options).map(([name, { value, describe, short }]) => [
        `${short === undefined ? "    " : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`,
        describe
      ]),
      fitting
    )
  )

/** On a narrow terminal, help texts are wrapped and not cut. */
const fitting = { margin: 2, goesOn: true }

const indent = (text: string): string => text.replaceAll(/^(?=.)/gm, "  ")
