import { arch } from "node:process"

import type { Processes, Sandbox, Workspace } from "@haft/core"
import type * as Layer from "effect/Layer"

import { becomeUnprivileged, networkListeners, starter } from "../../embedded-scripts.ts"
import { requiredProgram, systemProgram } from "../../process/system-programs.ts"
import type { SandboxOptions } from "../limits.ts"
import type { Mount } from "../paths.ts"
import { namespaceSandbox, type Plan } from "./namespaces.ts"

/** Linux, with bubblewrap: namespaces, a filter for system calls, and only the system's programs and the workspace. */
export const bubblewrapSandbox = (options: SandboxOptions = {}): Layer.Layer<Sandbox, never, Workspace | Processes> =>
  namespaceSandbox(
    {
      kind: "bubblewrap",
      find: () => systemProgram("bwrap"),
      tell: (plan) =>
        optionsFor(plan)
          .map((word) => `${word}\0`)
          .join(""),
      // Made before bubblewrap starts, because inside nobody may set up a network.
      networkWords: [
        requiredProgram("unshare"),
        "--user",
        "--map-current-user",
        "--keep-caps",
        "--net",
        "--",
        requiredProgram("perl"),
        "-e",
        networkListeners,
        "-e",
        becomeUnprivileged,
        "--",
        arch
      ],
      words: (_plan, hasFilter) => [
        "--args",
        "3",
        ...(hasFilter ? ["--seccomp", "4"] : []),
        "--",
        "/bin/sh",
        "-c",
        starter,
        "haft"
      ],
      env: () => ({})
    },
    options
  )

// Everything is shut, then the command's own world is laid out.
const optionsFor = ({ hasNetwork, terminal, mounts, sizes, directory, env }: Plan): ReadonlyArray<string> => [
  ...shut,
  ...(hasNetwork ? [] : ["--unshare-net"]),
  // A terminal's own session must stay, or Ctrl-C reaches nobody.
  ...(terminal ? [] : ["--new-session"]),
  ...mounts.system.flatMap(mountOptions),
  "--proc",
  "/proc",
  ...mounts.kernel.flatMap(mountOptions),
  "--dev",
  "/dev",
  ...temporary("/dev/shm", sizes.shm),
  "--remount-ro",
  "/dev",
  ...temporary("/tmp", sizes.tmp),
  ...mounts.own.flatMap(mountOptions),
  "--remount-ro",
  "/",
  "--chdir",
  directory,
  "--clearenv",
  ...Object.entries(env).flatMap(([name, value]) => ["--setenv", name, value])
]

const shut = [
  "--unshare-user",
  "--disable-userns",
  "--unshare-ipc",
  "--unshare-pid",
  "--unshare-uts",
  "--unshare-cgroup-try",
  "--hostname",
  "haft",
  "--die-with-parent",
  "--as-pid-1",
  "--cap-drop",
  "ALL"
]

const temporary = (path: string, size: string) => ["--size", size, "--perms", "1777", "--tmpfs", path]

const mountOptions = (mount: Mount): ReadonlyArray<string> => {
  if (mount.kind === "link") return ["--symlink", mount.target, mount.path]
  if (mount.kind === "empty") return ["--tmpfs", mount.path, "--remount-ro", mount.path]
  return [mount.kind === "writable" ? "--bind" : "--ro-bind", mount.from ?? mount.path, mount.path]
}
