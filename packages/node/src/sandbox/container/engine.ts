import { randomBytes } from "node:crypto"
import { basename, isAbsolute } from "node:path"

import { type Command, Processes } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"

import { containerSweep } from "../../embedded-scripts.ts"
import { systemPath, systemProgram } from "../../process/system-programs.ts"
import { liesWithin } from "../../workspace/paths/is-inside.ts"
import type { Mount } from "../paths.ts"

/** The program of docker or podman, and the containers that one host started with it. */
export interface ContainerEngine {
  /** Absolute path of the engine's program; undefined where none is installed. */
  readonly program: string | undefined
  /** Label of every container of this host. */
  readonly label: string
  readonly newName: () => string
  readonly environment: Readonly<Record<string, string>>
  /** Removes a container and waits until it is gone. One that has not started is looked for later again. */
  readonly remove: (name: string, hasStarted?: boolean) => Effect.Effect<void>
  /** Command that removes all containers of this host once it was killed. */
  readonly removeAll: ReadonlyArray<string>
}

/** Finds an engine, and removes what is left of its containers when the scope ends. */
export const containerEngine = Effect.fnUntraced(function* (
  root: string,
  wanted?: "docker" | "podman"
): Effect.fn.Return<ContainerEngine, never, Processes | Scope.Scope> {
  const processes = yield* Processes
  const found = yield* Effect.sync(() =>
    (wanted === undefined ? ["docker", "podman"] : [wanted]).map(systemProgram).find((path) => path !== undefined)
  )
  const program = found ?? "docker"
  const host = randomBytes(8).toString("hex")
  const environment = engineEnvironment(root)
  const sweep = (filter: string, pauses?: ReadonlyArray<number>): Effect.Effect<void> => {
    const [shell = "", ...args] = sweepWords(program, filter, pauses)
    return Effect.ignore(
      processes.run({ program: shell, args, directory: "/", env: environment }, { timeoutMs: 20_000 })
    )
  }
  const label = `haft.host=${host}`
  let isUsed = false
  // Containers outlive the program that started them: what an interrupted start left is removed at the end.
  const removals = new Set<Fiber.Fiber<void>>()
  yield* Effect.addFinalizer(() =>
    isUsed
      ? Effect.andThen(
          sweep(`label=${label}`),
          Effect.suspend(() => Fiber.awaitAll([...removals]))
        )
      : Effect.void
  )
  return {
    program: found,
    label,
    environment,
    newName: () => {
      isUsed = true
      return `haft-${host}-${randomBytes(4).toString("hex")}`
    },
    // The call waits until the container is gone, and nobody for one that appears later.
    remove: Effect.fnUntraced(function* (name: string, hasStarted = false) {
      yield* sweep(`name=${name}`)
      if (hasStarted) return
      const fiber = yield* Effect.forkDetach(sweep(`name=${name}`, latePauses))
      removals.add(fiber)
      fiber.addObserver(() => removals.delete(fiber))
    }),
    removeAll: sweepWords(program, `label=${label}`, latePauses)
  }
})

/** A command of the engine's own program. */
export const engineCommand = (
  { program = "docker", environment }: ContainerEngine,
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>> = {}
): Command => ({ program, args, directory: "/", env: { ...environment, ...env } })

export const isPodman = ({ program }: ContainerEngine): boolean => basename(program ?? "") === "podman"

/** True where containers share the kernel with this process, so that they see the same files and take its sockets. */
export const sharesKernel = ({ environment }: ContainerEngine): boolean =>
  process.platform === "linux" &&
  [environment["DOCKER_HOST"], environment["CONTAINER_HOST"]].every((address) =>
    (address ?? "unix:").startsWith("unix:")
  )

/** Option of the engine that mounts a path. */
export const mountOption = (mount: Mount): string => {
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

// A container that was still being made when its command was given up appears a moment later, and a busy engine takes
// its time. Seconds.
const latePauses: ReadonlyArray<number> = [0.3, 0.7, 2]

const sweepWords = (engine: string, filter: string, pauses: ReadonlyArray<number> = []): ReadonlyArray<string> => [
  "/bin/sh",
  "-c",
  containerSweep,
  "haft",
  engine,
  filter,
  "0",
  ...pauses.map(String)
]

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
