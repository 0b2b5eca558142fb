export {
  type AnthropicTool,
  type ExportFormat,
  exportFormats,
  exportTools,
  type OpenAIFunction
} from "./export-tools.ts"
export { type LegalNames, legalNames } from "./names.ts"
