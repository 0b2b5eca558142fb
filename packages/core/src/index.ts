export { approveEffects, type Effects } from "./pipeline/approve-effects.ts"
export {
  commitEffects,
  type CommitFailure,
  type CommittedEffects,
  countsOf,
  diffOfEffects
} from "./pipeline/commit-effects.ts"
export {
  attachBlock,
  type Call,
  type ContentBlock,
  CurrentCall,
  type Party,
  type Progress,
  type Reply,
  reportProgress,
  type SymlinkPolicy,
  type ApprovedState
} from "./pipeline/call.ts"
export type { CallOptions, RoadCode, RoadServices } from "./pipeline/call-tool.ts"
export type { Shortened, ShortenedPart } from "./pipeline/reply-budget.ts"
export { type Clipped, clipText, HeadAndTail } from "./text/clip.ts"
export { OutputLog, type OutputSince } from "./text/output-log.ts"
export { countNewlines } from "./text/count-newlines.ts"
export {
  defineDialect,
  type Dialect,
  type DialectDefinition,
  type Failure,
  type FinishedCall,
  type Success
} from "./dialect.ts"
export {
  type CallPreview,
  Host,
  type HostOptions,
  type HostService,
  makeHost,
  type PluginHealth,
  type ToolDescription
} from "./host.ts"
export { findToolsName, type Profile, profiles, toolsInProfile } from "./profile.ts"
export { type JsonSchema } from "./schema/json-schema.ts"
export { type LineStep, lineSteps } from "./diff/line-steps.ts"
export { TimeSlices } from "./time-slices.ts"
export { diffOf } from "./diff/plan-diff.ts"
export { type RefusedHunk, refuseHunks } from "./services/refuse-hunks.ts"
export { type DiffHunk, diffHunks, type FileVersions, unifiedDiff } from "./diff/unified-diff.ts"
export { memoryWorkspace } from "./services/memory-workspace.ts"
export {
  type ConfiguredPlugin,
  definePlugin,
  type Plugin,
  type PluginDefinition,
  type TypesIn,
  use
} from "./plugin/plugin.ts"
export { isPluginError, PluginError, reasonOf } from "./plugin/plugin-error.ts"
export { isBlockedPort } from "./network/blocked-ports.ts"
export { isPublicAddress } from "./network/public-address.ts"
export { type Endpoint, type HostPattern, isLocalName } from "./network/host-pattern.ts"
export {
  type Admission,
  type Connection,
  type ConnectionEvent,
  ConnectionRefused,
  type Listed,
  Network,
  networkPolicy,
  type NetworkService,
  requireNetwork
} from "./network/network.ts"
export { type BrokeredCredential, networkConfig, type NetworkConfig } from "./network/network-config.ts"
export { type Program, type ProgramEnd, runProgram, type RunsPrograms } from "./services/run-program.ts"
export { redactText } from "./text/redact.ts"
export {
  type Answer,
  type ApprovalQuestion,
  type ApprovalRequest,
  Approver,
  type AskCaller,
  denyAll,
  type RememberOffer,
  type Remembering,
  rememberScopes,
  type Verdict,
  type VerdictBasis
} from "./services/approver.ts"
export type { ArtifactContent, ArtifactRange, ArtifactReader, HostArtifacts } from "./host-artifacts.ts"
export {
  artifactAddress,
  artifactLink,
  type ArtifactFile,
  type ArtifactInfo,
  Artifacts,
  type ArtifactWriter,
  memoryArtifacts,
  noArtifact,
  parseArtifactAddress,
  readingArtifacts,
  readsOf
} from "./services/artifacts.ts"
export {
  CodeIndex,
  type CodeIndexError,
  type CodeIndexService,
  type CodeIndexStatus,
  type CodeMatch,
  type CodeOutline,
  type CodeQuery,
  type CodeReference,
  type CodeScope,
  type CodeSymbol,
  type Counted,
  type SymbolQuery
} from "./services/code-index.ts"
export { Embedder, type EmbedderService } from "./services/embedder.ts"
export { CallLedger, type CallLedgerService, hasOutsideEffects } from "./services/call-ledger.ts"
export { Journal, type JournalEvent, memoryJournal } from "./services/journal.ts"
export {
  type Command,
  type ControlFileChange,
  type ProcessEnd,
  Processes,
  type ProcessMark,
  type ProcessTree,
  reportDescriptor,
  type RunErrorCode,
  type RunningProcess,
  type RunOptions
} from "./services/processes.ts"
export {
  type CommandEffects,
  type LeftOutPath,
  type Overlay,
  refuseCommands,
  Sandbox,
  type SandboxDescription,
  type SandboxRequest,
  type UnheldLimit,
  withoutOverlay
} from "./services/sandbox.ts"
export { memoryState, StateError, StateFiles, type StateFilesService } from "./services/state-files.ts"
export {
  type Change,
  type ChangedPath,
  type ChangePlan,
  commitChanges,
  type Content,
  type MoveOptions,
  netChanges,
  planChanges,
  type PlannedFile,
  type WriteOptions
} from "./services/change-plan.ts"
export {
  type CommitError,
  type ContainError,
  type DirectoryEntry,
  type FileInfo,
  type FileKind,
  type FileSnapshot,
  type GlobOptions,
  type GlobResult,
  type ListError,
  type LookError,
  pathOnDisk,
  type PlanError,
  type ReadEachError,
  type ReadError,
  type ScannedFile,
  type ScanOptions,
  type UndoPreview,
  type UndoReport,
  type UndoTarget,
  type WalkEntry,
  type WalkStep,
  Workspace,
  type WorkspaceRoot,
  type WorkspaceService
} from "./services/workspace.ts"
export {
  defineTool,
  type Executed,
  type PreparedCall,
  type Tool,
  type ToolDefinition,
  type ToolTypes,
  type TypesOf,
  type Wording
} from "./tool.ts"
export type { ReplyOf, ToolsIn, TypedHost, TypedHostService } from "./typed-call.ts"
export {
  type ErrorCode,
  errorCodes,
  isToolError,
  makeToolError,
  ToolError,
  toolError,
  type ToolErrorOptions,
  withMessage
} from "./tool-error.ts"
export { defaultSecretPaths, type SecretPath } from "./secret-paths.ts"
export { type Facts, type Risk, type Touches, withInput, withVariables, type WrittenPath } from "./touches.ts"
export { singleLine, visibleLines, visibleText } from "./text/visible-text.ts"
