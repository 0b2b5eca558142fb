import { CodeIndex, isPluginError, type PluginError, reasonOf, Sandbox, type UnheldLimit } from "@haft/core"
import { nodeProcesses, nodeWorkspace, sqliteCodeIndex } from "@haft/node"
import { installedRipgrep, ripgrepVersion } from "@haft/search-tools"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import { type HaftConfig, type SandboxName, sandboxNames } from "./config/config.ts"
import { network, secretFiles } from "./doctor-policies.ts"
import { sandboxNamed } from "./host/sandbox.ts"
import { filesOf, rootOf, stateOf } from "./host/standard-host.ts"
import { makeHost } from "./host/typed-host.ts"

/** One thing a host depends on, how it is here, and what to do about it. */
export interface Finding {
  readonly subject: string
  readonly state: "ok" | "limited" | "missing"
  readonly found: string
  readonly mend?: string
  /** The settings that `mend` names, for a program whose users set them in another way. */
  readonly settings?: ReadonlyArray<string>
  /** For a sandbox: the limits that it enforces on this machine. */
  readonly enforced?: ReadonlyArray<string>
  /** For a sandbox: the limits that it can't enforce here, with what to do about each. */
  readonly notEnforced?: ReadonlyArray<UnheldLimit>
}

export interface ExamineOptions {
  /** Only the workspace, its state and the sandbox in use: what a person wants to know before a first call. */
  readonly briefly?: boolean
}

/** Checks everything on this machine that a host depends on. Changes nothing, but makes the state directory. */
export const examine = (
  config: HaftConfig = {},
  { briefly = false }: ExamineOptions = {}
): Effect.Effect<ReadonlyArray<Finding>> => {
  const checks: ReadonlyArray<Check> = briefly
    ? [workspace, state, sandboxInUse]
    : [node, workspace, state, ripgrep, codeIndex, terminals, secretFiles, network, sandboxes]
  return Effect.map(
    Effect.forEach(checks, (check) => check(config), { concurrency: "unbounded" }),
    (found) => found.flat()
  )
}

type Check = (config: HaftConfig) => Effect.Effect<Finding | ReadonlyArray<Finding>>

const node: Check = () =>
  Effect.sync(() => {
    const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
    const isEnough = major > 22 || (major === 22 && minor >= 19)
    return {
      subject: "Node",
      state: isEnough ? "ok" : "missing",
      found: `${process.version} on ${process.platform} ${process.arch}`,
      ...(!isEnough && { mend: "Install Node 22.19 or newer." })
    }
  })

const workspace: Check = (config) =>
  Effect.gen(function* () {
    const host = yield* makeHost(config)
    const found = `${rootOf(config)}, ${host.tools.length} tools in ${host.dialect.name}`
    const unwell = (yield* host.health).filter(({ isWell }) => !isWell)
    return [
      { subject: "Workspace", state: "ok", found } as const,
      ...host.skipped.map(unusable),
      ...unwell.map(({ plugin, problem = "" }): Finding => {
        const mend = "Its tools may fail until that is mended."
        return { subject: `Plugin ${plugin}`, state: "limited", found: `it is not well: ${problem}`, mend }
      })
    ]
  }).pipe(
    Effect.scoped,
    Effect.catchCause((cause) => Effect.succeed([workspaceProblem(Cause.squash(cause))]))
  )

// No `mend`: the message of a PluginError says what to do.
const unusable = ({ plugin, message }: PluginError): Finding => ({
  subject: `Plugin ${plugin}`,
  state: "missing",
  found: message
})

const workspaceProblem = (cause: unknown): Finding => {
  if (isPluginError(cause)) return unusable(cause)
  const mend = "Set `root` to a directory that exists and can be read."
  return { subject: "Workspace", state: "missing", found: reasonOf(cause), mend, settings: ["root"] }
}

const state: Check = (config) =>
  Effect.match(stateOf(config), {
    onSuccess: (found): Finding => ({ subject: "State directory", state: "ok", found }),
    onFailure: (error): Finding => {
      const mend =
        "Set `state` to a directory outside the workspace that can be written to, or `root` to a directory further down."
      return { subject: "State directory", state: "missing", found: reasonOf(error), mend, settings: ["state", "root"] }
    }
  })

const ripgrep: Check = ({ packages = {} }) => {
  const subject = "ripgrep"
  const chosen = "search" in packages && packages.search !== false ? packages.search?.ripgrep : undefined
  return (chosen === undefined ? installedRipgrep : Effect.succeed(chosen)).pipe(
    Effect.flatMap((program) => Effect.map(ripgrepVersion(program), (version) => `${version}, ${program}`)),
    Effect.provide(nodeProcesses),
    Effect.match({
      onSuccess: (found): Finding => ({ subject, state: "ok", found }),
      onFailure: ({ message, suggestion }): Finding => ({
        subject,
        state: "missing",
        found: message,
        ...(suggestion !== undefined && { mend: suggestion })
      })
    })
  )
}

const codeIndex: Check = (config) => {
  const subject = "Code index"
  const look = Effect.gen(function* () {
    const directory = yield* stateOf(config)
    const workspace = nodeWorkspace({ root: rootOf(config), ...filesOf(config), state: directory })
    const index = sqliteCodeIndex({ directory }).pipe(Layer.provide(workspace))
    return yield* Effect.scoped(CodeIndex.use(({ status }) => status).pipe(Effect.provide(index)))
  })
  return Effect.match(look, {
    onFailure: (error): Finding => {
      const mend = error.suggestion ?? "search_text works without."
      return { subject, state: "limited", found: reasonOf(error), mend }
    },
    onSuccess: ({ files, symbols, bytes, refreshedAt, hasGrammars }): Finding => {
      const found =
        refreshedAt === undefined
          ? "not built yet; the first search_code builds it"
          : `${files} files, ${symbols} definitions, ${(bytes / 2 ** 20).toFixed(1)} MiB, refreshed ${new Date(refreshedAt).toISOString()}`
      if (hasGrammars) return { subject, state: "ok", found }
      const mend = "Install @vscode/tree-sitter-wasm: without it files are indexed by lines, without definitions."
      return { subject, state: "limited", found, mend }
    }
  })
}

const terminals: Check = () => Effect.promise(openTerminal)

const openTerminal = async (): Promise<Finding> => {
  const subject = "Terminals"
  const { spawn } = await import("@lydell/node-pty").catch(() => ({ spawn: undefined }))
  if (spawn === undefined) {
    const mend = "Install again with optional dependencies; the other tools work without."
    return { subject, state: "limited", found: `@lydell/node-pty does not load on ${here}`, mend }
  }
  try {
    if (process.platform !== "win32") await openedOnce(() => spawn("/bin/sh", ["-c", "exit"], {}))
    return { subject, state: "ok", found: `on ${here}` }
  } catch (cause) {
    const mend = "The system has no terminal to give: mount devpts on /dev/pts. The other tools work without."
    return { subject, state: "limited", found: reasonOf(cause), mend }
  }
}

const here = `${process.platform} ${process.arch}`

/** Opens a terminal, and waits until its program has ended. */
const openedOnce = (open: () => { readonly onExit: (listener: () => void) => unknown }): Promise<void> =>
  new Promise((resolve) => {
    open().onExit(resolve)
  })

const howToGet: Readonly<Partial<Record<SandboxName, string>>> = {
  bubblewrap: "Install it: apt install bubblewrap, dnf install bubblewrap.",
  unshare: "Install util-linux, and allow users their own namespaces: sysctl user.max_user_namespaces=15000.",
  docker: "Install a container engine and start it.",
  auto: `${
    process.platform === "linux"
      ? "Install bubblewrap"
      : process.platform === "win32"
        ? "Start Docker Desktop or podman, or run haft in WSL with bubblewrap"
        : "Install a container engine and start it"
  }, or set \`sandbox\` to none, which holds nothing back.`
}

const sandboxInUse: Check = (config) => sandbox(config, config.sandbox ?? "auto")

const sandboxes: Check = (config) =>
  Effect.forEach(
    sandboxNames.filter((name) => name !== "none" && belongsHere(name)),
    (name) => sandbox(config, name),
    { concurrency: "unbounded" }
  )

const belongsHere = (name: SandboxName): boolean =>
  name === "seatbelt"
    ? process.platform === "darwin"
    : ["bubblewrap", "unshare"].includes(name)
      ? process.platform === "linux"
      : true

const sandbox = (config: HaftConfig, name: SandboxName): Effect.Effect<Finding> => {
  const subject = `Sandbox ${name}`
  const workspace = nodeWorkspace({
    root: rootOf(config),
    ...filesOf(config),
    ...(config.state !== undefined && { state: config.state })
  })
  const layer = sandboxNamed(name, config.sandboxOptions).pipe(Layer.provide(Layer.merge(workspace, nodeProcesses)))
  return Sandbox.use(({ describe }) => describe).pipe(
    Effect.provide(layer),
    Effect.scoped,
    Effect.match({
      onFailure: (error): Finding => {
        const isNeeded = name === (config.sandbox ?? "auto")
        const found = reasonOf(error)
        const isItsOwn = error.code === "sandbox_unavailable"
        const mend = isItsOwn ? (howToFetch(found) ?? howToGet[name]) : error.suggestion
        return { subject, state: isNeeded ? "missing" : "limited", found, ...(mend !== undefined && { mend }) }
      },
      onSuccess: ({ kind, enforced, notEnforced, noOverlay }): Finding => ({
        subject,
        state: notEnforced.length === 0 ? "ok" : "limited",
        found: name === kind ? "works" : `${kind}, which works`,
        enforced: noOverlay === undefined ? [...enforced, onOverlay] : enforced,
        notEnforced:
          noOverlay === undefined ? notEnforced : [...notEnforced, { limit: onOverlay, mend: `${noOverlay}.` }]
      })
    })
  )
}

const onOverlay = "commands run on an overlay: what they change is judged, committed as one change, and undone"

/** How to get the image that a container engine lacks: no call ever downloads one. */
export const howToFetch = (reason: string): string | undefined => {
  const [, image] = /(?:no such image|image not known): (\S+?)\.?(?:\s|$)/i.exec(reason) ?? []
  return image === undefined ? undefined : `Fetch its image: docker pull ${image}, or podman pull ${image}.`
}
