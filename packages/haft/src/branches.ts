export type { BranchHost } from "./branches/branch-host.ts"
export {
  type BranchDiff,
  type Branches,
  type BranchInfo,
  type MergeOptions,
  openBranches
} from "./branches/branches.ts"
