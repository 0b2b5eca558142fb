export {
  approvalModes,
  type ApprovalMode,
  ConfigError,
  defineConfig,
  type HaftConfig,
  type PluginEntry,
  type SandboxName,
  sandboxNames,
  type StandardServices
} from "./config.ts"
export { type DialectName, dialectNames } from "./dialects.ts"
export { findConfig, type FindConfigOptions, type FoundConfig, trustConfig } from "./find-config.ts"
export { type PackageName, packageNames } from "./packages.ts"
export { standardHost } from "./standard-host.ts"
