export { fileState } from "./file-state.ts"
export { stateDirectory } from "./state-directory.ts"
export { nodeWorkspace, type NodeWorkspaceOptions } from "./workspace.ts"
