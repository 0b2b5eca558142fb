import { basename, resolve } from "node:path"

import type {
  AnswerPolicy,
  ApprovalMode,
  DialectName,
  FoundConfig,
  HaftConfig,
  Profile,
  SandboxName
} from "haft/internal"
import type { OpenHost } from "haft/promise"

import type { Given } from "./command.ts"
import { hushSpinner } from "./spinner.ts"
import { note } from "./terminal.ts"

export interface LookUp {
  /** Look upwards for the workspace that the current directory belongs to, unless the command line names one. */
  readonly upwards?: boolean
  /** The directories of the workspace, where arguments name them and not an option. */
  readonly directories?: ReadonlyArray<string>
}

/** The configuration that the command line asks for. */
export const configOf = async (
  given: Given,
  { upwards = false, directories = [] }: LookUp = {}
): Promise<FoundConfig> => {
  const { findConfig, findRoot } = await import("haft/promise")
  const file = given.value("config")
  const from = upwards && file === undefined && !given.has("workspace") ? findRoot() : undefined
  const found = await findConfig({
    overrides: { ...overridesOf(given), ...placesOf(directories) },
    ...(file !== undefined && { file }),
    ...(from !== undefined && { from })
  })
  if (from !== undefined && from !== process.cwd()) note(`haft: the workspace is ${found.config.root ?? from}`)
  if (found.untrusted !== undefined) {
    note(
      `haft: ${found.untrusted} is not used, because an agent could have written it. ` +
        `Read it, then trust what it says with: haft config trust`
    )
  }
  return found
}

/** One directory is the workspace; several are its named roots, each called after its last name. */
const placesOf = (directories: ReadonlyArray<string>): Pick<HaftConfig, "root" | "roots"> => {
  const [root] = directories
  if (root === undefined) return {}
  if (directories.length === 1) return { root }
  const names = directories.map((path) => basename(resolve(path)).replaceAll(/[^\w.-]/g, "_") || "root")
  const isTaken = (index: number): boolean => names.indexOf(names[index] ?? "") < index
  return {
    roots: directories.map((path, index) => ({
      name: isTaken(index) ? `${names[index]}-${index + 1}` : (names[index] ?? ""),
      path
    }))
  }
}

export const overridesOf = (given: Given): HaftConfig => {
  const names = ["workspace", "dialect", "profile", "state", "mode", "approve", "sandbox"]
  const [root, dialect, profile, state, mode, approval, sandbox] = names.map(given.value)
  return {
    ...(root !== undefined && { root }),
    ...(dialect !== undefined && { dialect: dialect as DialectName }),
    ...(profile !== undefined && { profile: profile as Profile }),
    ...(state !== undefined && { state }),
    ...(mode !== undefined && { mode: mode as ApprovalMode }),
    ...(approval !== undefined && { approval: approval as AnswerPolicy }),
    ...(sandbox !== undefined && { sandbox: sandbox as SandboxName })
  }
}

// Getters, because Node opens a standard stream when it is first read; that happens only when there is a question.
const standardStreams = {
  get input() {
    return process.stdin
  },
  get output() {
    hushSpinner()
    return process.stderr
  }
}

/** Opens a host for one command and closes it afterwards. */
export const withHost = async <A>(
  given: Given,
  { onlyTool, upwards = false, ...settings }: HaftConfig & LookUp & { readonly onlyTool?: string },
  use: (host: OpenHost, config: HaftConfig) => Promise<A>
): Promise<A> => {
  const found = await configOf(given, { upwards })
  const config = { ...found.config, ...settings }
  const host = await openHostFor(config, onlyTool)
  try {
    return await use(host, config)
  } finally {
    await host.dispose()
  }
}

/** Asks the person at the terminal, if there is one. */
export const askHere = async () => (await import("haft/promise")).askInTerminal(standardStreams)

/** Opens a host whose questions go to the terminal, if there is one. */
export const openHostFor = async (config: HaftConfig, onlyTool?: string): Promise<OpenHost> => {
  const [{ openHost }, asker] = await Promise.all([import("haft/promise"), askHere()])
  return openHost(config, { asker, isChecked: true, ...(onlyTool !== undefined && { onlyTool }) })
}
