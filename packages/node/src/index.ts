export { sqliteCodeIndex, type SqliteCodeIndexOptions } from "./code-index/code-index.ts"
export {
  type QuarantinedFile,
  quarantinedFiles,
  removeQuarantined,
  restoreQuarantined
} from "./control-files/quarantined-files.ts"
export { fileArtifacts, type FileArtifactsOptions } from "./records/artifacts.ts"
export { fileState } from "./state/state-files.ts"
export { fileJournal, type FileJournalOptions } from "./records/audit-log.ts"
export { readJournal, type RecordedEvent, type Verification, verifyJournal } from "./records/audit-log-lines.ts"
export { NameResolver } from "./network/sandbox-networks.ts"
export { nodeProcesses } from "./process/processes.ts"
export { autoSandbox } from "./sandbox/auto.ts"
export { bubblewrapSandbox } from "./sandbox/linux/bubblewrap.ts"
export { type ContainerOptions, containerSandbox } from "./sandbox/container/container.ts"
export { type SandboxLimits, type SandboxOptions } from "./sandbox/limits.ts"
export { noSandbox } from "./sandbox/none.ts"
export { seatbeltSandbox } from "./sandbox/seatbelt.ts"
export { nodeWorkspace, type NodeWorkspaceOptions } from "./workspace/workspace.ts"
export { unshareSandbox } from "./sandbox/linux/unshare.ts"
