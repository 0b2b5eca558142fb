export {
  anthropicClientTools,
  type ClientToolOptions,
  type ClientToolProperties,
  runnableTools
} from "./client-tools.ts"
export { type AnthropicTools, anthropicTools } from "./messages.ts"
