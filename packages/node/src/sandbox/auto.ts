import { type ContainerOptions, containerSandbox } from "./docker.ts"
import { firstThatWorks, type SandboxLayer } from "./first-that-works.ts"
import { bubblewrapSandbox } from "./linux/bubblewrap.ts"
import { unshareSandbox } from "./linux/unshare.ts"
import { seatbeltSandbox } from "./seatbelt.ts"

/** The strongest sandbox that works on this machine, found with the first command. Never none. */
export const autoSandbox = (options: ContainerOptions = {}): SandboxLayer =>
  firstThatWorks(
    "auto",
    process.platform === "linux"
      ? [bubblewrapSandbox(options), unshareSandbox(options), containerSandbox(options)]
      : [seatbeltSandbox(options), containerSandbox(options)]
  )
