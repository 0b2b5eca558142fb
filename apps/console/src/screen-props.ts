import type { WorkspaceApi } from "./api.ts"
import type { CallLog } from "./calls/call-log.ts"
import type { News } from "./hooks/use-events.ts"
import type { Loaded } from "./hooks/use-load.ts"
import type { OpenRequest } from "./wire.ts"

/** Properties that every screen receives. */
export interface ScreenProps {
  readonly api: WorkspaceApi
  readonly workspace: string
  /** The dialects that callers may choose, the default first. */
  readonly dialects: ReadonlyArray<string>
  readonly run: string
  readonly item: string | undefined
  readonly log: CallLog
  readonly news: News
  readonly requests: ReadonlyArray<OpenRequest>
  /** True once `requests` is loaded: until then it is empty. */
  readonly requestsLoaded: Loaded<unknown>
  readonly reloadApprovals: () => void
  readonly hasShortcuts: boolean
}
