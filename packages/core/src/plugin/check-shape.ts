import { PluginError } from "./plugin-error.ts"

/** The number of the contract between plugins and hosts. A host refuses a number it does not know. */
export const pluginContract = 1

/**
 * Throws a {@link PluginError} for what can't be a plugin of a contract that this host knows. A plugin comes from
 * strangers, in plain JavaScript too, so its types prove nothing.
 */
export const checkShape = (plugin: object): void => {
  const { name, version, tools, "~haft/Plugin": contract } = plugin as Readonly<Record<string, unknown>>
  if (typeof name !== "string" || name.trim() === "") {
    throw new PluginError("without a name", "give definePlugin a `name`, that of its package.")
  }
  if (contract !== pluginContract) {
    throw new PluginError(
      name,
      `it was made for plugin contract ${JSON.stringify(contract)}, this host speaks ${pluginContract}. Install a version of one that fits the other.`
    )
  }
  if (typeof version !== "string" || !semver.test(version)) {
    throw new PluginError(
      name,
      `its version is ${JSON.stringify(version)}, and no semantic version. Give definePlugin one like "1.0.0".`
    )
  }
  if (!Array.isArray(tools)) throw new PluginError(name, "it has no list of tools. Give definePlugin `tools`.")
  for (const [at, tool] of tools.entries()) {
    const problem = problemOf(tool)
    if (problem !== undefined) throw new PluginError(name, `its tool ${nameOf(tool) ?? at + 1} ${problem}.`)
  }
}

const semver = /^(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}(?:-[\dA-Za-z-]+(?:\.[\dA-Za-z-]+)*)?(?:\+[\dA-Za-z.-]+)?$/
const risks: ReadonlyArray<unknown> = ["read_only", "safe_write", "dangerous"]

const nameOf = (tool: unknown): string | undefined => {
  const { name } = (tool ?? {}) as { readonly name?: unknown }
  return typeof name === "string" && name !== "" ? `'${name}'` : undefined
}

const problemOf = (tool: unknown): string | undefined => {
  const { dialect, description, prepare, risk } = (tool ?? {}) as Readonly<Record<string, unknown>>
  if (typeof prepare !== "function" || typeof dialect !== "string") return "is not made by defineTool"
  if (nameOf(tool) === undefined) return "has no name: give defineTool a `name`"
  if (typeof description !== "string") return "has no description: give defineTool a `description`"
  return risks.includes(risk) ? undefined : `has the risk ${JSON.stringify(risk)}: use one of ${risks.join(", ")}`
}
