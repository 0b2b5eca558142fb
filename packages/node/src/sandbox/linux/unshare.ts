import type { Processes, Sandbox, Workspace } from "@haft/core"
import type * as Layer from "effect/Layer"

import { networkListeners, starter, unshareEnter } from "../../embedded-scripts.ts"
import { requiredProgram, systemPath, systemProgram } from "../../process/system-programs.ts"
import type { SandboxOptions } from "../limits.ts"
import type { Mount } from "../paths.ts"
import { namespaceSandbox, type Plan } from "./namespaces.ts"

/**
 * Linux without bubblewrap, from what a system has anyway: `unshare` and `setpriv` of util-linux make the
 * namespaces, and perl, which unlike a shell can make system calls, shuts them.
 */
export const unshareSandbox = (options: SandboxOptions = {}): Layer.Layer<Sandbox, never, Workspace | Processes> =>
  namespaceSandbox(
    {
      kind: "unshare",
      find: (hasFilter) =>
        hasFilter && ["unshare", "perl"].every((name) => systemProgram(name) !== undefined)
          ? systemProgram("setpriv")
          : undefined,
      tell: (plan) =>
        stepsFor(plan)
          .flat()
          .map((word) => `${word}\0`)
          .join(""),
      // The first words are the host's and run outside; perl is the first program inside and becomes the starter.
      networkWords: [],
      words: ({ hasNetwork }) => [
        ...outside(),
        "--net",
        "--",
        requiredProgram("perl"),
        ...(hasNetwork ? ["-e", networkListeners] : []),
        "-e",
        unshareEnter,
        "--",
        process.arch,
        starter
      ],
      env: () => ({ PATH: systemPath })
    },
    options
  )

const outside = (): ReadonlyArray<string> => [
  "--pdeathsig",
  "KILL",
  requiredProgram("unshare"),
  "--user",
  "--map-current-user",
  "--keep-caps",
  "--mount",
  "--pid",
  "--ipc",
  "--uts",
  "--cgroup",
  "--kill-child=KILL"
]

/** See unshare-enter.pl. */
type Step = readonly [kind: string, first: string, second: string]

const stepsFor = ({ mounts, sizes, directory, env }: Plan): ReadonlyArray<Step> => [
  ...mounts.system.map(stepOf),
  ["proc", "", "/proc"],
  ...mounts.kernel.map(stepOf),
  ["devices", sizes.shm, "/dev"],
  ["temporary", sizes.tmp, "/tmp"],
  ...mounts.own.map(stepOf),
  ["enter", "", directory],
  ...Object.entries(env).map(([name, value]): Step => ["variable", name, value])
]

const stepOf = (mount: Mount): Step => {
  if (mount.kind === "link") return ["link", mount.target, mount.path]
  if (mount.kind === "empty") return ["empty", "", mount.path]
  return [mount.kind, mount.from ?? mount.path, mount.path]
}
