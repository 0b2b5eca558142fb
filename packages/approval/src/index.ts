export { type AgentControl, agentControl, type AgentState } from "./agent-control.ts"
export { policyApprover, type PolicyApproverOptions } from "./approver.ts"
export { Asker, type Question, type RuleOffer } from "./askers/asker.ts"
export { askCallback, askCallerOr, askNobody } from "./askers/callback.ts"
export {
  ApprovalGate,
  type ApprovalGateService,
  askThroughGate,
  type GateChange,
  type GateOutcome,
  GateResponse,
  type ListedRequest,
  listedRequest,
  type OpenRequest
} from "./askers/gate.ts"
export { askInTerminal, type TerminalOptions } from "./askers/terminal.ts"
export { describeRequest, printRequest, type RequestDescription } from "./askers/describe-request.ts"
export { type ApprovalMode, type ModeLimits, modeSwitch, type ModeSwitch } from "./modes.ts"
export { type AnswerPolicy, decide, type PolicySettings } from "./policy.ts"
export { importRules, type ImportSource, importSources } from "./import/import-rules.ts"
export type { ImportedRules, SkippedSetting } from "./import/imported-rules.ts"
export { Rule, type RuleExample } from "./rules/rule.ts"
export { ruleAdvice } from "./rules/rule-advice.ts"
export { RuleStore, type RuleStoreService, stateRules } from "./rules/rule-store.ts"
export { type RuleMatch, type RuleSet } from "./rules/rule-set.ts"
export { compileRules, parseRules } from "./rules/rules.ts"
export { type SimulatedCall, simulate, type Simulation, type SimulationOptions } from "./rules/simulate.ts"
