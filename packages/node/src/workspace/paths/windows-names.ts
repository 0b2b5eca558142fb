import { makeToolError } from "@haft/core"

/**
 * Refuses a name that Windows gives to something else than a file of that name: a device, a stream of another file, a
 * file with a shorter name. With the reason, because the path is inside the workspace.
 */
export const checkWindowsName = (given: string, name: string): void => {
  const problem = problemOf(name)
  if (problem === undefined) return
  throw makeToolError("invalid_params", `${JSON.stringify(name)} can't be a file name on Windows: ${problem}`, {
    suggestion: "Choose another name.",
    details: { path: given }
  })
}

const problemOf = (name: string): string | undefined => {
  if (name.includes(":")) return "':' names a stream of a file"
  const reserved = /[<>"|?*]/.exec(name)
  if (reserved !== null) return `it contains '${reserved[0]}'`
  if (hasControlCharacter(name)) return "it contains a control character"
  if (/[. ]$/.test(name)) return "it ends with a dot or a space, which Windows leaves out"
  return device.test(name) ? "it is a device" : undefined
}

/** Devices keep their meaning with an extension, with spaces before it, and with superscript digits. */
const device = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[\d¹²³]) *(?:\.|$)/i

const hasControlCharacter = (name: string): boolean => /\p{Cc}/u.test(name)
