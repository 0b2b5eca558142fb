// For the packages of this repository. Nothing here is kept stable between versions.

export { branchState } from "./branches/branch-file.ts"
export { type BranchProcess, startOnBranch } from "./branches/branch-process.ts"
export { type BranchProgram, runOnBranch } from "./branches/branch-session.ts"
export type { BranchEffects, ConflictChoice } from "./branches/branch-effects.ts"
export { type BranchError, branchesOf, type NodeBranches } from "./branches/branches.ts"
export type { Branch } from "./branches/branch-store.ts"
export { copyWorkspace } from "./workspace/copy-workspace.ts"
export { type JournalPages, journalPages } from "./records/audit-log-pages.ts"
export { restoreLargeContents } from "./records/large-contents.ts"
export { readNamedFile, readWhole } from "./state/named-file.ts"
export { type OpenArtifact, openArtifact } from "./records/open-artifact.ts"
export { followJournal, followRuns, listRuns, type RunFile } from "./records/runs.ts"
export { makeScratchDirectory, type ScratchDirectory } from "./state/scratch-directory.ts"
export { readSite } from "./state/site-files.ts"
export { liesWithin } from "./workspace/paths/is-inside.ts"
export { readSecret } from "./network/broker/read-secret.ts"
export { hostProgram } from "./process/host-program.ts"
export { holdWorkspace } from "./workspace/paths/open-roots.ts"
export { nearestRoot } from "./state/nearest-root.ts"
export { defaultStateDirectory, stateDirectory, stateHome, workspaceDirectory } from "./state/state-directory.ts"
export {
  allStateUsage,
  hasState,
  type PrunedRuns,
  pruneState,
  removeState,
  stateUsage,
  type StateUsage
} from "./state/state-usage.ts"
