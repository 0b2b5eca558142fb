export type { ServerLimits } from "./limits.ts"
export { type RunningServer, serveHaft, type ServeOptions } from "./serve.ts"
