import { type Command, forEachChild, parse, type Script, type SyntaxNode, type Word } from "unbash"

/** A command line, as far as it can be judged without running it. */
export interface ReadCommand {
  /** The words, when it is one simple command without anything the shell would replace. */
  readonly words?: ReadonlyArray<string>
  /** Why it is not, in words. */
  readonly opaque?: string
  /** Every simple command found anywhere in it, for rules that forbid. Words the shell would replace are left as written. */
  readonly inside: ReadonlyArray<ReadonlyArray<string>>
}

// A second opinion, independent of the parser: what could join, redirect, group or substitute is never simple,
// even inside quotes, because the shell that runs it may read quotes differently.
const joining = /[;&|<>$(){}`\n\r]/
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

// Beyond these a command is not worth understanding, and understanding it could take long.
const longestLine = 8192
const deepestNesting = 40

/** Reads a command line with a parser for Bash. Anything it is not sure about is opaque. */
export const readCommand = (line: string): ReadCommand => {
  if (line.length > longestLine) return { opaque: "it is too long to be read", inside: [] }
  const script = parse(line)
  const inside = commandsIn(script)
  if (script.errors !== undefined && script.errors.length > 0)
    return { opaque: "it can't be read as a command", inside }
  if (unprintable.test(line)) return { opaque: "it contains control characters", inside }
  if (joining.test(line)) return { opaque: "it is more than one simple command", inside }
  const [statement] = script.commands
  if (statement === undefined || script.commands.length > 1 || statement.command.type !== "Command") {
    return { opaque: "it is not one simple command", inside }
  }
  const { command } = statement
  if (command.prefix.length > 0) return { opaque: "it sets variables for the command", inside }
  if (line.slice(command.end).trim() !== "") return { opaque: "something follows the command", inside }
  const words = [command.name, ...command.suffix]
  if (!words.every(isPlainWord)) return { opaque: "the shell would replace some of its words", inside }
  return { words: words.map(({ value }) => value), inside }
}

const programs: Readonly<Record<string, string>> = {
  interpreter:
    "sh bash dash zsh ksh fish csh tcsh busybox node nodejs deno bun python python2 python3 pypy perl ruby irb php lua luajit tclsh Rscript R julia guile awk gawk mawk sed ed ex vi vim nvim emacs osascript pwsh powershell cmd java jshell scala groovy erl iex elixir ghci sqlite3 psql mysql gdb lldb m4 make gmake ninja just npx pnpx bunx tsx ts-node uvx pipx",
  wrapper:
    "sudo doas su runuser pkexec env xargs parallel find fd timeout nice ionice nohup setsid stdbuf time watch strace ltrace script expect unbuffer chroot unshare nsenter bwrap firejail docker podman kubectl ssh rsync scp tmux screen at batch crontab systemd-run flock chrt taskset command builtin exec eval source . trap alias start-stop-daemon git-shell entr"
}

const kinds = new Map(
  Object.entries(programs).flatMap(([kind, names]) => names.split(" ").map((name) => [name, kind] as const))
)

/** `interpreter` or `wrapper` for a program that runs what its arguments say; undefined for others. */
export const runsOthers = (words: ReadonlyArray<string>): string | undefined => {
  const name = (words[0] ?? "").split(/[/\\]/).at(-1)?.toLowerCase() ?? ""
  const bare = name.replace(/\.(?:exe|cmd|bat|com|ps1)$/, "")
  return kinds.get(bare) ?? kinds.get(bare.replace(/[\d.]+$/, ""))
}

const commandsIn = (script: Script): ReadonlyArray<ReadonlyArray<string>> => {
  const found: Array<ReadonlyArray<string>> = []
  const visit = (node: SyntaxNode, depth: number): void => {
    if (node.type === "Command") found.push(wordsOf(node))
    if (depth < deepestNesting) forEachChild(node, (child) => visit(child, depth + 1))
  }
  visit(script, 0)
  return found
}

const wordsOf = (command: Command): ReadonlyArray<string> =>
  [command.name, ...command.suffix].flatMap((part) => (part?.type === "Word" ? [part.value] : []))

const isPlainWord = (part: Command["suffix"][number] | Command["name"]): part is Word => {
  if (part?.type !== "Word" || /^~|=~|^=/.test(part.text)) return false
  return (part.parts ?? []).every(
    (piece) =>
      piece.type === "Literal" ||
      piece.type === "SingleQuoted" ||
      (piece.type === "DoubleQuoted" && piece.parts.every((inner) => inner.type === "Literal"))
  )
}
