import { randomBytes } from "node:crypto"
import {
  closeSync,
  constants,
  copyFileSync,
  fchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
  writeSync
} from "node:fs"
import { dirname, join } from "node:path"

import { isErrno } from "../errno.ts"
import { inDirectoryOf, type ScannedRoot, type SeenFile, shownPath } from "./snapshot.ts"

/** Moves control files out of a workspace, into a directory that no sandbox sees. They can be moved back from there. */
export class Quarantine {
  readonly #root: ScannedRoot
  readonly directory: string

  constructor(root: ScannedRoot, parent: string) {
    this.#root = root
    const moment = new Date().toISOString().replaceAll(/[:.]/g, "-")
    this.directory = join(parent, `${moment}-${randomBytes(3).toString("hex")}`)
    mkdirSync(join(this.directory, "files"), { recursive: true, mode: 0o700 })
  }

  /** Moves a file aside, and puts back what was there before. Returns where it is now. */
  take(file: SeenFile, before: SeenFile | undefined): string {
    const target = join(this.directory, "files", shownPath(file.path))
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
    inDirectoryOf(this.#root, file.path, (directory, name) => {
      const place = Buffer.concat([Buffer.from(`${directory.base}/`), name])
      moveAside(place, target)
      if (before?.kind !== "file" || before.content === undefined) return
      const temporary = `${directory.base}/.haft-${randomBytes(8).toString("hex")}-1.tmp`
      const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
      const descriptor = openSync(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, before.mode)
      try {
        writeSync(descriptor, before.content)
        const { uid, gid } = directory.stats
        if (process.getuid?.() === 0 && uid !== 0) fchownSync(descriptor, uid, gid)
      } finally {
        closeSync(descriptor)
      }
      renameSync(temporary, place)
    })
    return target
  }

  /** Writes down what was moved and why, beside the files. */
  record(entries: ReadonlyArray<object>): void {
    writeFileSync(join(this.directory, "record.json"), `${JSON.stringify(entries, undefined, 2)}\n`, { mode: 0o600 })
  }
}

const moveAside = (place: Buffer, target: string): void => {
  try {
    return renameSync(place, target)
  } catch (error) {
    if (!isErrno(error, "EXDEV")) throw error
  }
  const found = lstatSync(place)
  if (found.isSymbolicLink()) symlinkSync(readlinkSync(place), target)
  else if (found.isFile()) copyFileSync(place, target)
  unlinkSync(place)
}
