export { requestHandler, type ToolRequest, type ToolResult, type ToolResultError } from "./agentbench.ts"
export {
  type ApprovalgateError,
  type ApprovalgateRequest,
  type ApprovalgateResponse,
  type ApprovalgateResult,
  type ApprovalgateTool,
  toolRegistry,
  ToolRegistry
} from "./approvalgate.ts"
export { type UniversalTool, type UniversalToolError, type UniversalToolResult, universalTools } from "./cliagent.ts"
export { type ToolRegistration, toolRegistrations, ToolRouter } from "./toolrouter.ts"
