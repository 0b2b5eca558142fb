/** The version of this package, as a plugin for it names it. */
export const coreVersion = "0.0.0"
