import { dirname, join, resolve } from "node:path"

import { PluginError, Workspace } from "@haft/core"
import { nodeWorkspace } from "@haft/node"
import { readNamedFile } from "@haft/node/internal"
import * as Effect from "effect/Effect"

import { importPlugin } from "../plugins/load-plugins.ts"
import { compareContracts, type ContractChange, type Weight, weightOf } from "./compare-contracts.ts"
import { type Contract, contractOf } from "./contract.ts"

export type Bump = "none" | "patch" | "minor" | "major"

/** Tests whether the pending changesets of a package announce a large enough version for what has changed. */
export interface ContractCheck {
  readonly package: string
  readonly version: string
  readonly weight: Weight
  readonly changes: ReadonlyArray<ContractChange>
  readonly needed: Bump
  /** The largest bump in a waiting changeset. */
  readonly waiting: Bump
  readonly ok: boolean
}

const lockName = "contract.lock.json"
const bumps: ReadonlyArray<Bump> = ["none", "patch", "minor", "major"]

/** Compares the tools of the package in `directory` with its lock, which has the tools of the last release. */
export const checkContract = async (directory: string): Promise<ContractCheck> => {
  const manifest = await manifestOf(directory)
  const lock = await readNamedFile(join(directory, lockName)).catch(() => undefined)
  if (lock === undefined) {
    throw new PluginError(manifest.name, `it has no ${lockName}. Write one with: haft contract lock ${directory}`)
  }
  const changes = compareContracts(lockedIn(lock, manifest.name), await currentContract(directory))
  const weight = weightOf(changes)
  const needed = neededBump(weight, changes.length > 0, manifest.version)
  const waiting = await waitingBump(manifest.name, directory)
  const ok = bumps.indexOf(waiting) >= bumps.indexOf(needed)
  return { package: manifest.name, version: manifest.version, weight, changes, needed, waiting, ok }
}

const lockedIn = (text: string, name: string): Contract => {
  try {
    const lock = JSON.parse(text) as Partial<Contract>
    if (typeof lock.tools === "object" && typeof lock.contract === "number") return lock as Contract
  } catch {
    // No JSON: refused below, like JSON that is no lock.
  }
  throw new PluginError(name, `its ${lockName} is not one. Take it back from the last release.`)
}

/** Writes the lock of the package in `directory`, for a release. */
export const lockContract = async (directory: string): Promise<Contract> => {
  const contract = await currentContract(directory)
  const content = new TextEncoder().encode(`${JSON.stringify(contract, null, 2)}\n`)
  const write = Workspace.use((workspace) => workspace.commit([{ kind: "write", path: lockName, content }]))
  await Effect.runPromise(Effect.provide(write, nodeWorkspace({ root: resolve(directory) })))
  return contract
}

/** The check as text. */
export const showContractCheck = (check: ContractCheck): string => {
  const { changes, weight, needed, waiting, ok } = check
  const lines = changes.map(({ tool, weight: one, change }) => `  ${one}: ${tool && `${tool}: `}${change}`)
  const verdict = ok
    ? ""
    : `\n  It needs a changeset with ${needed}; ${waiting === "none" ? "none is" : `${waiting} is`} waiting.`
  return [`${ok ? "✓" : "✗"} ${check.package} ${check.version}: ${weight}`, ...lines].join("\n") + verdict
}

const currentContract = async (directory: string): Promise<Contract> =>
  contractOf(await importPlugin(resolve(directory), "."))

const manifestOf = async (directory: string): Promise<{ readonly name: string; readonly version: string }> => {
  const file = join(directory, "package.json")
  try {
    const { name, version } = JSON.parse(await readNamedFile(file)) as { name?: string; version?: string }
    if (name !== undefined && version !== undefined) return { name, version }
  } catch (cause) {
    throw new PluginError(directory, "there is no package here. Name a directory with a package.json.", { cause })
  }
  throw new PluginError(directory, "its package.json has no name or no version. Give it both.")
}

/** The bump that a change needs. Below 1.0, npm's `^` treats a minor version as a major, and a patch as a minor. */
export const neededBump = (weight: Weight, isChanged: boolean, version: string): Bump => {
  const isYoung = version.startsWith("0.")
  if (weight === "breaking") return isYoung ? "minor" : "major"
  if (weight === "additive") return isYoung ? "patch" : "minor"
  return isChanged ? "patch" : "none"
}

const waitingBump = async (name: string, directory: string): Promise<Bump> => {
  const texts = await changesetsAbove(resolve(directory))
  const named = texts.flatMap((text) => {
    const [, head = ""] = text.split(/^---\s*$/m)
    return head.split(/\r?\n/).flatMap((line) => {
      const [, subject, bump] = /^\s*["']?([^"':]+)["']?\s*:\s*(patch|minor|major)\s*$/.exec(line) ?? []
      return subject === name ? [bump as Bump] : []
    })
  })
  return bumps.findLast((bump) => named.includes(bump)) ?? "none"
}

// Reads `.changeset/` of the package, or of the first directory above it that has one.
const changesetsAbove = async (directory: string): Promise<ReadonlyArray<string>> => {
  const read = Workspace.use((workspace) =>
    Effect.gen(function* () {
      const names = yield* workspace.list(".changeset")
      const changesets = names.map(({ name: file }) => file).filter((file) => /^(?!README).*\.md$/.test(file))
      return yield* Effect.forEach(changesets, (file) =>
        Effect.map(workspace.read(`.changeset/${file}`), (bytes) => new TextDecoder().decode(bytes))
      )
    })
  )
  const found = await Effect.runPromise(
    Effect.result(Effect.scoped(Effect.provide(read, nodeWorkspace({ root: directory }))))
  )
  if (found._tag === "Success") return found.success
  const above = dirname(directory)
  return above === directory ? [] : changesetsAbove(above)
}
