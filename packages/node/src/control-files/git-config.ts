/** One setting of a git configuration: `section.subsection.key` in lower case but for the subsection. */
interface GitSetting {
  readonly section: string
  readonly subsection: string | undefined
  readonly key: string
  readonly value: string
}

/** The settings of a git configuration, or undefined where it has something that this does not understand. */
const parseGitConfig = (text: string): ReadonlyArray<GitSetting> | undefined => {
  const settings: Array<GitSetting> = []
  let section: Pick<GitSetting, "section" | "subsection"> | undefined
  for (const line of text.split(/\r?\n/)) {
    let rest = line.trim()
    const header = /^\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\](.*)$/.exec(rest)
    if (header !== null) {
      section = { section: (header[1] ?? "").toLowerCase(), subsection: header[2] }
      rest = (header[3] ?? "").trim()
    }
    if (rest === "" || rest.startsWith("#") || rest.startsWith(";")) continue
    const setting = /^([A-Za-z][\w-]*)\s*(?:=\s*(.*))?$/.exec(rest)
    // A line that goes on in the next one is legal, and not what git writes by itself.
    if (setting === null || section === undefined || rest.endsWith("\\")) return undefined
    settings.push({ ...section, key: (setting[1] ?? "").toLowerCase(), value: unquoted(setting[2] ?? "true") })
  }
  return settings
}

const unquoted = (value: string): string => value.replaceAll('"', "").trim()

/** Settings that `git init`, `git clone`, `git remote`, `git branch` and `git submodule` write, and that run nothing. */
const harmless: Readonly<Record<string, ReadonlyArray<string>>> = {
  core: [
    ..."repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks".split(" "),
    ..."autocrlf eol safecrlf quotepath sparsecheckout sparsecheckoutcone".split(" ")
  ],
  extensions: ["objectformat", "refstorage", "partialclone", "worktreeconfig"],
  remote: ["url", "pushurl", "fetch", "push", "tagopt", "prune", "promisor", "partialclonefilter", "mirror"],
  branch: ["remote", "merge", "rebase", "pushremote", "description"],
  submodule: ["url", "active", "branch"],
  user: ["name", "email"],
  init: ["defaultbranch"],
  pull: ["rebase", "ff"],
  push: ["default", "autosetupremote", "followtags"],
  fetch: ["prune"],
  merge: ["conflictstyle", "ff"],
  gc: ["auto"],
  index: ["version", "sparse"]
}

/**
 * Why a git configuration that a command wrote can't stay: a setting beyond those that git itself writes and that was
 * not there before. Undefined where it can.
 */
export const gitConfigProblem = (text: string, before: string | undefined): string | undefined => {
  const settings = parseGitConfig(text)
  if (settings === undefined) return "git's configuration has lines that can't be judged"
  const known = new Set((before === undefined ? [] : (parseGitConfig(before) ?? [])).map(asText))
  const odd = settings.find((setting) => !known.has(asText(setting)) && !isHarmless(setting))
  return odd === undefined ? undefined : `git's setting ${nameOf(odd)} can make git run programs or read other files`
}

const nameOf = ({ section, subsection, key }: GitSetting): string =>
  [section, ...(subsection === undefined ? [] : [subsection]), key].join(".")

const asText = (setting: GitSetting): string => `${nameOf(setting)}=${setting.value}`

const isHarmless = ({ section, key, value }: GitSetting): boolean => {
  // Of a submodule's repository: where its files are, from `.git/modules/NAME`.
  if (section === "core" && key === "worktree") return /^(?:\.\.\/){3,}(?!\.\.(?:\/|$))[^/]/.test(value)
  if (harmless[section]?.includes(key) !== true) return false
  return key === "url" || key === "pushurl" ? isPlainUrl(value) : true
}

// `ext::` and other helpers run programs, and what begins with a hyphen is an option.
const isPlainUrl = (value: string): boolean =>
  /^(?:https?|ssh|git|file):\/\/[^-]/.test(value) ||
  /^(?:\/|\.\.?(?:\/|$))/.test(value) ||
  /^[\w.][\w.-]*@[\w.][\w.-]*:[^:]/.test(value)
