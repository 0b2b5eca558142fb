export { type ExportFormat, exportFormats, exportTools } from "@haft/adapters"
export type {
  Answer,
  ApprovalQuestion,
  CallPreview,
  Facts,
  JsonSchema,
  Reply,
  ToolDescription,
  ToolError
} from "@haft/core"
export { definePlugin, defineTool, Host, isToolError, toolError, use } from "@haft/core"
export {
  type ApprovalMode,
  approvalModes,
  ConfigError,
  defineConfig,
  type HaftConfig,
  type PluginEntry,
  type SandboxName,
  sandboxNames,
  type StandardServices
} from "./config.ts"
export { type DialectName, dialectNames } from "./dialects.ts"
export { examine, type Finding } from "./examine.ts"
export { findConfig, type FindConfigOptions, type FoundConfig, trustConfig } from "./find-config.ts"
export { type PackageChoice, type PackageName, packageNames } from "./packages.ts"
export { readNamedFile } from "@haft/node"
export { standardHost } from "./standard-host.ts"
