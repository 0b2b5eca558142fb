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
  /** Files that redirections anywhere in it name; absent where there are none. */
  readonly redirected?: ReadonlyArray<string>
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

// The effects of these outlast them: the commands after one run in another directory, with other variables or another meaning.
const changesShell = new Set(
  "cd pushd popd dirs export declare typeset local readonly set unset shopt alias unalias trap umask ulimit read mapfile readarray getopts let enable hash exec eval source . command builtin".split(
    " "
  )
)

/** Output that is joined or thrown away: it changes nothing about what a command does. */
const harmlessRedirection = /(?<=\s)(?:[12]?>&[12]|(?:[12]|&)?>\s?\/dev\/null)(?=\s|[;|]|$)/g

/** Reads a command line with a parser for Bash. Anything it is not sure about is opaque. */
export const readCommand = (line: string): ReadCommand => {
  const read = readSimple(line)
  if (read.words !== undefined || line.length > longestLine) return read
  const { opaque: _opaque, ...seen } = read
  // Cut out as text, quotes or not: the parser must have seen the same words without them.
  const plain = line.replaceAll(harmlessRedirection, "").trim()
  const { words } = plain === line ? {} : readSimple(plain)
  if (words !== undefined && JSON.stringify([words]) === JSON.stringify(read.inside)) return { ...seen, words }
  const parts = partsOf(plain, read.inside)
  return parts === undefined ? read : { ...seen, parts }
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
    // Input that is piped into an interpreter is a program.
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
  const seen = commandsIn(script)
  if (script.errors !== undefined && script.errors.length > 0)
    return { opaque: "it can't be read as a command", ...seen }
  if (unprintable.test(line)) return { opaque: "it contains control characters", ...seen }
  if (joining.test(line)) return { opaque: "it is more than one simple command", ...seen }
  const [statement] = script.commands
  if (statement === undefined || script.commands.length > 1 || statement.command.type !== "Command") {
    return { opaque: "it is not one simple command", ...seen }
  }
  const { command } = statement
  if (command.prefix.length > 0) return { opaque: "it sets variables for the command", ...seen }
  if (line.slice(command.end).trim() !== "") return { opaque: "something follows the command", ...seen }
  const words = [command.name, ...command.suffix]
  if (!words.every(isPlainWord)) return { opaque: "the shell would replace some of its words", ...seen }
  return { words: words.map(({ value }) => value), ...seen }
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

/** The program's name without its directory. */
export const programOf = ([name = ""]: ReadonlyArray<string>): string => name.split(/[/\\]/).at(-1) ?? ""

const commandsIn = (script: Script): Pick<ReadCommand, "inside" | "redirected"> => {
  const inside: Array<ReadonlyArray<string>> = []
  const redirected: Array<string> = []
  const visit = (node: SyntaxNode, depth: number): void => {
    if (node.type === "Command") inside.push(wordsOf(node))
    // A here-document and a here-string hold text, not a name.
    if (node.type === "Redirect" && node.target !== undefined) redirected.push(node.target.value)
    if (depth < deepestNesting) forEachChild(node, (child) => visit(child, depth + 1))
  }
  visit(script, 0)
  return { inside, ...(redirected.length > 0 && { redirected }) }
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
