import { realpathSync } from "node:fs"
import { homedir, tmpdir } from "node:os"

import { type Command, Network, type Processes, Sandbox, type SandboxRequest, Workspace } from "@haft/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { limited } from "../embedded-scripts.ts"
import { systemProgram } from "../process/system-programs.ts"
import { environmentFor, withoutCredentials } from "./environment.ts"
import { defaultLimits, eachProcess, limitWords, type SandboxOptions } from "./limits.ts"
import { ownMounts, withOtherRoots } from "./paths.ts"
import { probedSandbox } from "./probe.ts"

/**
 * macOS, with `sandbox-exec` and Apple's profile language. There are no namespaces: a command sees the host's
 * processes, and /tmp is everybody's. Written to Apple's documentation; it has not been run on a Mac.
 */
export const seatbeltSandbox = (given: SandboxOptions = {}): Layer.Layer<Sandbox, never, Workspace | Processes> =>
  Layer.effect(
    Sandbox,
    Effect.gen(function* () {
      const workspace = yield* Workspace
      const { root } = workspace
      const { credentials } = yield* Network
      const options = withoutCredentials(withOtherRoots(given, workspace), credentials)
      const limits = { ...defaultLimits, ...options.limits }
      const program = yield* Effect.sync(() =>
        process.platform === "darwin" ? systemProgram("sandbox-exec") : undefined
      )
      const wrap = (command: Command, request: SandboxRequest): Command => ({
        ...command,
        program: program ?? "sandbox-exec",
        args: [
          "-p",
          seatbeltProfile(root, options, request, workspace.secretFiles?.()),
          "/bin/sh",
          "-c",
          limited,
          "haft",
          ...limitWords(limits),
          command.program,
          ...command.args
        ],
        env: environmentFor(command.env, request, {
          names: options.environment ?? [],
          home: tmpdir(),
          temporary: tmpdir()
        })
      })
      return yield* probedSandbox({
        kind: "seatbelt",
        program,
        options,
        wrap,
        network: "it has no network namespaces",
        describe: () => ({
          kind: "seatbelt",
          isolated: true,
          enforced: [
            "no network",
            "writes only to the workspace and temporary files",
            "the home directory is hidden but for the workspace",
            eachProcess(limits)
          ],
          notEnforced: ["own processes", "own /tmp", "memory for all processes together", "tested on a Mac"].map(
            (limit) => ({ limit })
          )
        })
      })
    })
  )

/** The last rule that fits decides, so what is special comes last. Paths are real ones: the system looks at no others. */
export const seatbeltProfile = (
  root: string,
  options: SandboxOptions,
  request: SandboxRequest,
  secrets: ReadonlyArray<string> = []
): string => {
  const { writable = true } = request
  const own = ownMounts(root, options, { isWritable: writable }).map(({ kind, path }) => ({
    kind,
    path: realPath(path)
  }))
  const readable = own.map(({ path }) => path)
  const changeable = own.filter(({ kind }) => kind === "writable").map(({ path }) => path)
  const kept = own.filter(({ kind }) => kind !== "writable").map(({ path }) => path)
  const temporary = [realPath(tmpdir()), "/private/tmp"]
  return [
    "(version 1)",
    "(deny default)",
    '(import "system.sb")',
    "(allow process-fork process-exec)",
    "(allow signal (target same-sandbox))",
    "(allow sysctl-read)",
    "(allow file-read*)",
    `(deny file-read* ${subpaths([realPath(homedir()), "/Users", "/Volumes", "/private/etc/ssh"])})`,
    // Programs ask what the directories are that lead to where they are; what is in those stays hidden.
    `(allow file-read-metadata ${literals(ancestors(readable))})`,
    `(allow file-read* ${subpaths([...temporary, ...readable])})`,
    `(allow file-write* ${subpaths([...temporary, "/dev/null", "/dev/tty", "/dev/fd", ...changeable])})`,
    `(deny file-write* ${subpaths(kept)})`,
    // Renaming what holds a protected path would go round the rule above.
    `(deny file-write-unlink ${literals([...kept, ...parents(kept, realPath(root))])})`,
    `(deny file-read-data file-write* ${literals(secrets.map(realPath))})`,
    // Sockets of the machine's own services are files too: a command reaches those in the workspace, and no agent or
    // engine elsewhere.
    "(deny network*)",
    `(allow network-bind network-outbound ${subpaths(changeable)})`
  ]
    .filter((line) => !line.endsWith(" )"))
    .join("\n")
}

const realPath = (path: string): string => {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

const ancestors = (paths: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set(paths.flatMap((path) => path.split("/").map((_, count, names) => names.slice(0, count).join("/") || "/")))
]

const literals = (paths: ReadonlyArray<string>): string => paths.map((path) => `(literal ${text(path)})`).join(" ")

const subpaths = (paths: ReadonlyArray<string>): string => paths.map((path) => `(subpath ${text(path)})`).join(" ")

const text = (path: string): string => `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`

const parents = (paths: ReadonlyArray<string>, root: string): ReadonlyArray<string> => [
  ...new Set(
    paths.map((path) => path.slice(0, path.lastIndexOf("/"))).filter((path) => path.startsWith(root) && path !== root)
  )
]
