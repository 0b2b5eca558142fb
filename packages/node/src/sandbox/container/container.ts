import { randomBytes } from "node:crypto"
import { writeFileSync } from "node:fs"
import { join } from "node:path"

import {
  type Command,
  makeToolError,
  Network,
  type Processes,
  type RunErrorCode,
  Sandbox,
  type SandboxDescription,
  type SandboxRequest,
  type ToolError,
  Workspace
} from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { containerStart, containerTerminal } from "../../embedded-scripts.ts"
import { withLaunch } from "../../process/prepared-launch.ts"
import { refuseRuntimeInside } from "../../process/runtime-directory.ts"
import { otherOwner } from "../../workspace/commit/owner.ts"
import { rootIdentity } from "../../workspace/paths/open-roots.ts"
import { environmentFor, isRenamed, passedName, withoutCredentials } from "../environment.ts"
import {
  bytes,
  defaultLimits,
  eachProcess,
  networkByHost,
  type SandboxLimits,
  type SandboxOptions,
  temporarySizes
} from "../limits.ts"
import { HeldPlaces } from "../linux/protected-mounts.ts"
import { containerProfile } from "../linux/seccomp.ts"
import { madeWhenUsed, type Mount, ownMounts, visiblePaths, withOtherRoots } from "../paths.ts"
import { probedSandbox, type Surroundings } from "../probe.ts"
import { trustAuthority } from "../trusted-authority.ts"
import { type ContainerEngine, containerEngine, engineCommand, isPodman, mountOption, sharesKernel } from "./engine.ts"
import { containerNetworks } from "./network.ts"

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
      const engine = yield* containerEngine(root, options.engine)
      const image = options.image ?? defaultImage
      const profiles = yield* madeWhenUsed("profile", (directory) => {
        writeFileSync(join(directory, profileName), JSON.stringify(containerProfile()))
        writeFileSync(join(directory, maskName), "", { mode: 0 })
      })
      const held = new HeldPlaces()
      const hasNetwork = sharesKernel(engine)
      const network = hasNetwork ? yield* containerNetworks(engine, image) : "its engine runs on another machine"
      const wrap = (command: Command, request: SandboxRequest, { existing, network }: Surroundings): Command => {
        if (request.channel === true) {
          throw makeToolError("sandbox_error", "a container can't keep a shell open between calls", {
            suggestion: "Run each command with run_command, or open a terminal."
          })
        }
        for (const path of visiblePaths(root, options)) refuseRuntimeInside(path)
        const name = engine.newName()
        const { writable = true } = request
        const secrets = secretFiles?.() ?? []
        // Devices can be opened in a container, but nobody in it has a privilege to read this file.
        const mask = join(profiles(), maskName)
        const mounts = ownMounts(root, options, { isWritable: writable, held, existing, secrets, mask })
        const trusted =
          network?.authority === undefined
            ? undefined
            : trustAuthority(profiles(), network.authority, { hasOwnSettings: true })
        const plan: Plan = {
          name,
          image,
          root,
          profile: join(profiles(), profileName),
          limits: { ...defaultLimits, ...options.limits },
          options,
          request,
          mounts: [...(trusted?.mounts ?? []), ...mounts],
          network: network?.namespace ?? "none",
          variables: { ...network?.variables, ...trusted?.variables }
        }
        const made = withLaunch(inContainer(engine, command, plan), { alsoKill: engine.remove(name) })
        return writable ? held.during(made, mounts) : made
      }
      return yield* probedSandbox({
        kind: "docker",
        program: engine.program,
        options,
        wrap,
        network,
        describe: () => describe({ ...defaultLimits, ...options.limits }, hasNetwork)
      })
    })
  )

interface Plan {
  readonly name: string
  readonly image: string
  readonly root: string
  readonly profile: string
  readonly limits: SandboxLimits
  readonly options: ContainerOptions
  readonly request: SandboxRequest
  readonly mounts: ReadonlyArray<Mount>
  /** Network mode of the container. */
  readonly network: string
  /** Variables that tell programs about the network. */
  readonly variables: Readonly<Record<string, string>>
}

const profileName = "profile.json"
const maskName = "secret"

const defaultImage = "debian:stable-slim"

const inContainer = (engine: ContainerEngine, command: Command, plan: Plan): Command => {
  const { terminal = false } = plan.request
  const missing = `haft-missing-${randomBytes(8).toString("hex")}`
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
    // An engine elsewhere, in a virtual machine for one, counts its files differently.
    sharesKernel(engine) ? (rootIdentity(plan.root) ?? "") : "",
    plan.root,
    ...renamed,
    "--",
    command.program,
    ...command.args
  ]
  // podman raises this one limit by itself, which not every root may do. Its users' processes are counted apart.
  const processes = isPodman(engine) ? [`--ulimit=nproc=${plan.limits.processes}`] : []
  const passed = variables.map(([name, value]) => [passedName(name), value] as const)
  const names = passed.map(([name]) => `--env=${name}`)
  const run = [...runOptions(command, plan), `--label=${engine.label}`, ...names, ...processes, plan.image, ...inside]
  const attach = command.stdin === undefined ? [] : ["-i"]
  const { program, ...made } = engineCommand(engine, ["run", ...attach, ...run], Object.fromEntries(passed))
  return withLaunch(
    {
      ...made,
      ...(terminal
        ? { program: "/bin/sh", args: ["-c", containerTerminal, "haft", program, ...run] }
        : { program, args: made.args }),
      ...(command.stdin !== undefined && { stdin: command.stdin })
    },
    {
      signalsAsCodes: true,
      ifHostDies: engine.removeAll,
      failure: failureOf(engine, missing, command.program)
    }
  )
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
    `--network=${plan.network}`,
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
const containerEnvironment = (command: Command, { options, request, variables }: Plan): Record<string, string> => {
  const names = options.environment ?? []
  const environment = environmentFor({}, request, { names, home: "/tmp", temporary: "/tmp" })
  for (const name of ["PATH", "SHELL", "USER", "LOGNAME"]) if (!names.includes(name)) delete environment[name]
  return { ...environment, ...variables, ...command.env }
}

const failureOf =
  (engine: ContainerEngine, missing: string, program: string) =>
  (exitCode: number | null, stderr: string): ToolError<RunErrorCode> | undefined => {
    if (exitCode === 127 && stderr.startsWith(missing)) {
      return makeToolError("command_not_found", `there is no program '${program}' in the sandbox`)
    }
    if (exitCode === 125 && stderr.startsWith(`${missing} replaced`)) {
      return makeToolError("sandbox_error", "the sandbox could not be set up: the workspace was replaced meanwhile")
    }
    // The engine's own code for a container that could not be made, and how its own remarks begin.
    return exitCode === 125 && stderr.startsWith(isPodman(engine) ? "Error: " : "docker: ")
      ? makeToolError("sandbox_error", `the sandbox could not be set up: ${stderr.split("\n")[0] ?? ""}`)
      : undefined
  }

const describe = (limits: SandboxLimits, hasNetwork: boolean): SandboxDescription => ({
  kind: "docker",
  isolated: true,
  enforced: [
    hasNetwork ? networkByHost : "no network",
    "only the image's programs and the workspace are visible",
    "no capabilities, no new privileges, a filter for system calls",
    `own /tmp and /dev/shm, ${bytes(limits.temporaryBytes)} together`,
    "control files stay as they are: read-only where they exist, moved aside where a command makes them",
    `${bytes(limits.memoryBytes)} of memory and ${limits.processes} processes for all together`,
    eachProcess(limits)
  ],
  notEnforced: [{ limit: "how many processes a command left is not known; they end with its container" }]
})
