import type { BrokeredCredential, SandboxRequest } from "@haft/core"

import { systemPath } from "../process/system-programs.ts"
import type { SandboxOptions } from "./limits.ts"

/** Variables of the host's environment that a command may see. Everything else stays outside. */
const passedOn = ["PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "USER", "LOGNAME", "SHELL"]

/** Variables that programs for Windows need as well, and that tell where things are installed. */
const passedOnWindows = [
  "SystemRoot SystemDrive windir ComSpec PATHEXT OS TEMP TMP USERPROFILE USERNAME USERDOMAIN HOMEDRIVE HOMEPATH",
  "APPDATA LOCALAPPDATA ProgramData ProgramFiles ProgramW6432 ProgramFiles(x86) CommonProgramFiles",
  "NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE"
].flatMap((names) => names.split(" "))

/** So that nothing waits for a key, and nobody has to read escape sequences. */
const quiet = { PAGER: "cat", GIT_PAGER: "cat", GIT_TERMINAL_PROMPT: "0", NO_COLOR: "1", TERM: "dumb" }

/** The environment of a command: an allowlist, manners for programs that nobody watches, and what the call adds. */
export const environmentFor = (
  added: Readonly<Record<string, string>>,
  request: SandboxRequest,
  options: { readonly names?: ReadonlyArray<string>; readonly home: string; readonly temporary: string }
): Record<string, string> => {
  const isWindows = process.platform === "win32"
  const names = [...passedOn, ...(isWindows ? passedOnWindows : []), ...(options.names ?? [])]
  const found = names.flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return {
    PATH: isWindows ? systemPath : "/usr/local/bin:/usr/bin:/bin",
    LANG: "C.UTF-8",
    ...Object.fromEntries(found),
    HOME: options.home,
    TMPDIR: options.temporary,
    ...(request.terminal === true ? {} : quiet),
    ...added,
    // The shell of Windows looks for programs in the working directory first, unless this is set.
    ...(isWindows && { NoDefaultCurrentDirectoryInExePath: "1" })
  }
}

/** Sandbox options that pass no variable on which holds the value of a brokered credential. */
export const withoutCredentials = <Options extends SandboxOptions>(
  options: Options,
  credentials: ReadonlyArray<BrokeredCredential>
): Options => {
  if (options.environment === undefined || credentials.length === 0) return options
  const held = credentials.flatMap(({ variable, from }) => ("env" in from ? [variable, from.env] : variable))
  return { ...options, environment: options.environment.filter((name) => !held.includes(name)) }
}

/**
 * Tests whether a variable goes into a sandbox under another name. Those of a command are not for the programs that set the
 * sandbox up: `LD_PRELOAD` or `BASH_ENV` would run inside them, before they have checked anything. A shell can't give back
 * a name that is none of its own, and no such program listens to one.
 */
export const isRenamed = (name: string): boolean => /^[A-Za-z_]\w*$/.test(name)

/** The name under which a variable goes into a sandbox, where a script gives it its own name back. */
export const passedName = (name: string): string => (isRenamed(name) ? `HAFT_GIVES_${name}` : name)
