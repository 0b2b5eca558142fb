export { DatabaseError, openDatabase } from "./storage/database.ts"
export { joinCluster, type Member, type MemberOptions } from "./members/member.ts"
export { type MemberEvent, type Opened, Unavailable } from "./members/owned-workspaces.ts"
export {
  type ForwardedAnswer,
  type ForwardedRequest,
  ForwardError,
  type MemberTls,
  memberTraffic,
  type MemberTraffic
} from "./members/member-traffic.ts"
export {
  type ClusterStatus,
  type MemberStatus,
  membership,
  type Membership,
  type WorkspaceStatus
} from "./members/membership.ts"
export type { WorkspaceRoute } from "./members/routing.ts"
export { migrate, SchemaError } from "./storage/migrations.ts"
export type { Retention } from "./storage/retention.ts"
export { stateDocuments } from "./storage/state-documents.ts"
export type { WorkspaceCopy } from "./copy/workspace-copy.ts"
