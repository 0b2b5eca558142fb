import { isToolError } from "@haft/core"
import { describe, expect, it } from "vitest"

import {
  findPowershell,
  findWindowsProgram,
  powershellWords,
  windowsDirectories,
  type WindowsMachine
} from "./windows-programs.ts"

const env = {
  SystemRoot: String.raw`C:\Windows`,
  ProgramFiles: String.raw`C:\Program Files`,
  LOCALAPPDATA: String.raw`C:\Users\me\AppData\Local`
}
const workspace = String.raw`C:\work`
const path = [
  "",
  ".",
  "tools",
  String.raw`C:\work\node_modules\.bin`,
  String.raw`"C:\Program Files\Git\cmd"`,
  String.raw`C:\Windows\System32`,
  String.raw`\bin`
].join(";")

const machineWith = (...files: ReadonlyArray<string>): WindowsMachine => {
  const known = new Set(files.map((file) => file.toLowerCase()))
  return {
    env,
    isFile: (file) => known.has(file.toLowerCase()),
    isInWorkspace: (directory) => directory.startsWith(workspace)
  }
}

const found = (name: string, ...files: ReadonlyArray<string>): string | undefined => {
  try {
    return findWindowsProgram(name, { directory: workspace, path, machine: machineWith(...files) })
  } catch (error) {
    if (isToolError(error)) return error.code
    throw error
  }
}

describe("a program on Windows", () => {
  const git = String.raw`C:\Program Files\Git\cmd\git.exe`

  it("is found along PATH, by the extensions of executables", () => {
    expect(found("git", git)).toBe(git)
    expect(found("git.exe", git)).toBe(git)
    expect(found("more", String.raw`C:\Windows\System32\more.com`)).toBe(String.raw`C:\Windows\System32\more.com`)
  })

  it.each([
    String.raw`C:\work\git.exe`,
    String.raw`C:\work\git.bat`,
    String.raw`C:\work\tools\git.exe`,
    String.raw`C:\work\node_modules\.bin\git.exe`,
    String.raw`C:\bin\git.exe`
  ])("is never %s, in the working directory, a workspace or a place that depends on them", (planted) => {
    expect(found("git", planted)).toBeUndefined()
    expect(found("git", planted, git)).toBe(git)
  })

  it("is refused where it is a batch file or a script", () => {
    expect(found("npm", String.raw`C:\Program Files\Git\cmd\npm.cmd`)).toBe("permission_denied")
    expect(found("npm.cmd", String.raw`C:\Program Files\Git\cmd\npm.cmd`)).toBe("permission_denied")
    expect(found("x.bat", String.raw`C:\Windows\System32\x.bat`)).toBe("permission_denied")
    expect(found(String.raw`.\run.bat`, String.raw`C:\work\run.bat`)).toBe("permission_denied")
    expect(found("tool.py", String.raw`C:\Program Files\Git\cmd\tool.py`)).toBe("permission_denied")
  })

  it("is taken by its path where one is given", () => {
    expect(found(String.raw`bin\x.exe`, String.raw`C:\work\bin\x.exe`)).toBe(String.raw`C:\work\bin\x.exe`)
    expect(found("bin/x", String.raw`C:\work\bin\x.exe`)).toBe(String.raw`C:\work\bin\x.exe`)
    expect(found(String.raw`D:\x.exe`, String.raw`D:\x.exe`)).toBe(String.raw`D:\x.exe`)
  })

  it.each(["sh", "bash"])("%s is that of Git, and never the one that starts another system", (shell) => {
    const ofGit = `C:\\Program Files\\Git\\bin\\${shell}.exe`
    const ofUser = `C:\\Users\\me\\AppData\\Local\\Programs\\Git\\bin\\${shell}.exe`
    const ofWindows = `C:\\Windows\\System32\\${shell}.exe`
    expect(found(shell, ofWindows)).toBeUndefined()
    expect(found(shell, ofWindows, ofGit)).toBe(ofGit)
    expect(found(shell, ofUser)).toBe(ofUser)
  })
})

describe("PowerShell", () => {
  const ofWindows = String.raw`C:\Windows\System32\WindowsPowerShell\v1.0\powershell.exe`
  const newer = String.raw`C:\Program Files\PowerShell\7\pwsh.exe`

  it("is the newer one where it is installed", () => {
    expect(findPowershell(machineWith(ofWindows))).toBe(ofWindows)
    expect(findPowershell(machineWith(ofWindows, newer))).toBe(newer)
    expect(findPowershell(machineWith())).toBeUndefined()
  })

  it("gets a line as one argument, and is interactive where a shell is asked for", () => {
    expect(powershellWords("-x; y").at(-1)).toMatch(/^ -x; y\n/)
    expect(powershellWords("bash")).toEqual(["-NoLogo"])
  })
})

it("programs outside a sandbox come from Windows and container engines", () => {
  expect(windowsDirectories(env)).toEqual([
    String.raw`C:\Windows\System32`,
    String.raw`C:\Windows\System32\WindowsPowerShell\v1.0`,
    String.raw`C:\Program Files\Docker\Docker\resources\bin`,
    String.raw`C:\Program Files\RedHat\Podman`
  ])
})
