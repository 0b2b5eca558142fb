import type { SandboxDescription } from "@haft/core"

import { sumsHeld } from "../process/launcher/cgroup.ts"
import type { TreeLimits } from "../process/prepared-launch.ts"
import type { Owner } from "../workspace/commit/owner.ts"

/** Resource limits of one command. A build survives the defaults, a fork bomb does not. */
export interface SandboxLimits {
  readonly processes: number
  /** Of all processes together where the machine can hold them to it, else of each one's address space. */
  readonly memoryBytes: number
  readonly fileSizeBytes: number
  readonly openFiles: number
  readonly cpuSeconds: number
  /** Of /tmp and /dev/shm together, which are the command's own; a quarter of it is /dev/shm. */
  readonly temporaryBytes: number
}

const gibibyte = 2 ** 30

export const defaultLimits: SandboxLimits = {
  processes: 512,
  memoryBytes: 4 * gibibyte,
  fileSizeBytes: gibibyte,
  openFiles: 1024,
  cpuSeconds: 3600,
  temporaryBytes: gibibyte
}

/** Options of every sandbox. Only the host's configuration sets them, never a call. */
export interface SandboxOptions {
  /** Directories and files outside the workspace that commands may read: toolchains, shared data. */
  readonly readOnlyPaths?: ReadonlyArray<string>
  /** Those they may also change: caches, for one. */
  readonly writablePaths?: ReadonlyArray<string>
  /** Names of variables that commands may see besides the usual ones. */
  readonly environment?: ReadonlyArray<string>
  readonly limits?: Partial<SandboxLimits>
  /** The host's state directory, where quarantined files go. The workspace's usual one when absent. */
  readonly state?: string
}

/** Limits that Processes applies to the whole tree. */
export const treeLimits = ({ memoryBytes, processes }: SandboxLimits): TreeLimits => ({ memoryBytes, processes })

/** The limits as starter.sh takes them: file blocks, open files, CPU seconds, KiB of address space, processes. */
export const limitWords = (limits: SandboxLimits): ReadonlyArray<string> => [
  String(Math.floor(limits.fileSizeBytes / 512)),
  String(limits.openFiles),
  String(limits.cpuSeconds),
  sumsHeld().memory ? "" : String(Math.floor(limits.memoryBytes / 1024)),
  String(limits.processes)
]

/** How `temporaryBytes` is shared out: /tmp and /dev/shm are file systems of their own, with a size each. */
export const temporarySizes = ({ temporaryBytes }: SandboxLimits): { readonly tmp: string; readonly shm: string } => {
  const shm = Math.floor(temporaryBytes / 4)
  return { tmp: String(temporaryBytes - shm), shm: String(shm) }
}

/** How a sandbox with a network of its own limits it, in words. */
export const networkByHost =
  "no network but the hosts of the policy, through haft, for calls that are allowed it; TLS is not decrypted"

/** Limits that are really enforced here, as text. */
export const describeLimits = (
  limits: SandboxLimits,
  { hasFilter, owner }: { readonly hasFilter: boolean; readonly owner: Owner | undefined }
): Pick<SandboxDescription, "enforced" | "notEnforced"> => {
  const held = sumsHeld()
  const isRoot = process.getuid?.() === 0 && owner === undefined
  const groupMend = "Give haft a cgroup of its own, with: systemd-run --user --scope -p Delegate=yes haft …"
  const facts: ReadonlyArray<readonly [isEnforced: boolean, limit: string, mend?: string]> = [
    [true, networkByHost],
    [true, "only the system's programs and the workspace are visible"],
    [true, "own processes, ends with the host"],
    [true, `own /tmp and /dev/shm, ${bytes(limits.temporaryBytes)} together`],
    [true, "control files stay as they are: read-only where they exist, moved aside where a command makes them"],
    [true, eachProcess(limits)],
    [
      hasFilter,
      "vsock, io_uring, keyrings, terminal injection and setuid bits are filtered",
      "The filter is written for x64 and arm64; elsewhere, choose the sandbox docker."
    ],
    [held.memory, `${bytes(limits.memoryBytes)} of memory for all processes together`, groupMend],
    ...(held.memory ? [] : [[true, `${bytes(limits.memoryBytes)} of address space for each process`] as const]),
    [held.processes || !isRoot, `${limits.processes} processes`, groupMend],
    [
      !isRoot,
      "the user inside is not the machine's root",
      "Give the workspace to another user than root, or start haft as one."
    ]
  ]
  return {
    enforced: facts.filter(([isEnforced]) => isEnforced).map(([, limit]) => limit),
    notEnforced: facts
      .filter(([isEnforced]) => !isEnforced)
      .map(([, limit, mend]) => (mend === undefined ? { limit } : { limit, mend }))
  }
}

/** The limits that hold for each process by itself, in words. */
export const eachProcess = ({ fileSizeBytes, openFiles, cpuSeconds }: SandboxLimits): string =>
  `files of at most ${bytes(fileSizeBytes)}, ${openFiles} open, ${cpuSeconds} s of CPU each`

/** A number of bytes as people write it: `4 GiB`, `1.5 MiB`. */
export const bytes = (count: number): string => {
  const power = Math.min(Math.max(Math.floor(Math.log2(Math.max(count, 1)) / 10), 0), 4)
  return `${Number((count / 1024 ** power).toFixed(1))} ${["bytes", "KiB", "MiB", "GiB", "TiB"][power]}`
}
