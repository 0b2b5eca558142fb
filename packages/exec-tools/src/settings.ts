import * as Context from "effect/Context"
import * as z from "zod"

const milliseconds = z.number().int().min(1).max(2_147_483_647)

/** Settings of a host for commands, which no call can override. */
export const execConfig = z
  .strictObject({
    defaultTimeoutMs: z.number().int().min(1).default(300_000).describe("For calls that name no time-out"),
    overlay: z
      .enum(["auto", "always", "never"])
      .default("auto")
      .describe(
        "Whether commands and code run on an overlay of the workspace, so that what they change is judged and committed as one change: where the machine can, always (refused where it can't), or never"
      ),
    approveEffects: z
      .boolean()
      .default(false)
      .describe("Run a command without the network first, on an overlay, and ask about what it changed"),
    maxShells: z.number().int().min(1).max(256).default(16).describe("Persistent shells open at once"),
    shellIdleMs: milliseconds.default(1_800_000).describe("A persistent shell that is unused for so long is ended"),
    maxProcesses: z.number().int().min(1).max(1024).default(32).describe("Background processes, ended ones included"),
    maxLifetimeMs: milliseconds.default(28_800_000).describe("A background process is ended after this time"),
    keepEndedMs: milliseconds.default(600_000).describe("How long an ended background process can be read"),
    retainedBytes: z
      .number()
      .int()
      .min(1000)
      .max(67_108_864)
      .default(1_048_576)
      .describe("Bytes of output kept in memory for each background process"),
    artifactBytes: z
      .number()
      .int()
      .min(0)
      .default(64 * 1024 * 1024)
      .describe("What is kept of each output stream as a file")
  })
  .prefault({})

/** The configuration of this plugin, and what it remembers between calls. */
export class ExecSettings extends Context.Service<ExecSettings, z.output<typeof execConfig>>()(
  "@haft/exec-tools/ExecSettings"
) {}
