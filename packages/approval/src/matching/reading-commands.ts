import { programOf, readCommand } from "./parse-command.ts"
import { isUnsafeOption } from "./unsafe-options.ts"

/** Programs that only read and print, as long as no option makes them write or run something. */
const readingPrograms = new Set(
  (
    "ls cat head tail wc stat grep egrep fgrep rg cut tr nl tac basename dirname realpath readlink du df pwd echo " +
    "printf true false seq uniq comm join paste column fold rev diff cmp tree which whoami id uname date sha256sum " +
    "sha1sum md5sum cksum od sort"
  ).split(" ")
)

const readingGit = new Set(
  "status diff log show blame shortlog describe rev-parse ls-files ls-tree cat-file".split(" ")
)

/**
 * Tests for a command line that only reads, as far as the names of its programs and options tell. It spares questions where a
 * sandbox holds the command anyway; it is not the protection itself.
 */
export const onlyReads = (line: string): boolean => {
  const { words, parts } = readCommand(line)
  const commands = words === undefined ? (parts ?? []).map((part) => part.words) : [words]
  return commands.length > 0 && commands.every(isReading)
}

const isReading = (words: ReadonlyArray<string>): boolean => {
  const [program = "", subcommand = ""] = words
  // A program that is named by a path may be the agent's own.
  if (program.includes("/") || words.some((word) => isUnsafeOption(words, word))) return false
  // The second operand of uniq is a file that it writes.
  if (program === "uniq" && words.slice(1).filter((word) => !word.startsWith("-")).length > 1) return false
  return programOf(words) === "git" ? readingGit.has(subcommand) : readingPrograms.has(program)
}
