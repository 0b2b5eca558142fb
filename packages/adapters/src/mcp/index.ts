export { type McpFetchHandler, mcpFetchHandler } from "./http.ts"
export { type McpOptions, mcpServer, type McpServerFactory } from "./server.ts"
export { type McpStdio, serveMcpOnStdio } from "./stdio.ts"
