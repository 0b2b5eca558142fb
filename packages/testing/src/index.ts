export { type CaseHost, type ContractCase, loadCases, playCase } from "./contract-cases.ts"
export { differs } from "./differs.ts"
export { type DialectUnderTest, testDialect } from "./test-dialect.ts"
export { type SandboxTestLimits, type SandboxUnderTest } from "./test-sandbox/inside.ts"
export { type NetworkUnderTest, testNetwork } from "./test-network/test-network.ts"
export { testSandbox } from "./test-sandbox/test-sandbox.ts"
export { type ScriptedApprover, scriptedApprover } from "./scripted-approver.ts"
export { type Fixture, temporaryWorkspace, type TemporaryWorkspace } from "./temporary-workspace.ts"
export { testWorkspace, type WorkspaceUnderTest } from "./test-workspace.ts"
export {
  type PluginProblem,
  type PluginReport,
  type PluginRule,
  showReport,
  unusablePlugin
} from "./test-plugin/report.ts"
export { type ExampleCall, type PluginUnderTest, testPlugin } from "./test-plugin/test-plugin.ts"
export { sampleArguments } from "./test-plugin/sample-arguments.ts"
