import { closeSync, constants, fstatSync, lstatSync, openSync, realpathSync, type Stats } from "node:fs"
import { join } from "node:path"

/** Something inside the workspace that can't be exchanged for something else while it is held. */
export interface Held {
  /** Reaches the thing itself; for a directory `${base}/${name}` reaches what is in it. */
  readonly base: string
  readonly stats: Stats
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
  try {
    const held = descriptors.holdRoot(root)
    const through = lstatSync(`${held.base}/.`)
    held.close()
    return through.ino === held.stats.ino && through.dev === held.stats.dev ? descriptors : paths
  } catch {
    return paths
  }
}

// Linux only, and not among Node's constants: a descriptor that names a file without opening it.
const O_PATH = 0x20_0000
const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants

/** What `name` is below a held directory; a name that is not UTF-8 is given as its bytes. */
export const below = (directory: string, name: string | Buffer): string | Buffer =>
  typeof name === "string" ? `${directory}/${name}` : Buffer.concat([Buffer.from(`${directory}/`), name])

const holdDescriptor = (path: string | Buffer, flags: number): Held => {
  const descriptor = openSync(path, flags)
  try {
    return {
      base: `/proc/self/fd/${descriptor}`,
      stats: fstatSync(descriptor),
      close: () => closeSync(descriptor)
    }
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

/**
 * Every step is taken from the descriptor of the directory before it, so a directory that is exchanged
 * for a link in between leads nowhere else.
 */
const descriptors: Technique = {
  name: "descriptors",
  holdRoot: (path) => holdDescriptor(path, O_PATH | O_DIRECTORY),
  enter: (directory, name) => holdDescriptor(below(directory, name), O_PATH | O_DIRECTORY | O_NOFOLLOW),
  hold: (directory, name) => holdDescriptor(`${directory}/${name}`, O_PATH | O_NOFOLLOW),
  open: (held, flags) => openSync(held.base, flags | O_NONBLOCK)
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
