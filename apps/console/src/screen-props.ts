import type { WorkspaceApi } from "./api.ts"
import type { CallLog } from "./calls/call-log.ts"
import type { Inbox } from "./events/inbox.ts"
import type { News } from "./hooks/use-events.ts"
import type { Me, WorkspaceName } from "./wire.ts"

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
  /** Requests of all workspaces that wait for a person. */
  readonly inbox: Inbox
  readonly workspaces: ReadonlyArray<WorkspaceName>
  readonly hasShortcuts: boolean
  readonly me: Me
}
