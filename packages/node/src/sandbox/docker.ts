import { randomBytes } from "node:crypto"
import { writeFileSync } from "node:fs"
import { basename, join } from "node:path"

import {
  type Command,
  makeToolError,
  Processes,
  type RunErrorCode,
  Sandbox,
  type SandboxDescription,
  type SandboxRequest,
  type ToolError,
  Workspace
} from "@haft/core"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"

import { otherOwner } from "../workspace/commit/owner.ts"
import { environmentFor } from "./environment.ts"
import { bytes, defaultLimits, eachProcess, type SandboxLimits, type SandboxOptions } from "./limits.ts"
import { HeldPlaces } from "./linux/protected-mounts.ts"
import { containerProfile } from "./linux/seccomp.ts"
import { madeWhenUsed, type Mount, ownMounts } from "./paths.ts"
import { findProgram, probedSandbox } from "./probe.ts"

export interface ContainerOptions extends SandboxOptions {
  /** It must be there already: a sandbox fetches nothing. */
  readonly image?: string
  /** The first that is installed when absent. */
  readonly engine?: "docker" | "podman"
  /** Processors that one command may keep busy. */
  readonly processors?: number
}

/** A container for each command, by docker or podman. The image brings the programs; the workspace is mounted. */
export const containerSandbox = (options: ContainerOptions = {}): Layer.Layer<Sandbox, never, Workspace | Processes> =>
  Layer.effect(
    Sandbox,
    Effect.gen(function* () {
      const { root } = yield* Workspace
      const processes = yield* Processes
      const engine = yield* Effect.sync(() =>
        (options.engine === undefined ? ["docker", "podman"] : [options.engine])
          .map(findProgram)
          .find((path) => path !== undefined)
      )
      const host = randomBytes(8).toString("hex")
      const profiles = yield* madeWhenUsed("profile", (directory) =>
        writeFileSync(join(directory, profileName), JSON.stringify(containerProfile()))
      )
      const held = new HeldPlaces()
      let isUsed = false
      const engineRuns = (words: ReadonlyArray<string>): Effect.Effect<void> =>
        Effect.ignore(processes.run(engineCommand(words), { timeoutMs: 20_000 }))
      const wrap = (command: Command, request: SandboxRequest = {}): Command => {
        isUsed = true
        const name = `haft-${host}-${randomBytes(4).toString("hex")}`
        const profile = join(profiles(), profileName)
        const limits = { ...defaultLimits, ...options.limits }
        const { writable = true } = request
        const mounts = ownMounts(root, options, { isWritable: writable, held })
        const made = {
          ...inContainer(engine ?? "docker", command, { name, host, root, profile, limits, options, request, mounts }),
          alsoKill: removeContainer((pauses) => engineRuns(sweep(engine ?? "docker", `name=${name}`, pauses)), removals)
        }
        return writable ? held.during(made, mounts) : made
      }
      // Containers outlive the program that started them: what an interrupted start left is removed at the end.
      const removals = new Set<Fiber.Fiber<void>>()
      yield* Effect.addFinalizer(() =>
        engine === undefined || !isUsed
          ? Effect.void
          : Effect.andThen(
              engineRuns(sweep(engine, ofHost(host))),
              Effect.suspend(() => Fiber.awaitAll([...removals]))
            )
      )
      return yield* probedSandbox({
        kind: "docker",
        program: engine,
        wrap,
        describe: () => describe({ ...defaultLimits, ...options.limits })
      })
    })
  )

interface Plan {
  readonly name: string
  readonly host: string
  readonly root: string
  readonly profile: string
  readonly limits: SandboxLimits
  readonly options: ContainerOptions
  readonly request: SandboxRequest
  readonly mounts: ReadonlyArray<Mount>
}

const profileName = "profile.json"

const defaultImage = "debian:stable-slim"

const inContainer = (engine: string, command: Command, plan: Plan): Command => {
  const { terminal = false } = plan.request
  const missing = `haft-missing-${randomBytes(8).toString("hex")}`
  const image = plan.options.image ?? defaultImage
  const variables = Object.entries(containerEnvironment(command, plan))
  const renamed = variables.map(([name]) => name).filter(isIdentifier)
  const inside = ["/bin/sh", "-c", startInside(missing), "haft", ...renamed, "--", command.program, ...command.args]
  // podman raises this one limit by itself, which not every root may do. Its users' processes are counted apart.
  const processes = basename(engine) === "podman" ? [`--ulimit=nproc=${plan.limits.processes}`] : []
  const passed = variables.map(([name, value]) => [passedName(name), value] as const)
  const names = passed.map(([name]) => `--env=${name}`)
  const run = [...runOptions(command, plan), ...names, ...processes, image, ...inside]
  const attach = command.stdin === undefined ? [] : ["-i"]
  return {
    program: terminal ? "/bin/sh" : engine,
    args: terminal ? ["-c", askForTerminal, "haft", engine, ...run] : ["run", ...attach, ...run],
    directory: "/",
    env: { ...engineEnvironment(), ...Object.fromEntries(passed) },
    ...(command.stdin !== undefined && { stdin: command.stdin }),
    signalsAsCodes: true,
    ifHostDies: sweep(engine, ofHost(plan.host), latePauses),
    failure: failureOf(engine, missing, command.program)
  }
}

// A command line is for everybody to read, and values may be secrets, so the engine's program finds them in its own
// environment. There they have other names: what a call chooses must not reach a program outside. A shell can't give
// back a name that is none of its own, and no program outside listens to such a one.
const passedName = (name: string): string => (isIdentifier(name) ? `HAFT_GIVES_${name}` : name)

const isIdentifier = (name: string): boolean => /^[A-Za-z_]\w*$/.test(name)

// Some names a shell keeps for itself; `command` sees to it that it goes on.
const startInside = (missing: string): string => `
while [ "$1" != -- ]; do
  eval "command export $1=\\"\\$HAFT_GIVES_$1\\"; unset HAFT_GIVES_$1"
  shift
done 2>/dev/null
shift
command -v "$1" >/dev/null || { echo ${missing} >&2; exit 127; }
exec "$@"
`

// The engine refuses a terminal where there is none, as in a test.
const askForTerminal = `engine=$1; shift; if [ -t 0 ]; then exec "$engine" run -i -t "$@"; fi; exec "$engine" run "$@"`

const runOptions = (command: Command, plan: Plan): ReadonlyArray<string> => {
  const { limits, options, request, root, mounts } = plan
  const { network = false } = request
  const { getuid, getgid } = process
  const user = otherOwner(root) ?? { uid: getuid?.() ?? 65_534, gid: getgid?.() ?? 65_534 }
  const memory = String(limits.memoryBytes)
  const size = String(limits.temporaryBytes)
  return [
    "--rm",
    "--init",
    "--pull=never",
    "--log-driver=none",
    `--name=${plan.name}`,
    `--label=haft.host=${plan.host}`,
    ...(network ? [] : ["--network=none"]),
    "--read-only",
    `--tmpfs=/tmp:rw,exec,nosuid,nodev,mode=1777,size=${size}`,
    `--shm-size=${size}`,
    `--memory=${memory}`,
    `--memory-swap=${memory}`,
    `--pids-limit=${limits.processes}`,
    `--cpus=${options.processors ?? 2}`,
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
    `--security-opt=seccomp=${plan.profile}`,
    `--user=${user.uid}:${user.gid}`,
    "--ulimit=core=0",
    `--ulimit=fsize=${limits.fileSizeBytes}`,
    `--ulimit=nofile=${limits.openFiles}`,
    `--ulimit=cpu=${limits.cpuSeconds}`,
    ...mounts.map(mountOption),
    `--workdir=${command.directory}`
  ]
}

// The image has its own programs in its own places, and its own users.
const containerEnvironment = (command: Command, { options, request }: Plan): Record<string, string> => {
  const names = options.environment ?? []
  const environment = environmentFor({}, request, { names, home: "/tmp", temporary: "/tmp" })
  for (const name of ["PATH", "SHELL", "USER", "LOGNAME"]) if (!names.includes(name)) delete environment[name]
  return { ...environment, ...command.env }
}

const mountOption = (mount: Mount): string => {
  const fields =
    mount.kind === "empty" || mount.kind === "link"
      ? ["type=tmpfs", `dst=${mount.path}`, "tmpfs-mode=0755", "ro"]
      : [
          "type=bind",
          `src=${mount.from ?? mount.path}`,
          `dst=${mount.path}`,
          ...(mount.kind === "readable" ? ["ro"] : [])
        ]
  return `--mount=${fields.map(quoted).join(",")}`
}

// The engine reads the value as a line of CSV.
const quoted = (field: string): string => (/[",\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)

const failureOf =
  (engine: string, missing: string, program: string) =>
  (exitCode: number | null, stderr: string): ToolError<RunErrorCode> | undefined => {
    if (exitCode === 127 && stderr.startsWith(missing)) {
      return makeToolError("command_not_found", `there is no program '${program}' in the sandbox`)
    }
    // The engine's own code for a container that could not be made, and how its own remarks begin.
    return exitCode === 125 && stderr.startsWith(basename(engine) === "podman" ? "Error: " : "docker: ")
      ? makeToolError("sandbox_error", `the sandbox could not be set up: ${stderr.split("\n")[0] ?? ""}`)
      : undefined
  }

// The call waits until the container is gone, and nobody for one that appears later.
const removeContainer = Effect.fnUntraced(function* (
  remove: (pauses?: ReadonlyArray<number>) => Effect.Effect<void>,
  removals: Set<Fiber.Fiber<void>>
) {
  yield* remove()
  const fiber = yield* Effect.forkDetach(remove(latePauses))
  removals.add(fiber)
  fiber.addObserver(() => removals.delete(fiber))
})

const ofHost = (host: string): string => `label=haft.host=${host}`

// A container that was still being made when its command was given up appears a moment later, and a busy engine takes
// its time. Seconds.
const latePauses: ReadonlyArray<number> = [0.3, 0.7, 2]

/** Removes every container that a filter finds, and again after each pause. */
const sweep = (engine: string, filter: string, pauses: ReadonlyArray<number> = []): ReadonlyArray<string> => [
  "/bin/sh",
  "-c",
  removeAll,
  "haft",
  engine,
  filter,
  "0",
  ...pauses.map(String)
]

// One that is being started can be removed only once it is there, and an engine may refuse meanwhile.
const removeAll = `
engine=$1 filter=$2 tries=0
shift 2
for pause; do
  sleep "$pause"
  while all=$("$engine" ps --all --quiet --filter "$filter") && [ -n "$all" ] && [ $tries -lt 50 ]; do
    "$engine" rm --force $all || sleep 0.1
    tries=$((tries + 1))
  done
done
`

const engineCommand = ([program = "", ...args]: ReadonlyArray<string>): Command => ({
  program,
  args,
  directory: "/",
  env: engineEnvironment()
})

/** How the engine's own program finds its engine. */
const engineEnvironment = (): Record<string, string> =>
  Object.fromEntries(
    [
      "PATH",
      "HOME",
      "DOCKER_HOST",
      "DOCKER_CONTEXT",
      "DOCKER_CONFIG",
      "CONTAINER_HOST",
      "CONTAINERS_CONF",
      "XDG_RUNTIME_DIR"
    ].flatMap((name) => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value] as const]
    })
  )

const describe = (limits: SandboxLimits): SandboxDescription => ({
  kind: "docker",
  isolated: true,
  enforced: [
    "no network unless a call is allowed it",
    "only the image's programs and the workspace are visible",
    "no capabilities, no new privileges, a filter for system calls",
    `${bytes(limits.memoryBytes)} of memory and ${limits.processes} processes for all together`,
    eachProcess(limits)
  ],
  notEnforced: [{ limit: "how many processes a command left is not known; they end with its container" }]
})
