import {
  chmodSync,
  cpSync,
  type Dirent,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { basename, join } from "node:path"

import { makeToolError, type WorkspaceService } from "@haft/core"
import { isProtectedPath } from "@haft/core/internal"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

import { isErrno } from "../errno.ts"
import { makeRuntimeDirectory } from "../process/runtime-directory.ts"
import type { SandboxOptions } from "./limits.ts"
import type { HeldPlaces } from "./linux/protected-mounts.ts"

/** How one path of the host appears in a sandbox. */
export type Mount =
  | { readonly kind: "readable" | "writable"; readonly path: string; readonly from?: string }
  | { readonly kind: "link"; readonly path: string; readonly target: string }
  /** An empty directory that nothing can be put into. */
  | { readonly kind: "empty"; readonly path: string }

/** The system's programs, and the few settings they can't do without from a copy. Never the root itself. */
export const systemMounts = (settingsCopy: string): ReadonlyArray<Mount> => [
  ...["/usr", "/nix/store"].filter(isDirectory).map(readable),
  ...["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"].flatMap((path): ReadonlyArray<Mount> => {
    const stat = lstat(path)
    if (stat === undefined) return []
    return stat.isSymbolicLink() ? [{ kind: "link", path, target: readlinkSync(path) }] : [readable(path)]
  }),
  { kind: "readable", path: "/etc", from: settingsCopy },
  ...largeSettings
    .map((name) => join("/etc", name))
    .filter(isDirectory)
    .map(readable)
]

/** A copy of those settings. One mount costs less than many. */
export const settingsCopy: Effect.Effect<() => string, never, Scope.Scope> = Effect.suspend(() =>
  madeWhenUsed("settings", copySettings)
)

/** A temporary directory, made with the first use and kept while the host lives. */
export const madeWhenUsed = (
  kind: string,
  fill: (directory: string) => void
): Effect.Effect<() => string, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync((): { directory?: string } => ({})),
      ({ directory }) =>
        Effect.sync(() => directory !== undefined && rmSync(directory, { recursive: true, force: true }))
    ),
    (made) => () => {
      if (made.directory === undefined) {
        made.directory = makeRuntimeDirectory(kind)
        fill(made.directory)
      }
      return made.directory
    }
  )

const copySettings = (directory: string): void => {
  for (const name of settings) {
    const path = join("/etc", name)
    if (lstat(path) !== undefined) cpSync(path, join(directory, name), { recursive: true, verbatimSymlinks: true })
  }
  for (const name of largeSettings) {
    if (isDirectory(join("/etc", name))) mkdirSync(join(directory, name), { recursive: true })
  }
  // The name server of a sandbox with network is haft; one without has none.
  writeFileSync(join(directory, "resolv.conf"), "nameserver 127.0.0.1\n")
  chmodSync(directory, 0o755)
}

interface OwnMountsOptions {
  readonly isWritable: boolean
  readonly held?: HeldPlaces
  /** Control files of the workspace, absolute. */
  readonly existing?: ReadonlyArray<string>
  /** Secret files of the workspace, absolute, which no command can open. */
  readonly secrets?: ReadonlyArray<string>
  /** File mounted over a secret file; see `masks`. */
  readonly mask?: string
  /** The command writes to an overlay, where nothing needs protection. */
  readonly isOverlay?: boolean
}

/**
 * Paths of the host that a command works with: the workspace, and what the host's configuration adds. A mount hides
 * what was there before, so what holds the workspace comes before it, and what is in the workspace after it.
 */
export const ownMounts = (
  root: string,
  options: SandboxOptions,
  { isWritable, held, existing = [], secrets = [], mask = "/dev/null", isOverlay = false }: OwnMountsOptions
): ReadonlyArray<Mount> => {
  const added = [...(options.readOnlyPaths ?? []).map(readable), ...(options.writablePaths ?? []).map(writable)]
  const isInside = ({ path }: Mount): boolean => path.startsWith(`${root}/`)
  return [
    ...added.filter((mount) => !isInside(mount)).toSorted(byLength),
    isWritable ? writable(root) : readable(root),
    ...(isWritable && !isOverlay
      ? protectedMounts(root, existing).filter(({ path }) => held?.has(path) !== false)
      : []),
    ...added.filter(isInside).toSorted(byLength),
    ...masks(secrets, mask)
  ]
}

/**
 * A device over each secret file, in mounts where no device can be opened: reading it fails with EACCES for every user.
 * git never adds a device, whereas it would commit an empty file in place of the secret.
 */
const masks = (secrets: ReadonlyArray<string>, mask: string): ReadonlyArray<Mount> => {
  if (secrets.length > mostMasks) {
    throw makeToolError("sandbox_error", `the workspace has ${secrets.length} secret files, more than ${mostMasks}`, {
      suggestion: "Exclude some of them in `secretPaths` of the configuration, or move them out of the workspace."
    })
  }
  // A mount over a name that is not there would make a file of that name in the workspace.
  const present = secrets.filter((path) => existsSync(path))
  // The replacement character stands for bytes that no mount can be given.
  const unnamed = secrets.find((path) => path.includes("\uFFFD") && !present.includes(path))
  if (unnamed !== undefined) {
    throw makeToolError("sandbox_error", `the secret file ${unnamed} can't be masked: its name is not UTF-8`, {
      suggestion: "Rename it, move it out of the workspace, or exclude it in `secretPaths` of the configuration."
    })
  }
  return present.map((path): Mount => ({ kind: "readable", path, from: mask }))
}

/** Each mount costs every command time. */
const mostMasks = 512

/** Sandbox options with the other roots of a workspace, which commands read. */
export const withOtherRoots = <Options extends SandboxOptions>(
  options: Options,
  { root, roots }: Pick<WorkspaceService, "root" | "roots">
): Options => {
  const others = roots.flatMap(({ path }) => (path === root ? [] : path))
  return others.length === 0 ? options : { ...options, readOnlyPaths: [...(options.readOnlyPaths ?? []), ...others] }
}

/** Everything of the host's own that commands see. */
export const visiblePaths = (root: string, options: SandboxOptions): ReadonlyArray<string> => [
  root,
  ...(options.readOnlyPaths ?? []),
  ...(options.writablePaths ?? [])
]

const byLength = (a: Mount, b: Mount): number => a.path.length - b.path.length

/**
 * Read-only mounts for what other programs run or trust without asking: git's hooks and configuration, editor tasks,
 * haft's configuration. `.git` becomes a mount of its own first, or renaming it would go round the rest.
 * Only what is really there, never through a link: its target may be anywhere.
 */
const protectedMounts = (root: string, existing: ReadonlyArray<string>): ReadonlyArray<Mount> => [
  ...(isDirectory(join(root, ".git")) ? gitMounts(join(root, ".git")) : []),
  ...entriesOf(root)
    .filter(
      (entry) => isProtectedPath(entry.name) && (entry.isFile() || (entry.isDirectory() && entry.name !== ".git"))
    )
    .map((entry) => readable(join(root, entry.name))),
  ...existing
    .filter((path) => path.slice(root.length + 1).includes("/"))
    .slice(0, mostNested)
    .flatMap((path): ReadonlyArray<Mount> => {
      const stat = lstat(path)
      if (stat?.isDirectory() === true && basename(path) === ".git") return gitMounts(path)
      return stat?.isDirectory() === true || stat?.isFile() === true ? [readable(path)] : []
    })
]

/** Each mount costs every command time. Those beyond are put back after a command that changed them. */
const mostNested = 32

// A workspace that is gone has nothing to protect; the sandbox then says that it can't be entered.
const entriesOf = (directory: string): ReadonlyArray<Dirent> => {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return []
    throw error
  }
}

const gitMounts = (git: string): ReadonlyArray<Mount> => {
  const isOdd =
    (kind: "directory" | "file") =>
    (name: string): boolean =>
      !isAbsentOr(kind, join(git, name))
  // A mount goes to where a link leads, and its place is made there. Then nobody changes anything of the repository.
  if (directories.some(isOdd("directory")) || files.some(isOdd("file"))) return [readable(git)]
  const directory = (name: string): Mount => {
    const path = join(git, name)
    return isDirectory(path) ? readable(path) : { kind: "empty", path }
  }
  const file = (name: string): Mount => {
    const path = join(git, name)
    return lstat(path) === undefined ? { kind: "readable", path, from: "/dev/null" } : readable(path)
  }
  const isThere = (name: string): boolean => lstat(join(git, name)) !== undefined
  const [hooks, ...otherDirectories] = directories
  const [config, ...otherFiles] = files
  return [
    writable(git),
    directory(hooks),
    file(config),
    ...otherDirectories.filter(isThere).map(directory),
    ...otherFiles.filter(isThere).map(file)
  ]
}

/** Control files of git in its own directory: the first of each whether it exists or not. */
const directories = ["hooks", "modules", "worktrees"] as const
const files = ["config", "config.worktree", "commondir"] as const

const isAbsentOr = (kind: "directory" | "file", path: string): boolean => {
  const stat = lstat(path)
  return stat === undefined || (kind === "directory" ? stat.isDirectory() : stat.isFile())
}

const settings = [
  "bash.bashrc",
  "ca-certificates.conf",
  "debian_version",
  "group",
  "host.conf",
  "hosts",
  "ld.so.cache",
  "ld.so.conf",
  "ld.so.conf.d",
  "localtime",
  "magic",
  "mime.types",
  "nsswitch.conf",
  "os-release",
  "passwd",
  "profile",
  "protocols",
  "services",
  "ssl/openssl.cnf",
  "terminfo",
  "timezone"
]

/** Hundreds of files, which take longer to copy than to mount with every command. */
const largeSettings = ["alternatives", "pki/ca-trust", "pki/tls/certs", "ssl/certs"]

/** Where the kernel lets its root change the machine through files, which the root of a sandbox is. */
export const kernelFiles: ReadonlyArray<string> =
  process.getuid?.() === 0
    ? ["sys", "sysrq-trigger", "irq", "bus", "fs", "mtrr", "acpi", "scsi"]
        .map((name) => join("/proc", name))
        .filter((path) => lstat(path) !== undefined)
    : []

export const readable = (path: string): Mount => ({ kind: "readable", path })

const writable = (path: string): Mount => ({ kind: "writable", path })

const isDirectory = (path: string): boolean => lstat(path)?.isDirectory() === true

function lstat(path: string) {
  return lstatSync(path, { throwIfNoEntry: false })
}
