import { randomBytes } from "node:crypto"
import { writeFileSync } from "node:fs"
import { basename, isAbsolute, join } from "node:path"

import {
  type Command,
  makeToolError,
  Network,
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

import { containerStart, containerSweep, containerTerminal } from "../embedded-scripts.ts"
import { withLaunch } from "../process/prepared-launch.ts"
import { refuseRuntimeInside } from "../process/runtime-directory.ts"
import { systemPath, systemProgram } from "../process/system-programs.ts"
import { otherOwner } from "../workspace/commit/owner.ts"
import { liesWithin } from "../workspace/paths/is-inside.ts"
import { rootIdentity } from "../workspace/paths/open-roots.ts"
import { environmentFor, isRenamed, passedName, withoutCredentials } from "./environment.ts"
import { bytes, defaultLimits, eachProcess, type SandboxLimits, type SandboxOptions, temporarySizes } from "./limits.ts"
import { HeldPlaces } from "./linux/protected-mounts.ts"
import { containerProfile } from "./linux/seccomp.ts"
import { madeWhenUsed, type Mount, ownMounts, visiblePaths, withOtherRoots } from "./paths.ts"
import { probedSandbox, type Surroundings } from "./probe.ts"

export interface ContainerOptions extends SandboxOptions {
  /** It must be there already: a sandbox fetches nothing. */
  readonly image?: string
  /** The first that is installed when absent. */
  readonly engine?: "docker" | "podman"
  /** Processors that one command may keep busy. */
  readonly processors?: number
}

/** A container for each command, by docker or podman. The image brings the programs; the workspace is mounted. */
export const containerSandbox = (given: ContainerOptions = {}): Layer.Layer<Sandbox, never, Workspace | Processes> =>
  Layer.effect(
    Sandbox,
    Effect.gen(function* () {
      const workspace = yield* Workspace
      const { root, secretFiles } = workspace
      const { credentials } = yield* Network
      const options = withoutCredentials(withOtherRoots(given, workspace), credentials)
      const processes = yield* Processes
      const engine = yield* Effect.sync(() =>
        (options.engine === undefined ? ["docker", "podman"] : [options.engine])
          .map(systemProgram)
          .find((path) => path !== undefined)
      )
      const host = randomBytes(8).toString("hex")
      const profiles = yield* madeWhenUsed("profile", (directory) => {
        writeFileSync(join(directory, profileName), JSON.stringify(containerProfile()))
        writeFileSync(join(directory, maskName), "", { mode: 0 })
      })
      const held = new HeldPlaces()
      let isUsed = false
      const engineRuns = (words: ReadonlyArray<string>): Effect.Effect<void> =>
        Effect.ignore(processes.run(engineCommand(words, root), { timeoutMs: 20_000 }))
      const wrap = (command: Command, request: SandboxRequest, { existing }: Surroundings): Command => {
        if (request.channel === true) {
          throw makeToolError("sandbox_error", "a container can't keep a shell open between calls", {
            suggestion: "Run each command with run_command, or open a terminal."
          })
        }
        isUsed = true
        for (const path of visiblePaths(root, options)) refuseRuntimeInside(path)
        const name = `haft-${host}-${randomBytes(4).toString("hex")}`
        const profile = join(profiles(), profileName)
        const limits = { ...defaultLimits, ...options.limits }
        const { writable = true } = request
        const secrets = secretFiles?.() ?? []
        // Devices can be opened in a container, but nobody in it has a privilege to read this file.
        const mask = join(profiles(), maskName)
        const mounts = ownMounts(root, options, { isWritable: writable, held, existing, secrets, mask })
        const plan = { name, host, root, profile, limits, options, request, mounts }
        const made = withLaunch(inContainer(engine ?? "docker", command, plan), {
          alsoKill: removeContainer((pauses) => engineRuns(sweep(engine ?? "docker", `name=${name}`, pauses)), removals)
        })
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
        options,
        wrap,
        network: "a container has no way out that leads only to haft",
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
const maskName = "secret"

const defaultImage = "debian:stable-slim"

const inContainer = (engine: string, command: Command, plan: Plan): Command => {
  const { terminal = false } = plan.request
  const missing = `haft-missing-${randomBytes(8).toString("hex")}`
  const image = plan.options.image ?? defaultImage
  // A command line is for everybody to read, and values may be secrets, so the engine's program finds them in its own
  // environment, under other names.
  const variables = Object.entries(containerEnvironment(command, plan))
  const renamed = variables.map(([name]) => name).filter(isRenamed)
  const inside = [
    "/bin/sh",
    "-c",
    containerStart,
    "haft",
    missing,
    identityOf(plan.root),
    plan.root,
    ...renamed,
    "--",
    command.program,
    ...command.args
  ]
  // podman raises this one limit by itself, which not every root may do. Its users' processes are counted apart.
  const processes = basename(engine) === "podman" ? [`--ulimit=nproc=${plan.limits.processes}`] : []
  const passed = variables.map(([name, value]) => [passedName(name), value] as const)
  const names = passed.map(([name]) => `--env=${name}`)
  const run = [...runOptions(command, plan), ...names, ...processes, image, ...inside]
  const attach = command.stdin === undefined ? [] : ["-i"]
  const made: Command = {
    program: terminal ? "/bin/sh" : engine,
    args: terminal ? ["-c", containerTerminal, "haft", engine, ...run] : ["run", ...attach, ...run],
    directory: "/",
    env: { ...engineEnvironment(plan.root), ...Object.fromEntries(passed) },
    ...(command.stdin !== undefined && { stdin: command.stdin })
  }
  return withLaunch(made, {
    signalsAsCodes: true,
    ifHostDies: sweep(engine, ofHost(plan.host), latePauses),
    failure: failureOf(engine, missing, command.program)
  })
}

const runOptions = (command: Command, plan: Plan): ReadonlyArray<string> => {
  const { limits, options, root, mounts } = plan
  const { getuid, getgid } = process
  const user = otherOwner(root) ?? { uid: getuid?.() ?? 65_534, gid: getgid?.() ?? 65_534 }
  const memory = String(limits.memoryBytes)
  const sizes = temporarySizes(limits)
  return [
    "--rm",
    "--init",
    "--pull=never",
    "--log-driver=none",
    `--name=${plan.name}`,
    `--label=haft.host=${plan.host}`,
    "--network=none",
    "--read-only",
    `--tmpfs=/tmp:rw,exec,nosuid,nodev,mode=1777,size=${sizes.tmp}`,
    `--shm-size=${sizes.shm}`,
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
    if (exitCode === 125 && stderr.startsWith(`${missing} replaced`)) {
      return makeToolError("sandbox_error", "the sandbox could not be set up: the workspace was replaced meanwhile")
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
  containerSweep,
  "haft",
  engine,
  filter,
  "0",
  ...pauses.map(String)
]

const engineCommand = ([program = "", ...args]: ReadonlyArray<string>, root: string): Command => ({
  program,
  args,
  directory: "/",
  env: engineEnvironment(root)
})

/**
 * How the engine's own program finds its engine. It runs plugins and helpers that its configuration names, so none of
 * that comes from the workspace.
 */
const engineEnvironment = (root: string): Record<string, string> => {
  const names = ["HOME", "DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "CONTAINER_HOST", "CONTAINERS_CONF"]
  const given = [...names, "XDG_RUNTIME_DIR"].flatMap((name) => {
    const value = process.env[name]
    return value === undefined || (isAbsolute(value) && liesWithin(root, value)) ? [] : [[name, value] as const]
  })
  const isHomeInside = !given.some(([name]) => name === "HOME")
  return {
    PATH: systemPath,
    ...(isHomeInside && { HOME: "/nonexistent", DOCKER_CONFIG: "/nonexistent" }),
    ...Object.fromEntries(given)
  }
}

// An engine elsewhere, in a virtual machine for one, counts its files differently.
const identityOf = (root: string): string =>
  process.platform === "linux" && (process.env["DOCKER_HOST"] ?? "unix:").startsWith("unix:")
    ? (rootIdentity(root) ?? "")
    : ""

const describe = (limits: SandboxLimits): SandboxDescription => ({
  kind: "docker",
  isolated: true,
  enforced: [
    "no network",
    "only the image's programs and the workspace are visible",
    "no capabilities, no new privileges, a filter for system calls",
    `own /tmp and /dev/shm, ${bytes(limits.temporaryBytes)} together`,
    "control files stay as they are: read-only where they exist, moved aside where a command makes them",
    `${bytes(limits.memoryBytes)} of memory and ${limits.processes} processes for all together`,
    eachProcess(limits)
  ],
  notEnforced: [{ limit: "how many processes a command left is not known; they end with its container" }]
})
