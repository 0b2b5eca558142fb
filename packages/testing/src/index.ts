export { type CaseHost, type ContractCase, differs, loadCases, playCase } from "./contract-cases.ts"
export { type SandboxTestLimits, type SandboxUnderTest, testSandbox } from "./test-sandbox.ts"
export { type ScriptedApprover, scriptedApprover } from "./scripted-approver.ts"
export { type Fixture, temporaryWorkspace, type TemporaryWorkspace } from "./temporary-workspace.ts"
