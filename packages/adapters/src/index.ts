export {
  type AnthropicTool,
  type ExportFormat,
  exportFormats,
  exportTools,
  type OpenAIFunction
} from "./tool-list/export-tools.ts"
export { lintTool, type SchemaProblem, type SchemaReader, schemaReaders } from "./schemas/lint-schema.ts"
export { type LegalNames, legalNames } from "./tool-list/names.ts"
export { strictSchema } from "./schemas/strict-schema.ts"
