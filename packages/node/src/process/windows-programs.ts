import { win32 } from "node:path"

import { makeToolError } from "@haft/core"

/** Facts about a Windows machine that decide which program a name means. */
export interface WindowsMachine {
  /** Variables of the host itself. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly isFile: (path: string) => boolean
  /** True for a directory that a workspace contains, where anybody who works in it can put a program. */
  readonly isInWorkspace: (directory: string) => boolean
}

/** Directories of Windows itself, and of container engines. Programs outside a sandbox come from there. */
export const windowsDirectories = (env: WindowsMachine["env"]): ReadonlyArray<string> => {
  const system = win32.join(env["SystemRoot"] ?? String.raw`C:\Windows`, "System32")
  return [
    system,
    win32.join(system, "WindowsPowerShell", "v1.0"),
    ...programFiles(env).flatMap((directory) => [
      win32.join(directory, "Docker", "Docker", "resources", "bin"),
      win32.join(directory, "RedHat", "Podman")
    ])
  ]
}

/**
 * Absolute path of a program, or undefined. A bare name is looked up along PATH, with the extensions of executables:
 * never in the working directory, where Windows itself looks first, and never in a workspace. `sh` and `bash` are those of
 * Git for Windows; the `bash.exe` of Windows itself would start another system.
 */
export const findWindowsProgram = (
  name: string,
  { directory, path, machine }: { readonly directory: string; readonly path: string; readonly machine: WindowsMachine }
): string | undefined => {
  const isBare = !/[\\/:]/.test(name)
  const places = isBare ? placesFor(name, path, machine) : [directory]
  const candidates = places.flatMap((place) => spellings(name).map((spelling) => win32.resolve(place, spelling)))
  const found = candidates.find((candidate) => machine.isFile(candidate))
  if (found !== undefined && !isScript(found)) return found
  const script = found ?? places.flatMap((place) => scriptsIn(place, name)).find((file) => machine.isFile(file))
  if (script !== undefined) throw isBatchFile(name, script)
  return undefined
}

/** Words for PowerShell that run a line in it, and end with the exit code of its last program. */
export const powershellWords = (line: string): ReadonlyArray<string> =>
  // An interactive shell is asked for by the name of the usual one.
  line === "bash"
    ? ["-NoLogo"]
    : ["-NoLogo", "-NoProfile", "-NonInteractive", "-Command", ` ${line}\nif ($LASTEXITCODE) { exit $LASTEXITCODE }`]

/** Newer PowerShell where it is installed, else the one of Windows. */
export const findPowershell = ({ env, isFile }: WindowsMachine): string | undefined => {
  const system = win32.join(env["SystemRoot"] ?? String.raw`C:\Windows`, "System32", "WindowsPowerShell", "v1.0")
  return [
    ...programFiles(env).map((directory) => win32.join(directory, "PowerShell", "7", "pwsh.exe")),
    win32.join(system, "powershell.exe")
  ].find(isFile)
}

const programFiles = (env: WindowsMachine["env"]): ReadonlyArray<string> =>
  [...new Set([env["ProgramW6432"], env["ProgramFiles"], env["ProgramFiles(x86)"]])].filter(isAbsolute)

const placesFor = (name: string, path: string, { env, isInWorkspace }: WindowsMachine): ReadonlyArray<string> => {
  const listed = path.split(";").map((place) => place.replaceAll('"', "").trim())
  const places = /^(?:ba)?sh(?:\.exe)?$/i.test(name)
    ? [...gitDirectories(env), ...listed.filter((place) => !isOfWindows(place, env))]
    : listed
  return places.filter((place) => isAbsolute(place) && !isInWorkspace(place))
}

/** Directories of the shell of Git for Windows, installed for everybody or for one user. */
const gitDirectories = (env: WindowsMachine["env"]): ReadonlyArray<string> => {
  const { LOCALAPPDATA: local } = env
  const bases = [...programFiles(env), ...(isAbsolute(local) ? [win32.join(local, "Programs")] : [])]
  return bases.map((base) => win32.join(base, "Git", "bin"))
}

/** Directories whose `bash.exe` starts the Windows Subsystem for Linux. */
const isOfWindows = (place: string, env: WindowsMachine["env"]): boolean => {
  const folded = win32.resolve(place).toLowerCase()
  const system = (env["SystemRoot"] ?? String.raw`C:\Windows`).toLowerCase()
  return folded.startsWith(`${system}\\`) || folded.endsWith(String.raw`\windowsapps`)
}

/** Absolute with a drive or a server: `\\dir` alone depends on the current drive. */
const isAbsolute = (path: string | undefined): path is string =>
  path !== undefined && /^(?:[A-Za-z]:[\\/]|\\\\[^\\/?.])/.test(path)

const spellings = (name: string): ReadonlyArray<string> =>
  win32.extname(name) === "" ? [`${name}.com`, `${name}.exe`] : [name, `${name}.exe`]

const isScript = (path: string): boolean => !/\.(?:exe|com)$/i.test(path)

const scriptsIn = (place: string, name: string): ReadonlyArray<string> =>
  ["bat", "cmd"].map((extension) => win32.resolve(place, `${name}.${extension}`))

const isBatchFile = (name: string, path: string) =>
  makeToolError(
    "permission_denied",
    `'${name}' is not an executable (${path}): batch files and scripts are not started`,
    {
      suggestion: "Run it by a command line of the shell, which says how its arguments are read."
    }
  )
