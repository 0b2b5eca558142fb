export { openHost, type StandardHost, type TypedConfig } from "./host/typed-host.ts"
export { type LateHost, openHostLater } from "./host/late-host.ts"
export {
  type Answer,
  type ApprovalQuestion,
  type AsyncPluginDefinition,
  type AsyncToolContext,
  type AsyncToolDefinition,
  type AsyncWorkspace,
  type CallPreview,
  type ConfiguredPlugin,
  type ContentBlock,
  definePlugin,
  defineService,
  defineTool,
  type ErrorCode,
  HostClosedError,
  isPluginError,
  isToolError,
  type LentService,
  type OpenHost,
  type Plugin,
  type PluginError,
  type PromiseCallOptions,
  type Reply,
  type ReplyOf,
  type Tool,
  type ToolDescription,
  type ToolError,
  toolError,
  type ToolTypes,
  type TypedHost,
  use
} from "@haft/core/promise"
export { type Asker, askInTerminal } from "@haft/approval"
export { ConfigError, defineConfig, type HaftConfig } from "./config/config.ts"
export { type FindConfigOptions, findRoot, type FoundConfig } from "./config/find-config.ts"
export type { StandardHostOptions } from "./host/standard-host.ts"
export {
  examine,
  findConfig,
  type OpenBranches,
  openBranches,
  openRules,
  openTelemetry,
  openWorkspace,
  readRun,
  replayRun
} from "./promise-api.ts"
export type { BranchDiff, BranchInfo } from "./branches/branches.ts"
export type { OpenBranchHost, PromiseBranches, PromiseMergeOptions } from "./branches/promise-branches.ts"
export type { Telemetry } from "./telemetry/telemetry.ts"
export type { OpenWorkspace } from "./workspace/open-workspace.ts"
export type { PromiseRules } from "./workspace/promise-rules.ts"
