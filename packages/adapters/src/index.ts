export {
  type AnthropicTool,
  type ExportFormat,
  exportFormats,
  exportTools,
  type OpenAIFunction
} from "./export-tools.ts"
export { lintTool, type SchemaProblem, type SchemaReader, schemaReaders } from "./lint-schema.ts"
export { type LegalNames, legalNames } from "./names.ts"
export { strictSchema } from "./strict-schema.ts"
