import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"

import { build } from "rolldown"
import { afterAll, beforeAll } from "vitest"

import bundle from "../rolldown.config.ts"

export interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** The program as it is shipped, bundled for these tests into a directory of their own. */
export const useHaft = () => {
  let directory = ""
  beforeAll(async () => {
    // Below the package, as dist is: programs that come as packages are looked for from there.
    const cache = join(import.meta.dirname, "../node_modules/.cache")
    mkdirSync(cache, { recursive: true })
    directory = mkdtempSync(join(cache, "haft-"))
    await build({
      ...bundle,
      cwd: join(import.meta.dirname, ".."),
      output: { dir: directory, format: "esm", entryFileNames: "[name].js" }
    })
  })
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  const bin = (): string => join(directory, "bin.js")
  const haft = (args: ReadonlyArray<string>, options: { stdin?: string; env?: Record<string, string> } = {}) =>
    new Promise<Ended>((resolve) => {
      const child = execFile(
        process.execPath,
        [bin(), ...args],
        { env: { ...process.env, NODE_OPTIONS: "", ...options.env } },
        (error, stdout, stderr) => resolve({ code: codeOf(error), stdout, stderr })
      )
      child.stdin?.end(options.stdin ?? "")
    })
  return { bin, haft }
}

const codeOf = (error: unknown): number => {
  if (error === null) return 0
  const { code } = error as { code?: unknown }
  return typeof code === "number" ? code : -1
}
