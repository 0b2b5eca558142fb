import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { type Command, type Processes, Sandbox, type SandboxRequest, toolError, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { memoryFile } from "../process/memory-file.ts"
import { environmentFor } from "./environment.ts"
import {
  defaultLimits,
  describeLimits,
  limitCode,
  type SandboxLimits,
  type SandboxOptions,
  treeLimits
} from "./limits.ts"
import { kernelFiles, type Mount, ownMounts, readable, settingsCopy, systemMounts } from "./paths.ts"
import { findProgram, probed } from "./probe.ts"
import { seccompFilter } from "./seccomp.ts"
import { starterCode, terminalStarterCode } from "./starter.ts"

/** Linux, with bubblewrap: namespaces, a filter for system calls, and only the system's programs and the workspace. */
export const bubblewrapSandbox = (options: SandboxOptions = {}): Layer.Layer<Sandbox, never, Workspace | Processes> =>
  Layer.effect(
    Sandbox,
    Effect.gen(function* () {
      const { root } = yield* Workspace
      const limits = { ...defaultLimits, ...options.limits }
      const bubblewrap = yield* Effect.sync(() => findProgram("bwrap"))
      const settings = yield* settingsCopy
      const filter = seccompFilter()
      const wrap = (command: Command, request: SandboxRequest = {}): Command => {
        const plan = { root, settings, limits, options, request }
        return request.terminal === true
          ? behindTerminal(bubblewrap ?? "bwrap", filter, planOf(command, plan), limits)
          : gated(bubblewrap ?? "bwrap", filter, planOf(command, plan), command, limits)
      }
      const works = yield* probed("bubblewrap", bubblewrap, wrap)
      return {
        wrap: (command, request) =>
          root === "/"
            ? toolError("sandbox_error", "the workspace is the whole machine, so a sandbox would hold nothing back")
            : Effect.flatMap(works, () => Effect.sync(() => wrap(command, request))),
        describe: Effect.as(works, {
          kind: "bubblewrap",
          isolated: true,
          ...describeLimits(limits, { hasFilter: filter !== undefined })
        })
      }
    })
  )

interface Plan {
  readonly root: string
  /** The copy of the system's settings. */
  readonly settings: () => string
  readonly limits: SandboxLimits
  readonly options: SandboxOptions
  readonly request: SandboxRequest
}

// What bubblewrap is told, but for the descriptors: everything is shut, then the command's own world is laid out.
const planOf = (command: Command, { root, settings, limits, options, request }: Plan): PlannedCommand => {
  const { network = false, writable = true, terminal = false } = request
  const env = environmentFor(command.env, request, {
    names: options.environment ?? [],
    home: "/tmp",
    temporary: "/tmp"
  })
  const size = String(limits.temporaryBytes)
  return {
    options: [
      ...shut,
      ...(network ? [] : ["--unshare-net"]),
      // A terminal's own session must stay, or Ctrl-C reaches nobody.
      ...(terminal ? [] : ["--new-session"]),
      ...systemMounts(settings(), network).flatMap(mountOptions),
      "--proc",
      "/proc",
      ...kernelFiles.map(readable).flatMap(mountOptions),
      "--dev",
      "/dev",
      ...temporary("/dev/shm", size),
      "--remount-ro",
      "/dev",
      ...temporary("/tmp", size),
      ...ownMounts(root, options, writable).flatMap(mountOptions),
      "--remount-ro",
      "/",
      "--chdir",
      command.directory,
      "--clearenv",
      ...Object.entries(env).flatMap(([name, value]) => ["--setenv", name, value])
    ],
    command: [command.program, ...command.args]
  }
}

const shut = [
  "--unshare-user",
  "--disable-userns",
  "--unshare-ipc",
  "--unshare-pid",
  "--unshare-uts",
  "--unshare-cgroup-try",
  "--hostname",
  "haft",
  "--die-with-parent",
  "--as-pid-1",
  "--cap-drop",
  "ALL"
]

const temporary = (path: string, size: string) => ["--size", size, "--perms", "1777", "--tmpfs", path]

interface PlannedCommand {
  readonly options: ReadonlyArray<string>
  readonly command: ReadonlyArray<string>
}

const mountOptions = (mount: Mount): ReadonlyArray<string> => {
  if (mount.kind === "link") return ["--symlink", mount.target, mount.path]
  if (mount.kind === "empty") return ["--tmpfs", mount.path, "--remount-ro", mount.path]
  return [mount.kind === "writable" ? "--bind" : "--ro-bind", mount.from ?? mount.path, mount.path]
}

// Options go through a descriptor: a command line is for everybody to read, and the environment may hold secrets.
// bubblewrap itself gets none of that environment: it runs outside, and would obey LD_PRELOAD.
const gated = (
  bubblewrap: string,
  filter: Uint8Array | undefined,
  plan: PlannedCommand,
  command: Command,
  limits: SandboxLimits
): Command => {
  const descriptors = [memoryFile(nulSeparated(plan.options)), ...(filter === undefined ? [] : [memoryFile(filter)])]
  const starter = starterCode(limitCode(limits), { go: 3 + descriptors.length, say: 4 + descriptors.length })
  return {
    program: bubblewrap,
    args: [...given(filter), "--", "/bin/sh", "-c", starter, "haft", ...plan.command],
    directory: "/",
    env: {},
    ...(command.stdin !== undefined && { stdin: command.stdin }),
    descriptors,
    gated: true,
    limits: treeLimits(limits)
  }
}

// Who opens a terminal can't lend descriptors, so a shell opens the files, and removes them before anything else runs.
const behindTerminal = (
  bubblewrap: string,
  filter: Uint8Array | undefined,
  plan: PlannedCommand,
  limits: SandboxLimits
): Command => {
  const directory = mkdtempSync(join(tmpdir(), "haft-terminal-"))
  writeFileSync(join(directory, "options"), nulSeparated(plan.options), { mode: 0o600 })
  writeFileSync(join(directory, "filter"), filter ?? "", { mode: 0o600 })
  const open = `exec 3<"$1/options" 4<"$1/filter"; rm -rf "$1"; shift; exec "$@"`
  const starter = terminalStarterCode(limitCode(limits))
  const inside = ["--", "/bin/sh", "-c", starter, "haft", ...plan.command]
  return {
    program: "/bin/sh",
    args: ["-c", open, "haft", directory, bubblewrap, ...given(filter), ...inside],
    directory: "/",
    env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin" },
    afterEnd: Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
  }
}

const given = (filter: Uint8Array | undefined) => ["--args", "3", ...(filter === undefined ? [] : ["--seccomp", "4"])]

const nulSeparated = (words: ReadonlyArray<string>): string => words.map((word) => `${word}\0`).join("")
