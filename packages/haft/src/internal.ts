// For the apps in this repository. Nothing here is kept stable between versions.

export {
  type AnswerPolicy,
  type ApprovalMode,
  type Asker,
  askInTerminal,
  GateResponse,
  importRules,
  type ImportSource,
  importSources,
  listedRequest,
  type OpenRequest,
  Rule,
  ruleAdvice,
  type Simulation
} from "@haft/approval"
export { type ExportFormat, exportFormats, exportTools } from "@haft/adapters"
export type {
  Answer,
  ApprovalQuestion,
  CallPreview,
  Facts,
  JournalEvent,
  JsonSchema,
  Party,
  PluginError,
  Profile,
  Reply,
  ToolDescription,
  ToolError
} from "@haft/core"
export { HostClosedError } from "@haft/core/promise"
export type { FileDifference } from "@haft/core/internal"
export { definePlugin, defineTool, Host, isPluginError, isToolError, toolError, use, visibleText } from "@haft/core"
export {
  type EventFilter,
  eventFilter,
  type JsonExcess,
  type JsonLimits,
  JsonScanner,
  plainIssues,
  printEvent,
  type ReplayedCall
} from "@haft/core/internal"
export {
  answerPolicies,
  type ApprovalOptions,
  ConfigError,
  defineConfig,
  type HaftConfig,
  modeNames,
  type PluginEntry,
  type SandboxName,
  sandboxNames,
  type StandardServices,
  type WorkspaceConfig
} from "./config/config.ts"
export type { ServerConfig, SignInConfig, SignInGrant, WebhookConfig } from "./config/server-config.ts"
export {
  type Bump,
  checkContract,
  type ContractCheck,
  lockContract,
  showContractCheck
} from "./contract/check-contract.ts"
export { type ContractChange, type Weight } from "./contract/compare-contracts.ts"
export {
  contractNames,
  type DialectName,
  dialectNames,
  loadDialect,
  nameOfDialect,
  packagedNames
} from "./host/dialects.ts"
export type { ExamineOptions, Finding } from "./doctor.ts"
export type { FindConfigOptions, FoundConfig } from "./config/find-config.ts"
export { type PackageChoice, type PackageName, packageNames } from "./host/packages.ts"
export { makeScratchDirectory, readNamedFile, readSite, readWhole, type ScratchDirectory } from "@haft/node/internal"
export { listPlugins, newPlugin, type PluginList, type PluginSummary, writePluginTable } from "./plugins/plugins.ts"
export { type NewPlugin, type PluginStyle, pluginStyles } from "./plugins/plugin-files.ts"
export { openQuarantine, type OpenQuarantine } from "./workspace/quarantine.ts"
export { pruneRuns, removeWorkspaceState, stateUsage } from "./workspace/state.ts"
export { allStateUsage, type PrunedRuns, type StateUsage } from "@haft/node/internal"
export { pathsBeside } from "./workspace/names-beside.ts"
export { pathsFrom } from "./workspace/paths-from.ts"
export type { Replay } from "./workspace/replay.ts"
export { DialectNotAllowed, type OpenWorkspace } from "./workspace/open-workspace.ts"
export type { Telemetry } from "./telemetry/telemetry.ts"
export type { OpenTerminals, TerminalOutput } from "./workspace/open-terminals.ts"
export {
  examine,
  findConfig,
  followRun,
  type OpenBranches,
  openBranches,
  openRules,
  openTelemetry,
  openWorkspace,
  readRun,
  replayRun,
  runsOf,
  trustConfig,
  verifyRun
} from "./promise-api.ts"
export type { PromiseRules } from "./workspace/promise-rules.ts"
export { eventSummary, summaryPage } from "./record/event-summary.ts"
export { eventsOfCall, type FoundCall, type FoundCalls, type RecordQuery } from "./record/search-record.ts"
export type { RunningCall, RunningCalls } from "./workspace/running-calls.ts"
export { openSessions, type Sessions, sessionsInMemory, type StoredSession } from "./workspace/sessions.ts"
export { type ServerTokens, serverTokens } from "./workspace/server-tokens.ts"
export {
  makeToken,
  type NewToken,
  openTokens,
  requireStrongToken,
  type TokenInfo,
  type TokenRole,
  tokenRoles,
  type Tokens
} from "./workspace/tokens.ts"
export { makeHost, type StandardHostService, type TypedConfig } from "./host/typed-host.ts"
export { standardHost, type StandardHostOptions } from "./host/standard-host.ts"
