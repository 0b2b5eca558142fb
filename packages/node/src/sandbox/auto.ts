import { type ContainerOptions, containerSandbox } from "./container/container.ts"
import { firstThatWorks, type SandboxLayer } from "./first-that-works.ts"
import { bubblewrapSandbox } from "./linux/bubblewrap.ts"
import { unshareSandbox } from "./linux/unshare.ts"
import { seatbeltSandbox } from "./seatbelt.ts"

/**
 * The strongest sandbox that works on this machine, found with the first command. Never none. Order on Linux: bubblewrap
 * (a small, audited program, and a gate before each command), containers (a maintained engine, limits held by cgroups also
 * for ordinary users), and last unshare, whose namespaces are shut by a perl program of haft's own.
 */
export const autoSandbox = (options: ContainerOptions = {}): SandboxLayer => firstThatWorks("auto", candidates(options))

const candidates = (options: ContainerOptions): ReadonlyArray<SandboxLayer> => {
  if (process.platform === "linux") {
    return [bubblewrapSandbox(options), containerSandbox(options), unshareSandbox(options)]
  }
  return process.platform === "darwin"
    ? [seatbeltSandbox(options), containerSandbox(options)]
    : [containerSandbox(options)]
}
