export { type OpenAIOptions, type OpenAITools, openaiTools } from "./functions.ts"
export {
  type LocalToolCall,
  type LocalToolOptions,
  type LocalToolOutput,
  type OpenAILocalTools,
  openaiLocalTools,
  patchGrammar,
  type ToolGrammar
} from "./local-tools.ts"
