import {
  close,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  type Stats,
  statfsSync
} from "node:fs"
import { join } from "node:path"

/** Something inside the workspace that can't be exchanged for something else while it is held. */
export interface Held {
  /** Reaches the thing itself; for a directory `${base}/${name}` reaches what is in it. */
  readonly base: string
  readonly stats: Stats
  /** Looks at it once more. Absent where a thing is only known by its name, and may have become another. */
  readonly lookAgain?: () => Stats
  readonly close: () => void
}

/** How things are held. It is chosen when a workspace is opened. */
export interface Technique {
  readonly name: "descriptors" | "paths"
  readonly holdRoot: (path: string) => Held
  /** Holds a directory below a held one; fails with ENOTDIR on anything else, links included. */
  readonly enter: (directory: string, name: string | Buffer) => Held
  /** Holds whatever is there, a link itself too, without opening it. */
  readonly hold: (directory: string, name: string) => Held
  /** Opens a held regular file. */
  readonly open: (held: Held, flags: number) => number
}

/** Descriptors where the system has `/proc/self/fd`, paths that are looked at twice elsewhere. */
export const chooseTechnique = (root: string): Technique => {
  let held: Held | undefined
  try {
    held = descriptors.holdRoot(root)
    const through = lstatSync(`${held.base}/.`)
    return through.ino === held.stats.ino && through.dev === held.stats.dev ? descriptors : paths
  } catch {
    return paths
  } finally {
    held?.close()
  }
}

// Linux only, and not among Node's constants: a descriptor that names a file without opening it.
const O_PATH = 0x20_0000
const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants

/** Path of `name` below an open directory; a name that is not UTF-8 is given as its bytes. */
export const below = (directory: string, name: string | Buffer): string | Buffer =>
  typeof name === "string" ? `${directory}/${name}` : Buffer.concat([Buffer.from(`${directory}/`), name])

// `/proc/self` spelled out: one link less to follow on every step. Not process.pid, which another /proc may count differently.
const descriptorDirectory = ((): string => {
  try {
    return `/proc/${readlinkSync("/proc/self")}/fd`
  } catch {
    return "/proc/self/fd"
  }
})()

/** A descriptor that names something. It is asked about only when somebody wants to know: most are just passed through. */
class HeldDescriptor implements Held {
  readonly base: string
  readonly #descriptor: number
  #stats: Stats | undefined

  constructor(path: string | Buffer, flags: number) {
    this.#descriptor = openSync(path, flags)
    this.base = `${descriptorDirectory}/${this.#descriptor}`
  }

  get stats(): Stats {
    return (this.#stats ??= fstatSync(this.#descriptor))
  }

  lookAgain(): Stats {
    this.#stats = fstatSync(this.#descriptor)
    return this.#stats
  }

  close(): void {
    closeSync(this.#descriptor)
  }

  closeOnThread(done: () => void): void {
    close(this.#descriptor, done)
  }
}

const maximumLeaving = 512
let leaving = 0

/** True for a file that is freed when it loses its name. */
export const isLastName = (found: Stats): boolean => found.isFile() && found.nlink === 1

/** Closes what is held on another thread: freeing a file that nothing else holds any more takes the disk a while. */
export const letGo = (held: Held): void => {
  if (leaving >= maximumLeaving || !(held instanceof HeldDescriptor)) return held.close()
  leaving++
  held.closeOnThread(() => leaving--)
}

/**
 * Every step is taken from the descriptor of the directory before it, so a directory that is exchanged
 * for a link in between leads nowhere else.
 */
const descriptors: Technique = {
  name: "descriptors",
  holdRoot: (path) => {
    const held = new HeldDescriptor(path, O_PATH | O_DIRECTORY)
    if (isOverlay(held.base)) copyUpDevices.add(held.stats.dev)
    return held
  },
  enter: (directory, name) => new HeldDescriptor(below(directory, name), O_PATH | O_DIRECTORY | O_NOFOLLOW),
  hold: (directory, name) => new HeldDescriptor(`${directory}/${name}`, O_PATH | O_NOFOLLOW),
  open: (held, flags) => openSync(held.base, flags | O_NONBLOCK)
}

/** A directory that is open already, as one that was just entered; closing it leaves it open. */
export const heldAgain = ({ base }: Held): Held => {
  const stats = lstatSync(`${base}/.`)
  if (stats.nlink === 0) throw Object.assign(new Error(`ENOENT: ${base}`), { code: "ENOENT" })
  return { base, stats, close: () => {} }
}

const holdPath = (path: string, stats: Stats): Held => ({ base: path, stats, close: () => {} })

/**
 * For systems without `/proc/self/fd`. Every component is looked at before it is used and the whole path
 * again afterwards. A process that exchanges directories at the right moment can get between the two looks.
 */
const paths: Technique = {
  name: "paths",
  holdRoot: (path) => holdPath(path, lstatSync(path)),
  enter: (directory, name) => {
    const path = below(directory, name).toString()
    const stats = lstatSync(below(directory, name))
    if (!stats.isDirectory()) throw Object.assign(new Error(`ENOTDIR: ${path}`), { code: "ENOTDIR" })
    return holdPath(path, stats)
  },
  hold: (directory, name) => {
    const path = join(directory, name)
    return holdPath(path, lstatSync(path))
  },
  open: (held, flags) => {
    const descriptor = openSync(held.base, flags | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0))
    const opened = fstatSync(descriptor)
    if (opened.ino === held.stats.ino && opened.dev === held.stats.dev && realpathSync(held.base) === held.base) {
      return descriptor
    }
    closeSync(descriptor)
    throw Object.assign(new Error("ELOOP"), { code: "ELOOP" })
  }
}

export const techniques: Readonly<Record<Technique["name"], Technique>> = { descriptors, paths }

/** Tells one file from any other, also from one that gets the same inode number later. Renaming does not change it. */
export interface FileIdentity {
  readonly device: number
  readonly number: number
  readonly born: number
}

export const identityOf = ({ dev, ino, birthtimeMs }: Stats): FileIdentity => ({
  device: dev,
  number: ino,
  born: copyUpDevices.has(dev) ? 0 : birthtimeMs
})

/** Devices of workspaces on overlayfs: a file there gets another birth time when it is copied up, and is the same file. */
const copyUpDevices = new Set<number>()

const overlayType = 0x794c_7630

/** True for a directory on an overlay file system. */
export const isOverlay = (directory: string): boolean => {
  try {
    return statfsSync(directory).type === overlayType
  } catch {
    return false
  }
}

export const isSame = (one: FileIdentity, other: FileIdentity): boolean =>
  one.device === other.device && one.number === other.number && one.born === other.born
