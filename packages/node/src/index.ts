export { sqliteCodeIndex, type SqliteCodeIndexOptions } from "./code-index/code-index.ts"
export { fileArtifacts, type FileArtifactsOptions } from "./records/artifacts.ts"
export { copyWorkspace } from "./workspace/copy-workspace.ts"
export { fileState } from "./state/state-files.ts"
export { fileJournal, type FileJournalOptions } from "./records/audit-log.ts"
export { readJournal, type RecordedEvent, type Verification, verifyJournal } from "./records/audit-log-lines.ts"
export { type JournalPages, journalPages } from "./records/audit-log-pages.ts"
export { restoreLargeContents } from "./records/large-contents.ts"
export { readNamedFile, readWhole } from "./state/named-file.ts"
export { type OpenArtifact, openArtifact } from "./records/open-artifact.ts"
export { nodeProcesses } from "./process/processes.ts"
export { followJournal, followRuns, listRuns, type RunFile } from "./records/runs.ts"
export { autoSandbox } from "./sandbox/auto.ts"
export { bubblewrapSandbox } from "./sandbox/linux/bubblewrap.ts"
export { type ContainerOptions, containerSandbox } from "./sandbox/docker.ts"
export { type SandboxLimits, type SandboxOptions } from "./sandbox/limits.ts"
export { noSandbox } from "./sandbox/none.ts"
export { seatbeltSandbox } from "./sandbox/seatbelt.ts"
export { makeScratchDirectory, type ScratchDirectory } from "./state/scratch-directory.ts"
export { readSite } from "./state/site-files.ts"
export { liesWithin } from "./workspace/paths/is-inside.ts"
export { holdWorkspace } from "./workspace/paths/open-roots.ts"
export { nearestRoot } from "./state/nearest-root.ts"
export { defaultStateDirectory, stateDirectory, workspaceDirectory } from "./state/state-directory.ts"
export {
  allStateUsage,
  hasState,
  type PrunedRuns,
  pruneState,
  removeState,
  stateUsage,
  type StateUsage
} from "./state/state-usage.ts"
export { nodeWorkspace, type NodeWorkspaceOptions } from "./workspace/workspace.ts"
export { unshareSandbox } from "./sandbox/linux/unshare.ts"
