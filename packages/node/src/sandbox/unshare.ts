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
import { enterCode } from "./unshare-enter.ts"

/**
 * Linux without bubblewrap, from what a system has anyway: `unshare` and `setpriv` of util-linux make the
 * namespaces, and perl, which unlike a shell can make system calls, shuts them.
 */
export const unshareSandbox = (options: SandboxOptions = {}): Layer.Layer<Sandbox, never, Workspace | Processes> =>
  Layer.effect(
    Sandbox,
    Effect.gen(function* () {
      const { root } = yield* Workspace
      const limits = { ...defaultLimits, ...options.limits }
      const settings = yield* settingsCopy
      const filter = seccompFilter()
      const program = yield* Effect.sync(() =>
        ["setpriv", "unshare", "perl"].every((name) => findProgram(name) !== undefined) && filter !== undefined
          ? findProgram("setpriv")
          : undefined
      )
      const wrap = (command: Command, request: SandboxRequest = {}): Command => {
        const plan = planOf(command, { root, settings, limits, options, request })
        return request.terminal === true
          ? behindTerminal(plan, filter ?? new Uint8Array(), limits, request)
          : gated(plan, filter ?? new Uint8Array(), limits, request, command)
      }
      const works = yield* probed("unshare", program, wrap)
      return {
        wrap: (command, request) =>
          root === "/"
            ? toolError("sandbox_error", "the workspace is the whole machine, so a sandbox would hold nothing back")
            : Effect.flatMap(works, () => Effect.sync(() => wrap(command, request))),
        describe: Effect.as(works, { kind: "unshare", isolated: true, ...describeLimits(limits, { hasFilter: true }) })
      }
    })
  )

interface Plan {
  readonly root: string
  readonly settings: () => string
  readonly limits: SandboxLimits
  readonly options: SandboxOptions
  readonly request: SandboxRequest
}

interface PlannedCommand {
  /** Steps of three words each, see {@link enterCode}. */
  readonly steps: string
  readonly command: ReadonlyArray<string>
}

const planOf = (command: Command, { root, settings, limits, options, request }: Plan): PlannedCommand => {
  const { network = false, writable = true } = request
  const env = environmentFor(command.env, request, {
    names: options.environment ?? [],
    home: "/tmp",
    temporary: "/tmp"
  })
  const size = String(limits.temporaryBytes)
  const steps: ReadonlyArray<Step> = [
    ...systemMounts(settings(), network).map(stepOf),
    ["proc", "", "/proc"],
    ...kernelFiles.map(readable).map(stepOf),
    ["devices", size, "/dev"],
    ["temporary", size, "/tmp"],
    ...ownMounts(root, options, writable).map(stepOf),
    ["enter", "", command.directory],
    ...Object.entries(env).map(([name, value]): Step => ["variable", name, value])
  ]
  return {
    steps: steps.map((step) => step.map((word) => `${word}\0`).join("")).join(""),
    command: [command.program, ...command.args]
  }
}

type Step = readonly [kind: string, first: string, second: string]

const stepOf = (mount: Mount): Step => {
  if (mount.kind === "link") return ["link", mount.target, mount.path]
  if (mount.kind === "empty") return ["empty", "", mount.path]
  return [mount.kind, mount.from ?? mount.path, mount.path]
}

// The first words are the host's and run outside; perl is the first program inside and becomes the starter.
const words = (starter: string, plan: PlannedCommand, { network = false }: SandboxRequest): ReadonlyArray<string> => [
  "setpriv",
  "--pdeathsig",
  "KILL",
  "unshare",
  "--user",
  "--map-current-user",
  "--keep-caps",
  "--mount",
  "--pid",
  "--ipc",
  "--uts",
  "--cgroup",
  ...(network ? [] : ["--net"]),
  "--kill-child=KILL",
  "--",
  "perl",
  "-e",
  enterCode(),
  "--",
  starter,
  ...plan.command
]

const gated = (
  plan: PlannedCommand,
  filter: Uint8Array,
  limits: SandboxLimits,
  request: SandboxRequest,
  command: Command
): Command => {
  const [program = "", ...args] = words(starterCode(limitCode(limits), { go: 5, say: 6 }), plan, request)
  return {
    program,
    args,
    directory: "/",
    env: { PATH: outerPath() },
    ...(command.stdin !== undefined && { stdin: command.stdin }),
    descriptors: [memoryFile(plan.steps), memoryFile(filter)],
    gated: true,
    limits: treeLimits(limits)
  }
}

const behindTerminal = (
  plan: PlannedCommand,
  filter: Uint8Array,
  limits: SandboxLimits,
  request: SandboxRequest
): Command => {
  const directory = mkdtempSync(join(tmpdir(), "haft-terminal-"))
  writeFileSync(join(directory, "steps"), plan.steps, { mode: 0o600 })
  writeFileSync(join(directory, "filter"), filter, { mode: 0o600 })
  const open = `exec 3<"$1/steps" 4<"$1/filter"; rm -rf "$1"; shift; exec "$@"`
  return {
    program: "/bin/sh",
    args: ["-c", open, "haft", directory, ...words(terminalStarterCode(limitCode(limits)), plan, request)],
    directory: "/",
    env: { PATH: outerPath() },
    afterEnd: Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
  }
}

const outerPath = (): string => process.env["PATH"] ?? "/usr/bin:/bin"
