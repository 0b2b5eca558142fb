import { spawnSync } from "node:child_process"

/** Where a member under test runs: its address, and how its machine is cut off from all others. */
export interface MemberPlace {
  readonly host: string
  /** Arguments to start a program there with. */
  readonly inside: (program: string, args: ReadonlyArray<string>) => readonly [string, ReadonlyArray<string>]
  /** Drops all packets between this place and everything else, without a word to either side. */
  readonly cutOff?: (isCut: boolean) => void
}

export interface MemberNetwork {
  /** The address at which places reach the database. */
  readonly gateway: string
  readonly places: ReadonlyArray<MemberPlace>
  readonly remove: () => void
}

const ip = (...args: ReadonlyArray<string>): boolean => spawnSync("ip", args, { stdio: "ignore" }).status === 0

/**
 * A network namespace for each member, joined by a bridge. Where the machine does not allow that (no root, no `ip`), all
 * members share loopback, and can't be cut off.
 */
export const makeNetwork = (count: number): MemberNetwork => {
  const loopback: MemberPlace = { host: "127.0.0.1", inside: (program, args) => [program, args] }
  const name = `hft${process.pid % 100_000}`
  // One of the private /24 networks, by process, so that two runs on a machine don't meet.
  const prefix = `10.${100 + (process.pid % 100)}.${process.pid % 250}`
  const made: Array<ReadonlyArray<string>> = []
  const remove = (): void => {
    for (const args of made.toReversed()) ip(...args)
  }
  const add = (undo: ReadonlyArray<string>, ...args: ReadonlyArray<string>): boolean => {
    const isDone = ip(...args)
    if (isDone) made.push(undo)
    return isDone
  }
  const placeOf = (index: number): MemberPlace | undefined => {
    const [space, link, host] = [`${name}-${index}`, `${name}v${index}`, `${prefix}.${index + 10}`]
    const isMade =
      add(["netns", "del", space], "netns", "add", space) &&
      add(["link", "del", link], "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", space) &&
      ip("link", "set", link, "master", name, "up") &&
      ip("-n", space, "addr", "add", `${host}/24`, "dev", "eth0") &&
      ip("-n", space, "link", "set", "eth0", "up") &&
      ip("-n", space, "link", "set", "lo", "up")
    if (!isMade) return undefined
    return {
      host,
      inside: (program, args) => ["ip", ["netns", "exec", space, program, ...args]],
      cutOff: (isCut) => void ip("link", "set", link, isCut ? "down" : "up")
    }
  }
  const isBridged =
    process.getuid?.() === 0 &&
    add(["link", "del", name], "link", "add", name, "type", "bridge") &&
    ip("addr", "add", `${prefix}.1/24`, "dev", name) &&
    ip("link", "set", name, "up")
  const places = isBridged ? Array.from({ length: count }, (_, index) => placeOf(index)) : []
  const complete = places.flatMap((place) => place ?? [])
  if (complete.length === count) return { gateway: `${prefix}.1`, places: complete, remove }
  remove()
  return { gateway: "127.0.0.1", places: Array.from({ length: count }, () => loopback), remove: () => {} }
}
