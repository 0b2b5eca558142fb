import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A mounted disk that ignores case. */
export interface CaseInsensitiveDisk {
  readonly path: string
  readonly remove: () => void
}

const run = (program: string, ...args: ReadonlyArray<string>): string =>
  execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim()

/**
 * A disk on which two spellings of a name are one file: exFAT through FUSE, because hardly a kernel is built with
 * case-insensitive directories of its own. Undefined where none can be mounted: that takes root, FUSE and two programs.
 */
export const caseInsensitiveDisk = (): CaseInsensitiveDisk | undefined => {
  if (process.platform !== "linux" || process.geteuid?.() !== 0) return undefined
  const base = mkdtempSync(join(tmpdir(), "haft-exfat-"))
  const [image, path] = [join(base, "image"), join(base, "disk")]
  let device: string | undefined
  const remove = (): void => {
    if (readdirSync(base).includes("disk")) run("umount", path)
    if (device !== undefined) run("losetup", "--detach", device)
    rmSync(base, { recursive: true, force: true })
  }
  try {
    writeFileSync(image, "")
    truncateSync(image, 16 * 1024 * 1024)
    run("mkfs.exfat", image)
    device = run("losetup", "--find", "--show", image)
    mkdirSync(path)
    run("mount.exfat-fuse", device, path)
    return { path, remove }
  } catch {
    rmSync(path, { recursive: true, force: true })
    remove()
    return undefined
  }
}
