import type { JsonLimits } from "haft/internal"

import type { FlowLimits } from "./flow-control.ts"

/** How much a client may ask of the server before it is refused or dropped. */
export interface ServerLimits {
  /** Limits of a JSON body. */
  readonly body: JsonLimits
  readonly calls: FlowLimits
  readonly headerBytes: number
  /** How long a client may take to send the headers. */
  readonly headersMilliseconds: number
  /** How long a client may take to send the whole request. There is no limit for the answer. */
  readonly requestMilliseconds: number
  /** How long a client may read nothing of an answer that is waiting for it. */
  readonly stalledMilliseconds: number
  /** Connections at once. Beyond it, those that never sent a request are closed first, then those that wait for one. */
  readonly connections: number
  /** How long running calls may go on when the server stops. */
  readonly graceMilliseconds: number
}

export const standardLimits: ServerLimits = {
  body: { bytes: 16 * 1024 * 1024, values: 100_000, depth: 64 },
  calls: { perClient: 128, total: 512 },
  headerBytes: 16 * 1024,
  headersMilliseconds: 10_000,
  requestMilliseconds: 30_000,
  stalledMilliseconds: 60_000,
  connections: 1_024,
  graceMilliseconds: 10_000
}
