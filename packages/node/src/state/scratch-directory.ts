import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

/** A directory of its own among the temporary ones. */
export interface ScratchDirectory {
  readonly path: string
  readonly remove: () => void
}

/** Makes a temporary directory with these files in it. */
export const makeScratchDirectory = (name: string, files: Readonly<Record<string, string>>): ScratchDirectory => {
  const path = realpathSync(mkdtempSync(join(tmpdir(), `${name}-`)))
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(join(path, file)), { recursive: true })
    writeFileSync(join(path, file), content)
  }
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}
