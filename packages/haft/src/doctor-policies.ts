import { networkConfig, reasonOf, Workspace } from "@haft/core"
import { nodeWorkspace } from "@haft/node"
import { readSecret } from "@haft/node/internal"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

import type { HaftConfig } from "./config/config.ts"
import type { Finding } from "./doctor.ts"
import { filesOf, rootOf } from "./host/standard-host.ts"

/** Checks which files of the workspace are secret, and what keeps commands from them. */
export const secretFiles = (config: HaftConfig): Effect.Effect<Finding> => {
  const subject = "Secret files"
  const { state, sandbox = "auto" } = config
  const workspace = nodeWorkspace({ root: rootOf(config), ...filesOf(config), ...(state !== undefined && { state }) })
  const found = Workspace.useSync((service) => ({ root: service.root, files: service.secretFiles?.() ?? [] }))
  return found.pipe(
    Effect.provide(workspace.pipe(Layer.orDie)),
    Effect.scoped,
    Effect.map(({ root, files }): Finding => {
      const names = files.slice(0, mostNames).map((path) => path.replace(`${root}/`, ""))
      const more = files.length > mostNames ? ` and ${files.length - mostNames} more` : ""
      const told = files.length === 0 ? "none in the workspace" : `${names.join(", ")}${more}`
      const replies =
        config.redactReplies === true ? "secrets elsewhere are redacted in replies" : "replies are not redacted"
      if (sandbox !== "none" || files.length === 0) return { subject, state: "ok", found: `${told}; ${replies}` }
      const mend = "Tools refuse them, but commands read every file: choose a sandbox other than none."
      return { subject, state: "limited", found: `${told}; ${replies}`, mend }
    }),
    Effect.catchCause(() =>
      Effect.succeed<Finding>({ subject, state: "missing", found: "the workspace can't be opened" })
    )
  )
}

/** Names of secret files that are listed. */
const mostNames = 5

/** Sandboxes that give commands no network by host on this machine, with advice. */
const noNetworkIn: Readonly<Partial<Record<NonNullable<HaftConfig["sandbox"]>, string>>> = {
  none: "Nothing holds commands to it: choose the sandbox bubblewrap, unshare or docker.",
  seatbelt: "The sandbox seatbelt gives commands no network: macOS has no network namespaces.",
  ...(process.platform !== "linux" && {
    docker: "The sandbox docker gives commands no network here: its engine runs in a virtual machine."
  })
}

/** Checks which hosts commands reach, and whether each credential has a value. */
export const network = (config: HaftConfig): Effect.Effect<Finding> =>
  Effect.sync(() => {
    const subject = "Network"
    if (config.network === undefined) {
      return { subject, state: "ok", found: "no policy: commands have no network, fetch_url asks about every host" }
    }
    const { allow, deny, ask, credentials } = networkConfig.parse(config.network)
    const lists = [
      `allows ${allow.length === 0 ? "no host" : allow.join(", ")}`,
      ...(deny.length === 0 ? [] : [`denies ${deny.join(", ")}`]),
      ask ? "asks about others" : "refuses others",
      ...credentials.map(({ variable, hosts }) => `brokers ${variable} for ${hosts.join(", ")}`)
    ]
    const found = lists.join("; ")
    const [problem] = credentials.flatMap((credential) => problemWith(credential, rootOf(config)) ?? [])
    if (problem !== undefined) {
      const mend = `Commands with network are refused until this is mended: ${problem}.`
      return { subject, state: "missing", found, mend }
    }
    const reason = config.sandbox === undefined ? undefined : noNetworkIn[config.sandbox]
    if (reason !== undefined) return { subject, state: "limited", found, mend: reason }
    return { subject, state: "ok", found }
  })

const problemWith = (credential: Parameters<typeof readSecret>[0], root: string): string | undefined => {
  try {
    readSecret(credential, [root])
    return undefined
  } catch (cause) {
    return reasonOf(cause)
  }
}
