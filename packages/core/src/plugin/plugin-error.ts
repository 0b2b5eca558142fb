/** Why a plugin can't be used: its name, what is wrong, and what to do. */
export class PluginError extends Error {
  override readonly name = "PluginError"
  readonly plugin: string
  constructor(plugin: string, problem: string, options?: ErrorOptions) {
    super(`plugin ${plugin}: ${problem}`, options)
    this.plugin = plugin
  }
}

/** By name, because a plugin may bring its own copy of this package. */
export const isPluginError = (cause: unknown): cause is PluginError =>
  cause instanceof Error && cause.name === "PluginError" && "plugin" in cause

/** Message of any thrown value, also of one that has no message. */
export const reasonOf = (cause: unknown): string => {
  try {
    return cause instanceof Error ? cause.message : String(cause)
  } catch {
    return "it threw something that can't be shown"
  }
}
