/** A file or directory whose content other programs run or trust without asking. */
export interface ControlFile {
  /** Names that follow each other anywhere in a path; a `*` at the end stands for the rest of a name. */
  readonly path: string
  /** Program that runs or trusts it. */
  readonly readBy: string
}

/**
 * Control files: version control, shells, editors, package managers, agents, CI and haft itself. File tools ask before
 * they change one, whatever the rules say; sandboxes mount those that exist read-only, and move aside those that a command
 * made or changed. This is the one place that says which they are.
 */
export const controlFiles: ReadonlyArray<ControlFile> = [
  { path: ".git", readBy: "git" },
  { path: ".gitmodules", readBy: "git" },
  { path: ".hg/hgrc", readBy: "Mercurial" },
  { path: ".bashrc", readBy: "bash" },
  { path: ".bash_profile", readBy: "bash" },
  { path: ".bash_login", readBy: "bash" },
  { path: ".bash_logout", readBy: "bash" },
  { path: ".profile", readBy: "shells" },
  { path: ".zshrc", readBy: "zsh" },
  { path: ".zshenv", readBy: "zsh" },
  { path: ".zprofile", readBy: "zsh" },
  { path: ".zlogin", readBy: "zsh" },
  { path: ".zlogout", readBy: "zsh" },
  { path: ".envrc", readBy: "direnv" },
  { path: "mise.toml", readBy: "mise" },
  { path: ".mise.toml", readBy: "mise" },
  { path: ".mise/config.toml", readBy: "mise" },
  { path: ".vscode", readBy: "VS Code" },
  { path: ".idea", readBy: "JetBrains editors" },
  { path: ".run", readBy: "JetBrains editors" },
  { path: ".fleet", readBy: "JetBrains editors" },
  { path: ".zed", readBy: "Zed" },
  { path: ".exrc", readBy: "vi" },
  { path: ".vimrc", readBy: "Vim" },
  { path: ".nvimrc", readBy: "Neovim" },
  { path: ".nvim.lua", readBy: "Neovim" },
  { path: ".dir-locals.el", readBy: "Emacs" },
  { path: ".gdbinit", readBy: "gdb" },
  { path: ".lldbinit", readBy: "lldb" },
  { path: ".pdbrc", readBy: "pdb" },
  { path: ".devcontainer", readBy: "development containers" },
  { path: ".devcontainer.json", readBy: "development containers" },
  { path: ".npmrc", readBy: "npm" },
  { path: ".yarnrc", readBy: "Yarn" },
  { path: ".yarnrc.yml", readBy: "Yarn" },
  { path: ".yarn/releases", readBy: "Yarn" },
  { path: ".yarn/plugins", readBy: "Yarn" },
  { path: ".pnpmfile.cjs", readBy: "pnpm" },
  { path: ".pnpmfile.mjs", readBy: "pnpm" },
  { path: "bunfig.toml", readBy: "Bun" },
  { path: ".bundle/config", readBy: "Bundler" },
  { path: ".bazelrc", readBy: "Bazel" },
  { path: ".cargo/config", readBy: "Cargo" },
  { path: ".cargo/config.toml", readBy: "Cargo" },
  { path: ".husky", readBy: "git hooks" },
  { path: ".pre-commit-config.yaml", readBy: "pre-commit" },
  { path: "lefthook.*", readBy: "Lefthook" },
  { path: ".lefthook.*", readBy: "Lefthook" },
  { path: "lefthook-local.*", readBy: "Lefthook" },
  { path: ".overcommit.yml", readBy: "Overcommit" },
  { path: ".lintstagedrc*", readBy: "lint-staged" },
  { path: "lint-staged.config.*", readBy: "lint-staged" },
  { path: ".github/workflows", readBy: "GitHub Actions" },
  { path: ".github/actions", readBy: "GitHub Actions" },
  { path: ".gitlab-ci.yml", readBy: "GitLab CI" },
  { path: ".circleci", readBy: "CircleCI" },
  { path: ".gitea/workflows", readBy: "Gitea Actions" },
  { path: ".forgejo/workflows", readBy: "Forgejo Actions" },
  { path: ".woodpecker", readBy: "Woodpecker CI" },
  { path: ".woodpecker.yml", readBy: "Woodpecker CI" },
  { path: ".woodpecker.yaml", readBy: "Woodpecker CI" },
  { path: ".drone.yml", readBy: "Drone" },
  { path: ".travis.yml", readBy: "Travis CI" },
  { path: ".cirrus.yml", readBy: "Cirrus CI" },
  { path: "appveyor.yml", readBy: "AppVeyor" },
  { path: ".appveyor.yml", readBy: "AppVeyor" },
  { path: ".buildkite", readBy: "Buildkite" },
  { path: "azure-pipelines.yml", readBy: "Azure Pipelines" },
  { path: "bitbucket-pipelines.yml", readBy: "Bitbucket Pipelines" },
  { path: "Jenkinsfile", readBy: "Jenkins" },
  { path: ".mcp.json", readBy: "MCP clients" },
  { path: ".claude", readBy: "Claude Code" },
  { path: ".cursor", readBy: "Cursor" },
  { path: ".codex", readBy: "Codex" },
  { path: ".gemini", readBy: "Gemini CLI" },
  { path: ".windsurf", readBy: "Windsurf" },
  { path: ".roo", readBy: "Roo Code" },
  { path: ".clinerules", readBy: "Cline" },
  { path: ".continue", readBy: "Continue" },
  { path: ".opencode", readBy: "OpenCode" },
  { path: "opencode.json*", readBy: "OpenCode" },
  { path: ".kiro", readBy: "Kiro" },
  { path: ".amazonq", readBy: "Amazon Q" },
  { path: ".junie", readBy: "Junie" },
  { path: ".aider.conf.yml", readBy: "Aider" },
  { path: "haft.config.*", readBy: "haft" }
]

/** Directories of installed packages. Control files below them are recorded and left there, except a repository. */
export const dependencyDirectories: ReadonlyArray<string> = ["node_modules", ".venv", "venv", "__pycache__", ".tox"]

const folded = (name: string): string => name.normalize("NFC").toLowerCase()

const byLastName = new Map<
  string,
  ReadonlyArray<{ readonly before: ReadonlyArray<string>; readonly file: ControlFile }>
>()
const byPrefix: Array<{ readonly prefix: string; readonly file: ControlFile }> = []
for (const file of controlFiles) {
  const names = folded(file.path).split("/")
  const last = names.at(-1) ?? ""
  if (last.endsWith("*")) byPrefix.push({ prefix: last.slice(0, -1), file })
  else byLastName.set(last, [...(byLastName.get(last) ?? []), { before: names.slice(0, -1), file }])
}

/**
 * The control file that the last of these names is, when the others lead to it; undefined for anything else. Compared
 * case-folded and normalized, because some file systems do.
 */
export const controlFileAt = (names: ReadonlyArray<string>): ControlFile | undefined => {
  const name = folded(names.at(-1) ?? "")
  const exact = byLastName
    .get(name)
    ?.find(({ before }) => before.every((outer, index) => outer === folded(names.at(index - before.length - 1) ?? "")))
  return exact?.file ?? byPrefix.find(({ prefix }) => name.startsWith(prefix))?.file
}

/** True for a path that is a control file or lies below one. */
export const isProtectedPath = (path: string): boolean => {
  const names = path.split("/")
  return names.some((_, index) => controlFileAt(names.slice(0, index + 1)) !== undefined)
}
