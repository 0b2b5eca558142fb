import { relative, resolve, sep } from "node:path"

import { singleLine } from "@haft/core/visible-text"
import type { CallPreview, HaftConfig, JsonSchema, Reply, ToolDescription, ToolError } from "haft/internal"
import type { OpenHost } from "haft/promise"

import { readArguments } from "../arguments.ts"
import { type Subcommand, type Given, guess, UsageError } from "../command.ts"
import { withHost } from "../host.ts"
import { withSpinner } from "../spinner.ts"
import { forScreen, note, print, printJson, styled } from "../terminal.ts"

export const call: Subcommand = {
  name: "call",
  summary: "call one tool",
  takes: "TOOL [JSON | @FILE | - | KEY=VALUE …]",
  options: {
    "dry-run": { describe: "show what the call would touch and change, and whether it would ask", short: "n" }
  },
  examples: [
    `haft call read_file '{"path":"README.md"}'`,
    "haft call read_file path=README.md start_line=1 end_line=5",
    "haft call write_file path=notes.md content=@draft.md --approve all",
    "git diff | haft call apply_patch patch=-",
    "haft call write_file @arguments.json --approve all",
    "haft call edit_file - --json < arguments.json",
    "haft call edit_file --help"
  ],
  explain: async (given) => {
    const [name] = given.positionals
    return name === undefined ? undefined : withHost(given, { onlyTool: name }, (host) => pageAbout(host, name))
  },
  run: (given) => {
    const [name, ...typed] = given.positionals
    if (name === undefined) throw new UsageError("missing tool name. Run: haft tools")
    return withHost(given, { onlyTool: name, upwards: true }, async (host, config) => {
      const root = resolve(config.root ?? ".")
      const schema = find(host.tools, name)?.inputSchema
      const written = await readArguments(typed, () => schema)
      const args = given.has("workspace") ? written : await fromHere(root, written, schema)
      if (given.has("dry-run")) return dryRun(host, name, args, given)
      const reply = await callIt(host, name, args)
      const hasSucceeded = reply.ok && (host.dialect.isSuccess?.(reply.output as Fields) ?? true)
      if (given.has("json")) printJson(host.dialect.print?.(name, reply.wire) ?? reply.wire)
      else if (process.stdout.isTTY || host.dialect.hasHumanFormat === true) printReply(name, reply, root, hasSucceeded)
      else if (reply.ok) print(reply.text)
      else note(reply.text)
      for (const change of reply.adjusted) note(`haft: ${change}`)
      if (reply.error !== undefined) await noteHints(reply.error, { host, name, args, root, config })
      return hasSucceeded ? 0 : 1
    })
  }
}

type Fields = Readonly<Record<string, unknown>>

/** Arguments typed in a directory of the workspace, as arguments for the workspace. */
const fromHere = async (root: string, args: unknown, schema: JsonSchema | undefined): Promise<unknown> => {
  const below = relative(root, process.cwd())
  if (below === "" || below.startsWith("..")) return args
  const { pathsFrom } = await import("haft/internal")
  return pathsFrom(below.split(sep).join("/"), args, schema)
}

interface Refused {
  readonly host: OpenHost
  readonly name: string
  readonly args: unknown
  readonly root: string
  readonly config: HaftConfig
}

/** Says on stderr what the person may have meant, or can do. */
const noteHints = async (error: ToolError, { host, name, args, root, config }: Refused): Promise<void> => {
  if (error.code === "approval_denied") return noteHow(await ruleAgainst(host, name, args), config)
  if (error.code === "unknown_tool") {
    const names = host.tools.map((tool) => tool.name)
    return note(`haft: unknown tool '${name}'${guess(name, names)}. Run: haft tools`)
  }
  if (error.code === "invalid_params") {
    const known = Object.keys(find(host.tools, name)?.inputSchema["properties"] ?? {})
    const wrong = Object.keys(args ?? {}).find((key) => !known.includes(key))
    const near = wrong === undefined ? "" : guess(wrong, known)
    return note(`haft: its parameters are listed by: haft call ${name} --help${near}`)
  }
  const { path } = (args ?? {}) as { path?: unknown }
  if (error.code !== "file_not_found" || typeof path !== "string") return
  const { pathsBeside } = await import("haft/internal")
  const near = guess(path, await pathsBeside(root, path))
  if (near !== "") note(`haft: ${path} is not there${near}`)
}

const pageAbout = async ({ tools }: OpenHost, name: string): Promise<string> => {
  const { toolPage } = await import("../tool-page.ts")
  const tool = find(tools, name)
  if (tool !== undefined) return forScreen(process.stdout, toolPage(tool))
  const near = guess(
    name,
    tools.map((one) => one.name)
  )
  throw new UsageError(`unknown tool '${name}'${near}. Run: haft tools`)
}

const ruleAgainst = (host: OpenHost, name: string, args: unknown): Promise<string | undefined> =>
  host.preview(name, args).then(
    ({ verdict: { decision, rule } }) => (decision === "deny" ? rule : undefined),
    () => undefined
  )

// Says what can be done about a call that was refused, by this rule or by nobody's approval.
const noteHow = (rule: string | undefined, { approval = "ask" }: HaftConfig): void => {
  if (rule !== undefined) return note(`haft: to change that${waysToChange(rule)}`)
  if (approval === "all") return note("haft: rules hold whatever --approve says; see them with: haft rules list")
  if (process.stdin.isTTY) return
  note("haft: approve it with --approve all, or allow calls like it by a rule: haft rules add")
}

// A rule may have a name with characters that mean something to a shell: no command to be pasted is made from it.
const waysToChange = (rule: string): string =>
  /[^\w.:-]/.test(rule)
    ? ", see: haft rules list"
    : `: haft rules list, haft rules replace ${rule} RULE, or haft rules disable ${rule}`

const find = (tools: ReadonlyArray<ToolDescription>, name: string): ToolDescription | undefined =>
  tools.find((tool) => tool.name === name || tool.name.replaceAll(".", "_") === name)

const callIt = async (host: OpenHost, name: string, args: unknown): Promise<Reply> => {
  const controller = new AbortController()
  const stop = (): void => controller.abort(new Interrupted())
  process.once("SIGINT", stop).once("SIGTERM", stop)
  try {
    return await withSpinner(name, (tell) =>
      host.call(name, args, { signal: controller.signal, onProgress: ({ message }) => tell(message) })
    )
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop)
  }
}

const printReply = (name: string, reply: Reply, root: string, hasSucceeded: boolean): void => {
  const { ok, writes, durationMs } = reply
  const text = forScreen(process.stdout, reply.text)
  const mark = hasSucceeded ? styled(process.stdout, "green", "✓") : styled(process.stdout, "red", "✗")
  const [first = "", ...others] = text.trimEnd().split("\n")
  // Several lines without a headline, such as the content of a file, are printed below the tool's name.
  const isHeadline = !ok || others.length === 0 || first.endsWith(":")
  print(isHeadline ? [`${mark} ${first}`, ...others].join("\n") : `${mark} ${name}\n${text}`)
  if (ok)
    for (const path of writes) print(dim(`  Location: ${forScreen(process.stdout, singleLine(resolve(root, path)))}`))
  print(dim(`  Time: ${Math.round(durationMs)}ms`))
}

const dim = (text: string): string => styled(process.stdout, "dim", text)

const dryRun = async (host: OpenHost, name: string, args: unknown, given: Given): Promise<number> => {
  const { isToolError } = await import("haft/promise")
  try {
    const preview = await host.preview(name, args)
    if (given.has("json")) printJson(preview)
    else printPreview(preview)
    return 0
  } catch (cause) {
    if (!isToolError(cause)) throw cause
    const { code, message, suggestion } = cause
    if (given.has("json")) printJson({ error: { code, message, ...(suggestion !== undefined && { suggestion }) } })
    else
      note(
        forScreen(process.stderr, [`✗ ${message}`, ...(suggestion === undefined ? [] : [`  ${suggestion}`])].join("\n"))
      )
    return 1
  }
}

const wouldBe = { allow: "not ask", ask: "ask first", deny: "be refused" } as const

const printPreview = ({ tool, facts, verdict, diff }: CallPreview): void => {
  const lines = [
    `${tool} (${facts.risk}) would ${wouldBe[verdict.decision]}: ${singleLine(verdict.reason)}`,
    ...facts.reads.map((path) => `  read   ${singleLine(path)}`),
    ...facts.writes.map(({ path, exists }) => `  ${exists ? "change" : "create"} ${singleLine(path)}`),
    ...(facts.runs === undefined
      ? []
      : [`  run    ${singleLine(facts.runs)}${facts.network === true ? " (with the network)" : ""}`]),
    ...(facts.fetches === undefined ? [] : [`  fetch  ${singleLine(facts.fetches)}`]),
    ...(facts.types === undefined ? [] : [`  type into terminal ${facts.types.terminal}`]),
    ...(diff === undefined || diff === "" ? [] : [`\n${diff}`])
  ]
  print(forScreen(process.stdout, lines.join("\n")))
}

/** Ctrl-C ended a call, which is recorded. The program exits with 130, as shells expect of interrupted programs. */
export class Interrupted extends Error {
  override readonly name = "Interrupted"
}
