export { describeQuestion } from "./host/approver.ts"
export {
  type McpFetchHandler,
  mcpFetchHandler,
  type McpOptions,
  mcpServer,
  type McpServerFactory,
  type McpStdio,
  serveMcpOnStdio
} from "@haft/adapters/mcp"
