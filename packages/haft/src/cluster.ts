// Loaded by `haft serve --cluster` and by nothing else.

export { listenAt } from "./cluster/cluster-address.ts"
export { type ClusterAdministration, openAdministration } from "./cluster/administration.ts"
export { askMembers } from "./cluster/ask-members.ts"
export { notOwnerStatus, passOn, RequestOutcomeUnknown, type RequestToPass, serveHere } from "./cluster/gateway.ts"
export { type JoinedCluster, joinAs, type JoinOptions } from "./cluster/join.ts"
export { type ClusterStatus, type MemberEvent, Unavailable } from "@haft/cluster"
