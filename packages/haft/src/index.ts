export {
  type Answer,
  type ApprovalQuestion,
  type CallPreview,
  definePlugin,
  defineTool,
  Host,
  isPluginError,
  isToolError,
  type PluginError,
  type Reply,
  type ToolDescription,
  type ToolError,
  toolError,
  use
} from "@haft/core"
export { ConfigError, defineConfig, type HaftConfig } from "./config/config.ts"
export { findConfig } from "./config/find-config.ts"
export { examine } from "./doctor.ts"
export { standardHost, type StandardHostOptions } from "./host/standard-host.ts"
export { makeHost } from "./host/typed-host.ts"
export { readRun } from "./workspace/record.ts"
export { replayRun } from "./workspace/replay.ts"
export { openRules, type Rules } from "./workspace/rules.ts"
