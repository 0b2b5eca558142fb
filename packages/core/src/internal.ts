// For the packages of this repository. Nothing here is kept stable between versions.

export { spanOf, stepSpan } from "./pipeline/trace.ts"
export { pluginContract } from "./plugin/check-shape.ts"
export { type JsonExcess, type JsonLimits, JsonScanner } from "./schema/json-scanner.ts"
export { inputJsonSchema, outputJsonSchema } from "./schema/json-schema.ts"
export { plainIssues } from "./schema/describe-issues.ts"
export { compareFiles, type FileDifference, filesOf } from "./record/compare-files.ts"
export { printEvent } from "./record/print-event.ts"
export { type RecordedCall, recordedCalls } from "./record/recorded-calls.ts"
export { type ReplayedCall, replayCalls, type ReplayOptions, type ReplyDifference } from "./record/replay-calls.ts"
export { type EventFilter, eventFilter } from "./record/event-filter.ts"
export type { OnPluginError } from "./plugin/start-plugins.ts"
export {
  type ControlFile,
  controlFileAt,
  controlFiles,
  dependencyDirectories,
  isProtectedPath
} from "./control-files.ts"
export { type SecretPathMatcher, secretPathMatcher } from "./secret-paths.ts"
export { visibleJson } from "./text/visible-text.ts"
export { directoriesAbove } from "./text/directories-above.ts"
export { coreVersion } from "./plugin/version.ts"
export { canonicalHost, isWebPort, parseEndpoint, parseHostPattern, printEndpoint } from "./network/host-pattern.ts"
export { isAddress } from "./network/public-address.ts"
