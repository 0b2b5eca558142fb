import { openHost as openLayer, type OpenHost } from "@haft/core/promise"

import type { HaftConfig } from "./config/config.ts"
import { standardHost, type StandardHostOptions } from "./host/standard-host.ts"

/** Opens a standard host. Call `dispose` when done, or write `await using host = await openHost(…)`. */
export const openHost = (config: HaftConfig = {}, options: StandardHostOptions = {}): Promise<OpenHost> =>
  openLayer(standardHost(config, options))

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
  definePlugin,
  defineService,
  defineTool,
  type ErrorCode,
  isPluginError,
  isToolError,
  type LentService,
  type OpenHost,
  type Plugin,
  type PluginError,
  type PromiseCallOptions,
  type Reply,
  type Tool,
  type ToolDescription,
  type ToolError,
  toolError,
  use
} from "@haft/core/promise"
export { type Asker, askInTerminal } from "@haft/approval"
export { ConfigError, defineConfig, type HaftConfig } from "./config/config.ts"
export { findConfig, type FindConfigOptions, type FoundConfig } from "./config/find-config.ts"
export type { StandardHostOptions } from "./host/standard-host.ts"
