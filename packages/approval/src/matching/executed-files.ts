import { posix } from "node:path"

import { programOf, type ReadCommand, readCommand, runsOthers } from "./parse-command.ts"

/** Workspace files that a command line may execute. */
export interface ExecutedFiles {
  /** Paths relative to the workspace; most of them may not exist. */
  readonly paths: ReadonlyArray<string>
  /** True if every file that it executes directly is named: no name is computed, matched by a glob or read from a file. */
  readonly isComplete: boolean
}

/** Files that programs take their commands from when they are not told which. */
const scriptsByProgram: Readonly<Record<string, ReadonlyArray<string>>> = {
  npm: ["package.json"],
  pnpm: ["package.json"],
  yarn: ["package.json"],
  bun: ["package.json"],
  make: ["GNUmakefile", "makefile", "Makefile"],
  gmake: ["GNUmakefile", "makefile", "Makefile"],
  just: ["justfile", "Justfile"],
  task: ["Taskfile.yml", "Taskfile.yaml"],
  rake: ["Rakefile"]
}

/** File name suffixes that interpreters add to a name: `node ./x` runs `x.js`, `python x` runs `x/__main__.py`. */
const suffixes: ReadonlyArray<readonly [RegExp, ReadonlyArray<string>]> = [
  [/^(?:node|nodejs|bun|tsx|ts-node|deno)$/, [".js", ".cjs", ".mjs", ".ts", ".json", "/index.js", "/package.json"]],
  [/^(?:i?python|pypy)[\d.]*$/, [".py", "/__main__.py", "/__init__.py"]]
]

/** Programs that execute what they find, or what their input names. */
const namesAtRunTime = /^(?:xargs|parallel|find|fd|fdfind|entr|run-parts)$/

/**
 * An assignment of a search path such as PATH, PYTHONPATH, NODE_PATH or PERL5LIB: a bare name may then be a file of the
 * workspace, and which one is settled only as the command runs.
 */
const searchPath = /\b\w*(?:PATH|LIB)\+?=/

/** A variable set for a command: what it names may be executed, by the shell itself for `BASH_ENV`. */
const assignment = /(?:^|[\s;&|(])[A-Za-z_]\w*\+?=/

const directoryOption = /^(?:cd|pushd|-C|--?(?:directory|cwd|chdir|prefix|dir|project))$/

const mostPaths = 512
const longestPath = 1024
const deepestScript = 3

/**
 * Workspace files that a command line may execute, for a command that runs in `directory`. Where nothing in it runs
 * another program these are the programs that it names by a path. Otherwise it is every word that could name a file: as
 * the shell reads the line, as the text shows it, in scripts handed over as one word, in redirections and on either side
 * of a pipe. Names that do not exist cost one look each; one that is missed would run unseen. `variables` are values of
 * environment variables for the command, which programs execute too: `BASH_ENV`, `NODE_OPTIONS`.
 */
export const executedFiles = (
  line: string,
  directory: string,
  variables: ReadonlyArray<string> = []
): ExecutedFiles => {
  const commands = commandsOf(readCommand(line), 0)
  const isRead = commands.length > 0 && line.length <= longestRead
  const setsSearchPath = searchPath.test(line)
  const runsFiles =
    !isRead ||
    setsSearchPath ||
    assignment.test(line) ||
    variables.length > 0 ||
    commands.some(({ words }) => isExecuting(words))
  if (!runsFiles) return { paths: [], isComplete: true }

  const words = [
    ...new Set([
      ...commands.flatMap((command) => [...command.words, ...command.files]),
      ...[line, ...variables].flatMap(textWords)
    ])
  ]
  const defaults = commands.flatMap(({ words: [name = ""] }) => scriptsByProgram[programOf([name])] ?? [])
  const extensions = commands.flatMap(({ words: [name = ""] }) =>
    suffixes.flatMap(([program, added]) => (program.test(programOf([name])) ? added : []))
  )
  const named = [...words, ...words.flatMap(optionValues), ...defaults].filter(isPath)
  const spelled = [...named, ...named.flatMap((name) => extensions.map((end) => `${name}${end}`))]
  const modules = extensions.includes(".py") ? named.map((name) => `${name.replaceAll(".", "/")}.py`) : []
  const paths = new Set<string>()
  for (const base of directoriesOf(textWords(line), directory)) {
    for (const name of [...spelled, ...modules]) paths.add(posix.join(name.startsWith("/") ? "" : base, name))
  }
  const isComputed =
    !isRead ||
    setsSearchPath ||
    variables.some(({ length }) => length > longestText) ||
    /[$`*?[{~]/.test(line) ||
    commands.some(({ words: [name = ""] }) => namesAtRunTime.test(programOf([name])))
  return { paths: [...paths].slice(0, mostPaths), isComplete: !isComputed && paths.size <= mostPaths }
}

/** Longest line that {@link readCommand} parses; of a longer one only the words are known. */
const longestRead = 8192

interface FoundCommand {
  readonly words: ReadonlyArray<string>
  readonly files: ReadonlyArray<string>
}

/** The commands of a line, and those of scripts that are words of it: `sh -c "…"`. */
const commandsOf = (read: ReadCommand, depth: number): ReadonlyArray<FoundCommand> => {
  const own = read.inside.map((words) => ({ words, files: read.redirected ?? [] }))
  if (depth === deepestScript) return own
  const scripts = read.inside.flat().filter((word) => /[\s;|&<]/.test(word))
  return [...own, ...scripts.flatMap((script) => commandsOf(readCommand(script), depth + 1))]
}

/** True for a program named by a path or computed, an interpreter, and what starts other programs. */
const isExecuting = (words: ReadonlyArray<string>): boolean => {
  const [program = ""] = words
  return (
    program === "" ||
    /[/\\$`*?[{]/.test(program) ||
    runsOthers(words) !== undefined ||
    scriptsByProgram[programOf(words)] !== undefined
  )
}

/** Words as the text shows them, with quotes as separators and without any: a line that is not parsed may have both. */
const textWords = (line: string): ReadonlyArray<string> => {
  const text = line.slice(0, longestText)
  return [text, text.replaceAll("\\", ""), text.replaceAll(/['"\\]/g, "")]
    .filter((one, at, all) => all.indexOf(one) === at)
    .flatMap((one) => one.split(/[\s;&|<>()$`'"{},=:![\]]+/))
}

const longestText = 65_536

/** Values that are joined to an option: `--file=x` and `-fx`. */
const optionValues = (word: string): ReadonlyArray<string> => {
  if (!word.startsWith("-")) return word.includes("=") ? [word.slice(word.indexOf("=") + 1)] : []
  return word.startsWith("--") ? [word.slice(word.indexOf("=") + 1)] : [word.slice(2)]
}

const isPath = (name: string): boolean =>
  name !== "" && name !== "." && !name.startsWith("-") && name.length <= longestPath && !/[\n\0]/.test(name)

/** Directories that names may be relative to: the working directory, and where `cd` or an option such as `-C` leads. */
const directoriesOf = (words: ReadonlyArray<string>, start: string): ReadonlySet<string> => {
  const directories = new Set([start])
  let here = start
  for (const [at, word] of words.entries()) {
    if (!directoryOption.test(word)) continue
    const target = words.slice(at + 1).find((next) => next !== word && !next.startsWith("-"))
    if (target === undefined || directories.size >= mostDirectories) continue
    directories.add(posix.join(target.startsWith("/") ? "" : start, target))
    here = posix.join(target.startsWith("/") ? "" : here, target)
    directories.add(here)
  }
  return directories
}

const mostDirectories = 8
