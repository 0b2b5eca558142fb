import {
  type Command,
  isToolError,
  makeToolError,
  Processes,
  Sandbox,
  type SandboxDescription,
  type SandboxRequest,
  toolError,
  type ToolError,
  Workspace
} from "@haft/core"
import { stepSpan } from "@haft/core/internal"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

import { type ControlFileGuard, controlFileGuard } from "../control-files/guard.ts"
import type { OpenNetwork, SandboxNetwork } from "../network/sandbox-networks.ts"
import { launchOf, withLaunch } from "../process/prepared-launch.ts"
import { systemDirectories } from "../process/system-programs.ts"
import { liesWithin } from "../workspace/paths/is-inside.ts"
import type { SandboxOptions } from "./limits.ts"
import { overlaysOf, whyNoOverlay } from "./overlay/overlay.ts"
import { scratchRemover } from "./overlay/scratch.ts"
import { upperScanner } from "./overlay/upper-scanner.ts"
import { visiblePaths } from "./paths.ts"

/** Parts of a sandbox. */
export interface SandboxParts {
  readonly kind: string
  /** The program that it can't do without, undefined when there is none. */
  readonly program: string | undefined
  readonly options: SandboxOptions
  /** It can run a command on a {@link NodeOverlay}. */
  readonly hasOverlay?: boolean
  readonly wrap: (command: Command, request: SandboxRequest, surroundings: Surroundings) => Command
  /** Opens the network of a command that gets one; a text says why this sandbox can't give any. */
  readonly network: OpenNetwork | string
  readonly describe: () => SandboxDescription
}

/** Inputs of a sandbox's set-up. */
export interface Surroundings {
  /** Control files of the workspace, to be mounted read-only. */
  readonly existing: ReadonlyArray<string>
  readonly network?: SandboxNetwork
}

/** A sandbox that is there only if a command really runs in it; tried with the first use, and again only after a failure. */
export const probedSandbox = Effect.fnUntraced(function* (
  parts: SandboxParts
): Effect.fn.Return<typeof Sandbox.Service, never, Processes | Workspace | Scope.Scope> {
  const { kind, program, options, hasOverlay = false, wrap, describe } = parts
  const processes = yield* Processes
  const workspace = yield* Workspace
  const { root } = workspace
  const guard = yield* controlFileGuard(root, options.state)
  const wrapped = Effect.fnUntraced(function* (
    command: Command,
    request: SandboxRequest = {},
    existing: ReadonlyArray<string> = []
  ): Effect.fn.Return<Command, ToolError<"sandbox_error">> {
    const network =
      request.network === true ? yield* networkFor(parts, command, request, visiblePaths(root, options)) : undefined
    const made = yield* Effect.try({
      try: () => wrap(command, request, { existing, ...(network !== undefined && { network }) }),
      catch: (cause) =>
        isToolError(cause)
          ? (cause as ToolError<"sandbox_error">)
          : makeToolError("sandbox_error", `the sandbox could not be set up: ${String(cause)}`)
    }).pipe(Effect.onError(() => network?.close ?? Effect.void))
    if (network === undefined) return made
    const { afterEnd = Effect.void } = launchOf(made)
    return withLaunch(made, { afterEnd: Effect.ensuring(afterEnd, network.close) })
  })
  const open = overlaysOf({ workspace, state: options.state }, yield* upperScanner, yield* scratchRemover)
  const tried = (script: string, request: SandboxRequest): Effect.Effect<number | null, ToolError> =>
    Effect.flatMap(
      wrapped({ program: "/bin/sh", args: ["-c", script], directory: root, env: {} }, request),
      (command) => Effect.map(processes.run(command, { timeoutMs: 20_000 }), ({ exitCode }) => exitCode)
    )
  const triedOnOverlay = Effect.scoped(
    Effect.gen(function* () {
      const overlay = yield* open
      const exitCode = yield* tried(": >haft-overlay-probe; exit 42", { overlay })
      const { entries } = yield* overlay.listing
      return exitCode === 42 && entries.length === 1 ? undefined : "a command that should have run on one did not"
    })
  ).pipe(Effect.catch((error) => Effect.succeed(error.message)))
  const works = yield* cachedSuccess(
    Effect.gen(function* (): Effect.fn.Return<{ readonly noOverlay?: string }, ToolError<"sandbox_unavailable">> {
      if (program === undefined) return yield* unavailable(kind, "it is not installed")
      const reason = hasOverlay
        ? (whyNoOverlay(workspace) ?? (yield* triedOnOverlay))
        : `the sandbox ${kind} has none, bubblewrap and unshare have`
      // A sandbox that runs on an overlay runs without one, too.
      if (reason === undefined) return {}
      const exitCode = yield* tried("exit 42", {}).pipe(Effect.catch((error) => unavailable(kind, error.message)))
      if (exitCode !== 42) return yield* unavailable(kind, "a command that should have run in it did not")
      return { noOverlay: reason }
    })
  )
  const usable = yield* Effect.cached(hasNoPrograms([root, ...(options.writablePaths ?? [])]))
  return Sandbox.of({
    wrap: Effect.fnUntraced(
      function* (command: Command, request: SandboxRequest = {}) {
        yield* usable
        yield* works
        if (request.writable === false || request.overlay !== undefined) return yield* wrapped(command, request)
        yield* guard.refresh
        return watched(yield* wrapped(command, request, guard.existing()), guard, request.terminal === true)
      },
      stepSpan("sandbox", { "haft.sandbox": kind })
    ),
    describe: Effect.map(works, (found) => ({ ...describe(), ...found })),
    overlay: Effect.flatMap(works, ({ noOverlay }): NonNullable<(typeof Sandbox.Service)["overlay"]> =>
      noOverlay === undefined
        ? open
        : toolError("sandbox_unavailable", `commands can't run on an overlay here: ${noOverlay}`, {
            suggestion: 'Set `overlay` of the exec package to "auto" or "never".'
          })
    )
  })
})

const networkFor = (
  { kind, network }: SandboxParts,
  { program, args }: Command,
  { title }: SandboxRequest,
  visible: ReadonlyArray<string>
) =>
  typeof network === "string"
    ? toolError("sandbox_error", `the sandbox ${kind} gives commands no network: ${network}`, {
        suggestion: "Run the command without network, or choose the sandbox bubblewrap, unshare or docker on Linux."
      })
    : network(typeof title === "function" ? title : () => title ?? [program, ...args].join(" "), visible)

// Programs outside the sandbox come from there, so a sandbox must not be able to write to it.
const hasNoPrograms = (writable: ReadonlyArray<string>): Effect.Effect<void, ToolError<"sandbox_error">> =>
  Effect.suspend(() => {
    for (const path of writable) {
      const exposed = systemDirectories.find((directory) => liesWithin(path, directory))
      if (exposed === undefined) continue
      return toolError("sandbox_error", `${path} contains the system's programs in ${exposed}`, {
        suggestion:
          "Choose a workspace that contains no system directory: its commands could replace programs of the host."
      })
    }
    return Effect.void
  })

/** A command after which control files are looked for. Who opens a terminal starts it by other means, so it counts now. */
const watched = (command: Command, guard: ControlFileGuard, isTerminal: boolean): Command => {
  let hasBegun = false
  const onStart = (): void => {
    if (!hasBegun) guard.begin()
    hasBegun = true
  }
  if (isTerminal) onStart()
  return withLaunch(command, {
    onStart,
    inspect: Effect.suspend(() => (hasBegun ? guard.end : Effect.succeed([]))),
    inspectRunning: Effect.suspend(() => (hasBegun ? guard.check : Effect.succeed([])))
  })
}

/** Caches successful probes; a failure may be temporary. */
export const cachedSuccess = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<Effect.Effect<A, E>> =>
  Effect.map(Effect.cachedInvalidateWithTTL(effect, Duration.infinity), ([cached, forget]) =>
    Effect.tapError(cached, () => forget)
  )

const advice: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  linux: "Install bubblewrap, or start docker or podman",
  win32: "Start Docker Desktop or podman, or run haft in WSL with bubblewrap"
}

export const unavailable = (kind: string, reason: string): Effect.Effect<never, ToolError<"sandbox_unavailable">> =>
  toolError("sandbox_unavailable", `the sandbox ${kind} does not work on this machine: ${reason}`, {
    suggestion: `${
      advice[process.platform] ?? "Start docker or podman"
    }; \`haft doctor\` shows what works. The sandbox none has to be chosen explicitly.`,
    details: { sandbox: kind }
  })
