export { policyApprover, type PolicyApproverOptions } from "./approver.ts"
export { Asker, type Question } from "./asker.ts"
export { askCallback, askCallerOr, askNobody } from "./askers/callback.ts"
export {
  ApprovalGate,
  type ApprovalGateService,
  askThroughGate,
  type GateChange,
  type GateOutcome,
  GateResponse,
  type OpenRequest
} from "./askers/gate.ts"
export { askInTerminal, type TerminalOptions } from "./askers/terminal.ts"
export { describeRequest, printRequest, promptOf, type RequestDescription } from "./describe-request.ts"
export { type Fit, InvalidExpression } from "./linear-expression.ts"
export { type ApprovalMode, decide, type PolicySettings } from "./policy.ts"
export { bindingOf, rememberedRule } from "./remember.ts"
export { Rule, type RuleExample, RuleFile } from "./rule.ts"
export { RuleStore, type RuleStoreService, stateRules } from "./rule-store.ts"
export { type RuleMatch, type RuleSet, RulesUnreadable } from "./rule-set.ts"
export { compileRules, parseRules, printRules } from "./rules.ts"
export { type ReadCommand, readCommand, runsOthers } from "./shell-words.ts"
export { type SimulatedCall, simulate, type Simulation, type SimulationOptions } from "./simulate.ts"
export { stableJson, UnreadableValue } from "./stable-json.ts"
