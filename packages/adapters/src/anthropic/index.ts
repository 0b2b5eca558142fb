export {
  anthropicClientTools,
  type ClientToolOptions,
  type ClientToolProperties,
  runnableTools
} from "./client-tools.ts"
export { type AnthropicOptions, type AnthropicTools, anthropicTools } from "./messages.ts"
