import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

import { type Command, Network, type Processes, Sandbox, type SandboxRequest, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { terminal } from "../../embedded-scripts.ts"
import { type SandboxNetwork, sandboxNetworks } from "../../network/sandbox-networks.ts"
import { groupName, makeGroup } from "../../process/launcher/cgroup.ts"
import { withLaunch } from "../../process/prepared-launch.ts"
import { makeRuntimeDirectory, refuseRuntimeInside } from "../../process/runtime-directory.ts"
import { systemPath, systemProgram } from "../../process/system-programs.ts"
import { type Owner, otherOwner } from "../../workspace/commit/owner.ts"
import { environmentFor, isRenamed, passedName, withoutCredentials } from "../environment.ts"
import { firstThatWorks } from "../first-that-works.ts"
import {
  defaultLimits,
  describeLimits,
  limitWords,
  type SandboxLimits,
  type SandboxOptions,
  temporarySizes,
  treeLimits
} from "../limits.ts"
import { NodeOverlay, overlayIdentity } from "../overlay/overlay.ts"
import {
  kernelFiles,
  type Mount,
  ownMounts,
  readable,
  settingsCopy,
  systemMounts,
  visiblePaths,
  withOtherRoots
} from "../paths.ts"
import { probedSandbox } from "../probe.ts"
import { trustAuthority } from "../trusted-authority.ts"
import { mountCheckWords } from "./check-mounts.ts"
import { HeldPlaces } from "./protected-mounts.ts"
import { seccompFilter } from "./seccomp.ts"

/** The world of one command: what a program that makes namespaces has to lay out. */
export interface Plan {
  readonly hasNetwork: boolean
  readonly terminal: boolean
  /** In this order, with the kernel's own /proc between the first two, and /dev, /dev/shm and /tmp before the last. */
  readonly mounts: {
    readonly system: ReadonlyArray<Mount>
    readonly kernel: ReadonlyArray<Mount>
    readonly own: ReadonlyArray<Mount>
  }
  /** Bytes of /tmp and of /dev/shm. */
  readonly sizes: { readonly tmp: string; readonly shm: string }
  readonly directory: string
  readonly env: Readonly<Record<string, string>>
  /** Variables of the command that `env` has under other names. */
  readonly renamed: ReadonlyArray<string>
}

/** A program that makes namespaces, and how it is told what to do. */
export interface NamespaceMaker {
  readonly kind: string
  /** Where it is, undefined when something that it needs is missing. */
  readonly find: (hasFilter: boolean) => string | undefined
  /** Content of descriptor 3. A command line is for everybody to read, and the environment may hold secrets. */
  readonly tell: (plan: Plan) => string
  /** Prefix for a command with network: makes the network namespace, and passes its listeners on. */
  readonly networkWords: ReadonlyArray<string>
  /** Its arguments up to those of starter.sh, which it runs inside. A filter it finds at descriptor 4. */
  readonly words: (plan: Plan, hasFilter: boolean) => ReadonlyArray<string>
  /** It runs outside, so nothing of the command's own environment. */
  readonly env: () => Readonly<Record<string, string>>
}

/** A sandbox of Linux namespaces, a filter for system calls and limits; only the system's programs and the workspace. */
export const namespaceSandbox = (
  maker: NamespaceMaker,
  given: SandboxOptions
): Layer.Layer<Sandbox, never, Workspace | Processes> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const workspace = yield* Workspace
      const { credentials } = yield* Network
      const options = withoutCredentials(withOtherRoots(given, workspace), credentials)
      const owner = otherOwner(workspace.root)
      const asHost = madeBy(maker, options)
      // Not every machine lets everybody make namespaces, and not every owner may go where the workspace is.
      return owner === undefined ? asHost : firstThatWorks(maker.kind, [madeBy(maker, options, owner), asHost])
    })
  )

const madeBy = (
  maker: NamespaceMaker,
  options: SandboxOptions,
  owner?: Owner
): Layer.Layer<Sandbox, never, Workspace | Processes> =>
  Layer.effect(
    Sandbox,
    Effect.gen(function* () {
      const { root, secretFiles } = yield* Workspace
      const limits = { ...defaultLimits, ...options.limits }
      const filter = seccompFilter()
      const hasFilter = filter !== undefined
      const before = owner === undefined ? [] : wordsToBe(owner)
      const program = yield* Effect.sync(() => (before === undefined ? undefined : maker.find(hasFilter)))
      const settings = yield* settingsCopy
      const held = new HeldPlaces()
      const network = yield* sandboxNetworks
      return yield* probedSandbox({
        kind: maker.kind,
        program,
        options,
        hasOverlay: true,
        network,
        wrap: (command, request, { existing, network }) => {
          for (const mount of visiblePaths(root, options)) refuseRuntimeInside(mount)
          const plan = planOf(command, request, {
            root,
            settings: settings(),
            limits,
            options,
            owner,
            held,
            existing,
            secrets: secretFiles?.() ?? [],
            network
          })
          const overlay = request.overlay instanceof NodeOverlay ? request.overlay : undefined
          const starting: Starting = {
            words: [
              ...(overlay?.words ?? []),
              ...(before ?? []),
              ...(network === undefined ? [] : maker.networkWords),
              program ?? maker.kind,
              ...maker.words(plan, hasFilter),
              plan.terminal ? "terminal" : "gate",
              ...mountCheckWords(root, plan.mounts.own, overlay && overlayIdentity),
              ...limitWords(limits),
              plan.renamed.join(" "),
              command.program,
              ...command.args
            ],
            owner,
            told: maker.tell(plan),
            filter: filter ?? new Uint8Array(),
            env: { ...maker.env(), ...(network !== undefined && { HAFT_NETWORK: network.listeners }) },
            limits
          }
          const made = plan.terminal ? behindTerminal(starting) : behindGate(starting, command.stdin)
          // Neither of the two can put anything else into a place of the workspace.
          return request.writable === false || overlay !== undefined ? made : held.during(made, plan.mounts.own)
        },
        describe: () => ({ kind: maker.kind, isolated: true, ...describeLimits(limits, { hasFilter, owner }) })
      })
    })
  )

/** Prefix that starts a program as another user; undefined where no program can do that. */
const wordsToBe = ({ uid, gid }: Owner): ReadonlyArray<string> | undefined => {
  const program = systemProgram("setpriv")
  return program === undefined ? undefined : [program, `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups"]
}

interface Setting {
  readonly root: string
  /** The copy of the system's settings. */
  readonly settings: string
  readonly limits: SandboxLimits
  readonly options: SandboxOptions
  readonly owner: Owner | undefined
  readonly held: HeldPlaces
  /** Control files of the workspace. */
  readonly existing: ReadonlyArray<string>
  /** Secret files of the workspace. */
  readonly secrets: ReadonlyArray<string>
  readonly network: SandboxNetwork | undefined
}

const planOf = (command: Command, request: SandboxRequest, setting: Setting): Plan => {
  const { root, settings, limits, options, owner, held, existing, secrets, network } = setting
  const { writable = true, terminal = false } = request
  const trusted = network?.authority === undefined ? undefined : trustAuthority(settings, network.authority)
  const variables = environmentFor(
    { ...(owner === undefined && forRoot), ...network?.variables, ...trusted?.variables, ...command.env },
    request,
    {
      names: options.environment ?? [],
      home: "/tmp",
      temporary: "/tmp"
    }
  )
  // The starter runs nothing by name, and looks along the command's PATH for the command.
  const renamed = Object.keys(variables).filter((name) => name !== "PATH" && isRenamed(name))
  return {
    hasNetwork: network !== undefined,
    terminal,
    mounts: {
      system: [...systemMounts(settings), ...(trusted?.mounts ?? [])],
      kernel: owner === undefined ? kernelFiles.map(readable) : [],
      own: ownMounts(root, options, {
        isWritable: writable,
        held,
        existing,
        secrets,
        isOverlay: request.overlay !== undefined
      })
    },
    sizes: temporarySizes(limits),
    directory: command.directory,
    renamed,
    env: Object.fromEntries(
      Object.entries(variables).map(([name, value]) => [renamed.includes(name) ? passedName(name) : name, value])
    )
  }
}

// tar takes the user 0 for one who may give files to others, and fails where that is not so.
const forRoot = process.getuid?.() === 0 && { TAR_OPTIONS: "--no-same-owner" }

interface Starting {
  /** The program first. */
  readonly words: ReadonlyArray<string>
  /** User that all of it runs as, where that is not the host's own. */
  readonly owner: Owner | undefined
  readonly told: string
  readonly filter: Uint8Array
  readonly env: Readonly<Record<string, string>>
  readonly limits: SandboxLimits
}

const behindGate = ({ words, told, filter, env, limits }: Starting, stdin: Command["stdin"]): Command => {
  const [program = "", ...args] = words
  const command = { program, args, directory: "/", env, ...(stdin !== undefined && { stdin }) }
  return withLaunch(command, { files: [told, filter], gated: true, limits: treeLimits(limits) })
}

// A program that opens a terminal can't lend descriptors: see terminal.sh.
const behindTerminal = ({ words, owner, told, filter, env, limits }: Starting): Command => {
  const directory = makeRuntimeDirectory("terminal")
  writeFileSync(join(directory, "told"), told, { mode: 0o600 })
  writeFileSync(join(directory, "filter"), filter, { mode: 0o600 })
  const group = makeGroup(groupName("terminal"))
  group?.hold(treeLimits(limits))
  const args = [
    "-c",
    terminal,
    "haft",
    directory,
    owner === undefined ? "" : `${owner.uid}:${owner.gid}`,
    systemProgram("bash") ?? "",
    systemProgram("perl") ?? "",
    ...(group?.joinFiles ?? []),
    "--",
    ...words
  ]
  const command = { program: "/bin/sh", args, directory: "/", env: { ...env, PATH: systemPath } }
  return withLaunch(command, {
    afterEnd: Effect.promise(async () => {
      rmSync(directory, { recursive: true, force: true })
      await group?.remove()
    })
  })
}
