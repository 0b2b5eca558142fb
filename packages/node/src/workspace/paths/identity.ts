import type { Stats } from "node:fs"

/** Tells one file from any other, also from one that gets the same inode number later. Renaming does not change it. */
export interface Identity {
  readonly device: number
  readonly number: number
  readonly born: number
}

export const identityOf = ({ dev, ino, birthtimeMs }: Stats): Identity => ({
  device: dev,
  number: ino,
  born: birthtimeMs
})

export const isSame = (one: Identity, other: Identity): boolean =>
  one.device === other.device && one.number === other.number && one.born === other.born
