import { requireNetwork, type ToolError, type Touches } from "@haft/core"
import * as Effect from "effect/Effect"
import * as z from "zod"

/** A remote of the repository, by its name or as an https:// URL without credentials. */
export const remote = z
  .string()
  .max(2000)
  .regex(
    /^(?:https?:\/\/[^\s@\0]+|[A-Za-z0-9][\w./-]*)$/,
    "expected the name of a remote, or an https:// URL without credentials"
  )

/** A branch or tag on either side. A `+`, which forces, and a `:` are not part of a name. */
export const reference = z
  .string()
  .max(500)
  .regex(/^[^-+:\s\0~^?*[\\][^+:\s\0~^?*[\\]*$/, "expected the name of a branch or tag")

/** Touches of a call that talks to a remote. */
export const remoteTouches = (
  touches: Pick<Touches, "runs" | "writes">
): Effect.Effect<Touches, ToolError<"approval_denied">> =>
  Effect.as(requireNetwork(true), { reads: ["."], network: true, ...touches })

/** Run options that the tools for remotes share: network by the host's policy, a writable workspace, five minutes. */
export const online = { network: true, writes: true, timeoutMs: 300_000 } as const
