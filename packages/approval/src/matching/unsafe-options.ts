import { programOf } from "./parse-command.ts"

/** Long options, of any program, that run a program or load code: a rule names them or they are not allowed. */
const running =
  "exec execdir execute eval expression command cmd run program shell script-shell interpreter launcher wrapper " +
  "to-command checkpoint-action use-compress-program compress-program unzip-command rsh info-script new-volume-script " +
  "upload-pack receive-pack exec-path ext-diff textconv extcmd tool pager editor browser open-files-in-pager open-pager " +
  "config config-env config-file conf rcfile init-file env-file node-options require import loader experimental-loader " +
  "preload plugin plugins plugin-dir rulesdir resolve-plugins-relative-to formatter reporter runner test-runner " +
  "environment transform resolver global-setup global-teardown setup-files pre preprocessor post hook hooks filter " +
  "filters proxy-command ssh-command gpg-program toolexec module driver watch-exec on-success on-failure load eval-file " +
  "hostname-bin edit-description edit"

/** Long options, of any program, that write a file or change what is there. */
const writing =
  "output out outfile out-file output-file output-dir output-directory outdir out-dir output-document log-file logfile " +
  "trace-file dump dump-header dump-to save save-to write write-out-file in-place inplace fix append tee export report-file " +
  "results-file junit-xml junitxml prefix destination dest dest-dir destdir target-directory directory-prefix remove-files " +
  "delete delete-after remove-source-files truncate overwrite update-snapshot cookie-jar remote-name stderr trace-ascii " +
  "git-dir work-tree super-prefix basetemp cache-dir coverage-directory profile-dir heap-prof-dir cpu-prof-dir"

/** Long options that turn what a program reads into something else: files that are not the repository's, other hosts. */
const redirecting =
  "files-from files0-from from-file exclude-from include-from pathspec-from-file input-file url remote " +
  "upload-file post-file body-file data-binary reference repo follow-symlinks dereference-recursive search-zip"

const longNames: ReadonlyArray<string> = `${running} ${writing} ${redirecting}`.split(/\s+/)

/** Those that git and GNU's programs have, and take for the beginnings of their names as well: `--outp`. */
const abbreviated: ReadonlyArray<string> = (
  "output output-document ext-diff textconv exec exec-path to-command checkpoint-action use-compress-program " +
  "compress-program upload-pack receive-pack open-files-in-pager in-place remove-files files0-from files-from " +
  "exclude-from include-from pathspec-from-file"
).split(" ")

/** Letters of short options that run or write, by program; `*` is for programs that are not listed. */
const shortOptions: ReadonlyMap<string, string> = new Map([
  ...Object.entries({
    "*": "oOcexIiEFKTX",
    git: "cCoOx",
    find: "",
    tar: "IFCTxc",
    sort: "oT",
    curl: "oOKTXdFDcjJ",
    wget: "OoaPeic",
    zip: "Tm",
    unzip: "od",
    man: "PHC",
    npm: "cC",
    pnpm: "cC",
    yarn: "",
    cargo: "ZC",
    go: "oC",
    pytest: "cpo",
    rg: "",
    tree: "oR",
    tsc: "pb",
    date: "s",
    patch: "oirBdp",
    diff: "",
    sed: "iefnE"
  }),
  ...namedTogether(
    "cat head tail wc ls stat file grep egrep fgrep cut tr nl tac basename dirname realpath readlink",
    ""
  ),
  ...namedTogether("du df ps which whereis whoami id uname hostname sha256sum sha1sum md5sum cksum od xxd", ""),
  ...namedTogether("echo printf true false pwd test expr seq sleep uniq comm join paste column fold fmt rev jq", "")
])

function namedTogether(names: string, letters: string): ReadonlyArray<readonly [string, string]> {
  return names.split(" ").map((name) => [name, letters] as const)
}

/** Words that are long options with one hyphen (find, go, java) and operands that set where a program writes. */
const unsafeWords =
  /^-(?:exec|execdir|ok|okdir|delete|fprint0?|fprintf|fls|toolexec|javaagent|agentlib|agentpath)\b|^of=|^--no-ind/

/** A script of sed that only selects, deletes and substitutes; `e`, `w` and `r` run, write and read. */
const address = String.raw`(?:\d+|\$|/[^/\\]*/)`
const part = String.raw`(?:(?!\1)[^\\\n]|\\.)*`
const plainScript = new RegExp(
  String.raw`^(?:(?:${address}(?:,${address})?)?[pdq=]|s([/|,#:@])${part}\1${part}\1[gpiI\d]*)$`
)

const assignments = /^(?:\w*(?:PATH|PRELOAD|SHELL|PAGER|EDITOR|BROWSER|OPTIONS|COMMAND|FLAGS)|CC|CXX|LD|GIT_\w+)=/

/**
 * Tests whether a word may make a program run another one or write a file, as far as its name tells. The table is for asking
 * less, not the protection itself: what it does not know is held by the sandbox.
 */
export const isUnsafeOption = (words: ReadonlyArray<string>, word: string): boolean => {
  if (unsafeWords.test(word) || assignments.test(word)) return true
  if (isRunningScript(words, word) || leadsOutside(word)) return true
  const long = /^--(?!no-)([^=]+)/.exec(word)?.[1]
  if (long !== undefined) return isUnsafeName(kebab(long)) || isAbbreviation(long)
  const short = /^-(?!-)([^=]+)/.exec(word)?.[1]
  if (short === undefined) return false
  const letters = shortOptions.get(programOf(words)) ?? shortOptions.get("*") ?? ""
  // Letters can be joined, and a value can follow its letter: `-xvo`, `-oFILE`.
  return short.split("").some((letter) => letters.includes(letter)) || (short.length > 3 && isUnsafeName(kebab(short)))
}

/** True for the script of sed, unless it is a plain one, and for the commands that pagers and editors start with. */
const isRunningScript = (words: ReadonlyArray<string>, word: string): boolean => {
  const program = programOf(words)
  if (/^(?:less|more|vi|view|vimdiff|n?vim|ex)$/.test(program)) return word.startsWith("+")
  return (
    /^g?sed$/.test(program) && word === words.slice(1).find((one) => !one.startsWith("-")) && !plainScript.test(word)
  )
}

/**
 * Tests whether a word, or a value joined to an option, names something outside of the working directory: an absolute path, one
 * that climbs, a home directory or a URL. `HEAD~2..HEAD` and `a...b` climb nowhere.
 */
const leadsOutside = (word: string): boolean =>
  [word, word.slice(word.indexOf("=") + 1), word.replace(/^-\w/, ""), word.slice(word.indexOf(":") + 1)].some(
    (value) =>
      /^(?:\/|[A-Za-z]:[\\/]|~|\\\\)/.test(value) ||
      /(?:^|[\\/])\.\.(?:[\\/]|$)/.test(value) ||
      /^[a-z][a-z\d+.-]*:\/\//i.test(value)
  )

// `--output-format` may be the name of a file as well.
const isUnsafeName = (name: string): boolean =>
  longNames.some((known) => known === name || name.startsWith(`${known}-`))

const isAbbreviation = (name: string): boolean => name.length > 1 && abbreviated.some((known) => known.startsWith(name))

const kebab = (name: string): string => name.replaceAll(/(?<=[a-z\d])[A-Z]/g, (letter) => `-${letter}`).toLowerCase()
