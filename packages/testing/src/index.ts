export { type CaseHost, type ContractCase, differs, loadCases, playCase } from "./contract-cases.ts"
export { type ScriptedApprover, scriptedApprover } from "./scripted-approver.ts"
export { type Fixture, temporaryWorkspace, type TemporaryWorkspace } from "./temporary-workspace.ts"
