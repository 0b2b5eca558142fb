import type { AnswerPolicy, ApprovalMode } from "@haft/approval"
import {
  type Artifacts,
  type ConfiguredPlugin,
  type Dialect,
  networkConfig,
  type NetworkConfig,
  type Plugin,
  type Processes,
  type Profile,
  profiles,
  type RoadServices,
  type Sandbox,
  type StateFiles
} from "@haft/core"
import { type OnPluginError, plainIssues } from "@haft/core/internal"
import type { ContainerOptions } from "@haft/node"
import * as z from "zod"

import { type ClusterConfig, clusterShape } from "../cluster/cluster-config.ts"
import { type DialectName, dialectNames } from "../host/dialects.ts"
import { type PackageChoice, packageNames } from "../host/packages.ts"
import { type ServerConfig, serverShape } from "./server-config.ts"

/** Services that a standard host lends to plugins. */
export type StandardServices = RoadServices | Artifacts | Processes | Sandbox | StateFiles

/**
 * A plugin: as `use(plugin, config)` gives it, as its package exports it, or by the package's name, which is how a
 * JSON file writes it.
 */
export type PluginEntry =
  | ConfiguredPlugin<StandardServices>
  | Plugin<StandardServices, undefined>
  | string
  | { readonly package: string; readonly config?: unknown }

/** The answer to calls that need approval: a person's, always yes, always no. */
export const answerPolicies = ["ask", "all", "none"] as const satisfies ReadonlyArray<AnswerPolicy>

/** As `approvalModes` of @haft/approval, which is not loaded for it. */
export const modeNames = ["plan", "ask", "accept-edits", "auto"] as const satisfies ReadonlyArray<ApprovalMode>

/** An object of settings. Unknown keys are refused, so that a misspelt setting is noticed. */
const settings = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `there is no setting ${issue.keys.join(", ")}; there are ${Object.keys(shape).join(", ")}`
        : undefined
  })

const ApprovalOptions = settings({
  timeoutMs: z
    .number()
    .int()
    .min(1)
    .max(86_400_000)
    .optional()
    .describe("How long a question waits for its answer, then it is a no; five minutes by default, thirty on a server"),
  alsoAsk: z
    .array(z.enum(["read_only", "safe_write", "dangerous"]))
    .optional()
    .describe("Risks that are asked about even where the contract does not, and in every mode"),
  deletedFiles: z
    .number()
    .int()
    .min(0)
    .optional()
    .describe("Files that one call may delete without a question in the modes accept-edits and auto; 10 by default"),
  askClient: z
    .boolean()
    .optional()
    .describe(
      "For `haft serve`: asks an MCP client that can ask its user, and trusts its answer; by default only an approver answers"
    )
})
export type ApprovalOptions = Readonly<z.output<typeof ApprovalOptions>>

export const sandboxNames = ["auto", "bubblewrap", "unshare", "docker", "seatbelt", "none"] as const
export type SandboxName = (typeof sandboxNames)[number]

/** One of several directories that a host works in. */
export interface RootConfig {
  /** The first segment of its paths: letters, digits, `.`, `-` and `_`. */
  readonly name: string
  /** In a file it is relative to the file. */
  readonly path: string
  /** `read` refuses every change below it; `write` by default. */
  readonly access?: "read" | "write"
}

/** How much of what calls leave behind is kept, and how long. */
export interface ArtifactLimits {
  /** Days that artifacts of an ended run are kept, 30 by default. Diffs and the audit log stay. */
  readonly keepDays?: number
  /** Bytes of one artifact at most; 256 MiB by default. */
  readonly maxBytes?: number
  /** Bytes of all artifacts of a run at most, 1 GiB by default; the oldest are removed first. */
  readonly runBytes?: number
}

/** Everything that can be said about a host. Nothing has to be. */
export interface HaftConfig {
  /** The directory to work in; the current one by default. In a file it is relative to the file. */
  readonly root?: string
  /** Several directories to work in, instead of `root`: the first segment of every path is the name of one. */
  readonly roots?: ReadonlyArray<RootConfig>
  /** The contract that is spoken; `haft` by default. */
  readonly dialect?: DialectName | Dialect
  /** Further dialects that callers of `haft serve` may choose; none by default. */
  readonly alsoDialects?: ReadonlyArray<DialectName>
  /**
   * Which of haft's own tools models are shown at first: `minimal`, `coding` (the default) or `all`. The others can be
   * called too, and `find_tools` finds them. It saves context and forbids nothing.
   */
  readonly profile?: Profile
  /** Which of haft's own tool packages to use, and how; all by default. */
  readonly packages?: PackageChoice
  readonly plugins?: ReadonlyArray<PluginEntry>
  /** `refuse` by default: no host with a plugin that can't be used. `skip` starts without it, and says so in the log. */
  readonly onPluginError?: OnPluginError
  /**
   * How much runs without a question: `plan` (only reads), `ask` (as the contract says, the default), `accept-edits`
   * (undoable changes of files), `auto` (also commands that can be undone). Rules and protected paths hold in each.
   */
  readonly mode?: ApprovalMode
  /** The answer to calls that need approval; `ask` by default. Rules come first. */
  readonly approval?: AnswerPolicy
  /** How long a question waits, what else is asked about, and who is asked. */
  readonly approvalOptions?: ApprovalOptions
  /** `auto` by default: the strongest that works here, and no commands where none does. */
  readonly sandbox?: SandboxName
  /** Limits of commands in the sandbox: visible paths and resources. */
  readonly sandboxOptions?: ContainerOptions
  /** Hosts that commands, code and terminals may reach. Without it they have no network. */
  readonly network?: NetworkConfig
  /** Where records, rules and history are kept, never inside the root. A directory of the user's by default. */
  readonly state?: string
  /** Globs of files whose content no tool and no command may read, beyond the default ones; `!` before one excepts. */
  readonly secretPaths?: ReadonlyArray<string>
  /** True if links inside the workspace are followed; the dialect decides by default. */
  readonly symlinks?: "inside" | "deny"
  /** Bytes of a reply at most, 512 KiB by default; what is beyond them becomes an artifact that the reply names. */
  readonly replyBytes?: number
  /** Limits for what calls leave behind: output of commands, long replies, recordings. */
  readonly artifacts?: ArtifactLimits
  /** Replaces passwords, keys and tokens in replies, not only in the audit log; false by default. */
  readonly redactReplies?: boolean
  /** Makes `haft serve` a member of a cluster, see {@link ClusterConfig}. */
  readonly cluster?: ClusterConfig
  /** How people reach `haft serve`, see {@link ServerConfig}. */
  readonly server?: ServerConfig
  /** More workspaces for `haft serve`, by name. They inherit nothing from this one. */
  readonly workspaces?: Readonly<Record<string, WorkspaceConfig>>
}

/** A workspace beside the one called default. */
export type WorkspaceConfig = Omit<HaftConfig, "workspaces" | "cluster" | "server">

/** The identity, with the type of a configuration: the default export of `haft.config.ts`. */
export const defineConfig = (config: HaftConfig): HaftConfig => config

/** Problem of a configuration, with its place. */
export class ConfigError extends Error {
  readonly _tag = "ConfigError"
  override readonly name = "ConfigError"
  /** The settings that the message names, for a program whose users set them in another way. */
  readonly details?: { readonly settings: ReadonlyArray<string> }

  constructor(
    message: string,
    { settings, cause }: { readonly settings?: ReadonlyArray<string>; readonly cause?: unknown } = {}
  ) {
    super(message, cause === undefined ? {} : { cause })
    if (settings !== undefined) this.details = { settings }
  }
}

/** Checks what a file holds, or a program hands over. */
export const checkConfig = (value: unknown, where = "what this host was given"): HaftConfig => {
  const checked = configShape().safeParse(value)
  if (checked.success) return checked.data as HaftConfig
  const problems = plainIssues(checked.error).map((issue) =>
    issue.path.length === 0 ? wordsOf(issue) : `${issue.path.join(".")}: ${wordsOf(issue)}`
  )
  throw new ConfigError(`${where} is not a configuration of haft: ${problems.join("; ")}`)
}

// For a key of a record that is wrong, zod's own message does not say why; the issues inside it do.
const wordsOf = (issue: z.core.$ZodIssue): string =>
  issue.code === "invalid_key" ? issue.issues.map(({ message }) => message).join(", ") : issue.message

const isPlugin = (value: unknown): boolean => typeof value === "object" && value !== null && "~haft/Plugin" in value
const isDialect = (value: unknown): boolean => typeof value === "object" && value !== null && "errorNames" in value

// A function, because making the schema takes time, and most calls have no configuration to check.
const workspaceShape = () =>
  settings({
    root: z.string().min(1).optional().describe("The directory to work in; the current one by default"),
    roots: z
      .array(
        z.strictObject({
          name: z.string().min(1).describe("The first segment of its paths"),
          path: z.string().min(1).describe("The directory"),
          access: z
            .enum(["read", "write"])
            .optional()
            .describe("`read` refuses every change below it; `write` by default")
        })
      )
      .min(1)
      .optional()
      .describe("Several directories to work in, instead of `root`; commands start in the first"),
    dialect: z
      .union([z.enum(dialectNames), z.custom(isDialect, "a dialect made by defineDialect")])
      .optional()
      .describe("The contract that is spoken, by name or as a value; `haft` by default"),
    alsoDialects: z
      .array(z.enum(dialectNames))
      .optional()
      .describe("Further dialects that callers of `haft serve` may choose; none by default, any other is refused"),
    profile: z
      .enum(profiles)
      .optional()
      .describe(
        "Tools that models are shown at first: `minimal`, `coding`, the default, or `all`. The others can be called too, and `find_tools` finds them"
      ),
    packages: z
      .union([
        z.array(z.enum(packageNames)),
        z.partialRecord(z.enum(packageNames), z.union([z.literal(false), z.looseObject({})]))
      ])
      .optional()
      .describe("Which of haft's own tool packages to use: a list, or their configurations by name; all by default"),
    plugins: z
      .array(
        z.union(
          [
            z.string().min(1),
            z.custom(isPlugin),
            z.strictObject({ package: z.string().min(1), config: z.unknown().optional() })
          ],
          "expected the name of a package or a path, { package, config }, or a plugin made by definePlugin"
        )
      )
      .optional()
      .describe("Plugins: as values, by the name of a package or file, or by name with a configuration"),
    onPluginError: z
      .enum(["refuse", "skip"])
      .optional()
      .describe("A plugin that can't be used: `refuse` the host, the default, or `skip` the plugin and say so"),
    mode: z
      .enum(modeNames)
      .optional()
      .describe(
        "How much runs without a question: `plan` only reads, `ask`, the default, as the contract says, `accept-edits` undoable changes of files, `auto` also commands that can be undone. Rules and protected paths hold in each"
      ),
    approval: z
      .enum(answerPolicies)
      .optional()
      .describe(
        "Who answers where there is a question: `ask`, the default, `all` is yes, `none` is no. Rules come first"
      ),
    approvalOptions: ApprovalOptions.optional().describe(
      "How long a question waits, what else is asked about, and who is asked"
    ),
    sandbox: z
      .enum(sandboxNames)
      .optional()
      .describe("What holds commands back; `auto`, the default, takes the strongest that works here"),
    sandboxOptions: settings({
      readOnlyPaths: z.array(z.string()).optional().describe("More that commands may read"),
      writablePaths: z.array(z.string()).optional().describe("More that commands may change"),
      environment: z.array(z.string()).optional().describe("Names of variables that are passed on"),
      image: z.string().optional().describe("The image, where the sandbox is a container"),
      engine: z
        .enum(["docker", "podman"])
        .optional()
        .describe("What runs the container; the first of these that is installed by default"),
      processors: z.number().min(0.01).optional().describe("Processors that a container may keep busy"),
      limits: settings({
        processes: z.number().int().min(1).optional().describe("Processes at the same time"),
        memoryBytes: z.number().int().min(1).optional().describe("Memory of all of them together"),
        fileSizeBytes: z.number().int().min(1).optional().describe("Size of one file"),
        openFiles: z.number().int().min(1).optional().describe("Open files of one process"),
        cpuSeconds: z.number().int().min(1).optional().describe("Processor time of one process"),
        temporaryBytes: z.number().int().min(1).optional().describe("Size of /tmp and /dev/shm together")
      })
        .optional()
        .describe("What commands may use up")
    })
      .optional()
      .describe("What commands may see and use up in the sandbox"),
    network: settings(networkConfig.shape)
      .optional()
      .describe("Hosts that commands, code and terminals may reach; without it they have no network"),
    state: z
      .string()
      .min(1)
      .optional()
      .describe(
        "Where records, rules and history are kept, never inside the root; a directory of the user's by default"
      ),
    secretPaths: z
      .array(
        z.string().regex(/^!?(?!!)(?!.*\.\.(?:\/|$))[^\0]+$/u, "expected a glob such as config/*.key, or !.env.test")
      )
      .optional()
      .describe(
        "Globs of files whose content no tool and no command may read, beyond the default ones; `!` before one excepts"
      ),
    symlinks: z
      .enum(["inside", "deny"])
      .optional()
      .describe("Whether links inside the workspace are followed; the dialect says so by default"),
    replyBytes: z
      .number()
      .int()
      .min(4_096)
      .optional()
      .describe("Bytes of a reply at most, 512 KiB by default; the rest becomes an artifact that the reply names"),
    artifacts: z
      .strictObject({
        keepDays: z.number().min(0).optional().describe("Days that artifacts of an ended run are kept; 30 by default"),
        maxBytes: z.number().int().min(0).optional().describe("Bytes of one artifact at most; 256 MiB by default"),
        runBytes: z
          .number()
          .int()
          .min(0)
          .optional()
          .describe("Bytes of all artifacts of a run at most, 1 GiB by default; the oldest are removed first")
      })
      .optional()
      .describe("Limits for what calls leave behind: output of commands, long replies, recordings"),
    redactReplies: z
      .boolean()
      .optional()
      .describe("Replaces passwords, keys and tokens in replies, not only in the audit log; false by default")
  })

const workspaceName = () =>
  z
    .string()
    .regex(/^[a-z\d][\w-]{0,63}$/i, "a name is made of letters, digits, - and _")
    .refine((name) => name !== "default", "default is what the other settings describe")

/** The schema of a configuration file. The reference in the docs is made from it. */
export const configShape = () => {
  const workspace = workspaceShape()
  return settings({
    ...workspace.shape,
    cluster: clusterShape().optional().describe("Makes `haft serve` a member of a cluster"),
    server: serverShape().optional().describe("How people reach `haft serve`, are told of requests, and sign in"),
    workspaces: z
      .record(workspaceName(), workspace)
      .optional()
      .describe("More workspaces for `haft serve`, by name, each with the settings above")
  })
}
