import { posix } from "node:path"

import { type Command, forEachChild, parse, type Script, type SyntaxNode, type Word } from "unbash"

/** A command line, as far as it can be judged without running it. */
export interface ReadCommand {
  /** The words, when it is one simple command without anything the shell would replace. */
  readonly words?: ReadonlyArray<string>
  /** Its simple commands, when it is several of them joined by `&&`, `||`, `;` or `|`: each can be judged by itself. */
  readonly parts?: ReadonlyArray<SimpleCommand>
  /** Why it is neither, in words. */
  readonly opaque?: string
  /** Every simple command found anywhere in it, for rules that forbid. Words the shell would replace are left as written. */
  readonly inside: ReadonlyArray<ReadonlyArray<string>>
}

/** One command of a compound command line. */
export interface SimpleCommand {
  readonly line: string
  readonly words: ReadonlyArray<string>
}

// A second opinion, independent of the parser: what could join, redirect, group or substitute is never simple,
// even inside quotes, because the shell that runs it may read quotes differently.
const joining = /[;&|<>$(){}`\n\r]/
// A space that is not the plain one separates words for some shells and not for others.
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u

// Beyond these a command is not worth understanding, and understanding it could take long.
const longestLine = 8192
const deepestNesting = 40
const mostOpenings = 256

const mostParts = 16

// What these do outlasts them: the commands after one run in another directory, with other variables or another meaning.
const changesShell = new Set(
  "cd pushd popd dirs export declare typeset local readonly set unset shopt alias unalias trap umask ulimit read mapfile readarray getopts let enable hash exec eval source . command builtin".split(
    " "
  )
)

/** Reads a command line with a parser for Bash. Anything it is not sure about is opaque. */
export const readCommand = (line: string): ReadCommand => {
  const read = readSimple(line)
  const parts = read.words === undefined ? partsOf(line, read.inside) : undefined
  return parts === undefined ? read : { parts, inside: read.inside }
}

/**
 * The simple commands of a compound line. The line is cut as text, quotes or not, and every piece must be a simple command:
 * a piece that was cut out of quotes is none. The parser must have seen the same commands.
 */
const partsOf = (line: string, inside: ReadCommand["inside"]): ReadonlyArray<SimpleCommand> | undefined => {
  const pieces = line.split(/(&&|\|\||;|\|)/)
  if (pieces.length < 3 || pieces.length > 2 * mostParts) return undefined
  const parts: Array<SimpleCommand> = []
  for (let place = 0; place < pieces.length; place += 2) {
    const piece = (pieces[place] ?? "").trim()
    const { words } = readSimple(piece)
    if (words === undefined || changesShell.has(words[0] ?? "")) return undefined
    // What is piped into an interpreter is a program.
    if (pieces[place - 1] === "|" && runsOthers(words) !== undefined) return undefined
    parts.push({ line: piece, words })
  }
  return JSON.stringify(parts.map(({ words }) => words)) === JSON.stringify(inside) ? parts : undefined
}

const readSimple = (line: string): ReadCommand => {
  if (line.length > longestLine) return { opaque: "it is too long to be read", inside: [] }
  if ((line.match(/[({[`$<]/g)?.length ?? 0) > mostOpenings) {
    return { opaque: "it is too tangled to be read", inside: [] }
  }
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
    "sh ash bash rbash dash zsh ksh mksh fish csh tcsh nu xonsh elvish busybox toybox node nodejs deno bun python ipython pypy perl ruby irb php lua luajit tclsh wish Rscript R julia octave guile racket sbcl clisp ocaml awk gawk mawk nawk sed ed ex vi vim view vimdiff nvim emacs emacsclient nano osascript pwsh powershell cmd wscript cscript mshta rundll32 java jshell scala groovy kotlin swift erl iex elixir ghci runghc runhaskell sqlite3 psql mysql mongo mongosh gdb lldb m4 bc dc less more man make gmake cmake ninja meson just task rake gradle gradlew ant mvn mvnw scons bazel npx pnpx bunx tsx ts-node uvx pipx nodemon",
  wrapper:
    "sudo sudoedit doas su runuser pkexec gosu su-exec sg newgrp setpriv capsh env cross-env dotenv xargs parallel find fd fdfind timeout nice ionice renice nohup setsid setarch linux32 linux64 i386 numactl prlimit cpulimit choom stdbuf time watch chronic hyperfine strace ltrace perf valgrind script expect unbuffer rlwrap chroot unshare nsenter proot fakeroot fakechroot faketime bwrap firejail toolbox distrobox flatpak snap docker podman nerdctl buildah lxc machinectl kubectl oc vagrant wsl ssh sshpass mosh rsync scp sftp telnet nc ncat netcat socat tmux screen at batch crontab systemd-run start-stop-daemon daemonize flock chrt taskset dbus-run-session xvfb-run ssh-agent ld.so command builtin exec eval source . trap alias enable hash complete bind mapfile readarray coproc git-shell entr concurrently pm2 forever xdg-open open"
}

const kinds = new Map(
  Object.entries(programs).flatMap(([kind, names]) => names.split(" ").map((name) => [name.toLowerCase(), kind]))
)

// Programs that run what their arguments say when their subcommand is one of these.
const subcommands: ReadonlyMap<string, RegExp> = new Map([
  ["npm", /^(?:exec|x|explore|init|innit|create|config|c|set)$/],
  ["pnpm", /^(?:exec|dlx|create|config|c)$/],
  ["yarn", /^(?:exec|dlx|node|create|config)$/],
  ["go", /^(?:run|generate|tool)$/],
  ["dotnet", /^(?:exec|script|fsi|tool)$/],
  ["gh", /^(?:alias|extension|ext)$/],
  [
    "git",
    /^(?:bisect|rebase|submodule|filter-branch|difftool|mergetool|grep|config|hook|daemon|for-each-repo|send-email|upload-pack|receive-pack)$/
  ],
  ...managers("uv poetry pipenv pdm rye hatch pixi conda mamba bundle rbenv pyenv nodenv rustup nvm fnm volta"),
  ...managers("mise asdf direnv devbox nix corepack")
])

function managers(names: string): ReadonlyArray<readonly [string, RegExp]> {
  return names.split(" ").map((name) => [name, /^(?:run|exec|x|shell|develop|tool)$/])
}

// Options of many programs whose value is a command.
const runningOption =
  /^(?:-(?:exec|execdir|ok|okdir)$|--?(?:exec|execute|eval|command|to-command|checkpoint-action|use-compress-program|compress-program|info-script|new-volume-script|rsh|upload-pack|receive-pack|exec-path|config-env|pager|editor|ext-diff|open-files-in-pager|unzip-command|wrapper|script-shell|node-options|require|import|loader)(?:=|$))/

/** `interpreter` or `wrapper` for a program that runs what its arguments say; undefined for others. */
export const runsOthers = (words: ReadonlyArray<string>): string | undefined => {
  const bare = programOf(words)
    .toLowerCase()
    .replace(/\.(?:exe|cmd|bat|com|ps1)$/, "")
  const unversioned = bare.replace(/(?<![\d.])[-_]?[\d.]+$/, "")
  const kind = kinds.get(bare) ?? kinds.get(unversioned)
  if (kind !== undefined) return kind
  if (/^ld-.*\.so/.test(bare)) return "wrapper"
  const rest = words.slice(1)
  if (rest.some((word) => runningOption.test(word))) return "wrapper"
  const runs = subcommands.get(unversioned)
  if (runs === undefined) return undefined
  // An option before the subcommand may take a value, which then looks like one, or set what runs, as `git -c` does.
  const place = rest.findIndex((word) => !word.startsWith("-"))
  const isRunning = place >= 0 && rest.slice(place, place === 0 ? 1 : place + 2).some((word) => runs.test(word))
  return isRunning || (bare === "git" && place > 0) ? "wrapper" : undefined
}

/** Files that programs take their commands from when they are not told which. */
const scriptsByProgram: Readonly<Record<string, ReadonlyArray<string>>> = {
  npm: ["package.json"],
  pnpm: ["package.json"],
  yarn: ["package.json"],
  bun: ["package.json"],
  make: ["GNUmakefile", "makefile", "Makefile"],
  just: ["justfile"]
}
const mostScripts = 32

/**
 * Workspace files that a command line executes: programs named by a path, and the files that are handed to an interpreter.
 * Relative to the workspace, for a command that runs in `directory` of it.
 */
export const scriptsOf = ({ inside }: ReadCommand, directory: string): ReadonlyArray<string> => {
  const named = inside.flatMap((words) => {
    const [program = "", ...rest] = words
    const own = program.includes("/") ? [program] : []
    const files = runsOthers(words) === undefined ? [] : rest.filter((word) => !word.startsWith("-"))
    return [...own, ...files, ...(scriptsByProgram[programOf(words)] ?? [])]
  })
  const paths = named.filter((path) => path.length < 256 && !/[\n\0]/.test(path))
  return [...new Set(paths.map((path) => posix.join(path.startsWith("/") ? "" : directory, path)))].slice(
    0,
    mostScripts
  )
}

/** The program's name without its directory. */
export const programOf = ([name = ""]: ReadonlyArray<string>): string => name.split(/[/\\]/).at(-1) ?? ""

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
