export type { ServerLimits } from "./http/limits.ts"
export { type RunningServer, serveHaft, type ServeOptions } from "./serve.ts"
