import type { JournalEvent } from "../wire.ts"

/** Connections of calls to one host and port, and those that were refused. */
export interface HostConnections {
  readonly host: string
  readonly port: number
  readonly opened: number
  /** Opened and not closed yet. */
  readonly open: number
  readonly refused: number
  readonly bytesSent: number
  readonly bytesReceived: number
  /** Entries of the policy, rules and persons that allowed them. */
  readonly allowedBy: ReadonlyArray<string>
  /** Why others were refused. */
  readonly reasons: ReadonlyArray<string>
}

/** Events of connections that a call keeps; the record on the server has all. */
const mostEvents = 1000

/** True for an event about a connection. */
export const isConnectionEvent = ({ type }: JournalEvent): boolean => type.startsWith("connection_")

/** Adds an event to those of a call. The same event may come twice. */
export const withConnection = (
  events: ReadonlyArray<JournalEvent> = [],
  event: JournalEvent
): ReadonlyArray<JournalEvent> =>
  events.length >= mostEvents || events.some(({ seq }) => seq === event.seq) ? events : [...events, event]

/** Sums connections up by host and port: refused ones first, then those with most bytes. */
export const connectionsByHost = (events: ReadonlyArray<JournalEvent>): ReadonlyArray<HostConnections> =>
  [...Map.groupBy(events, ({ host, port }) => `${String(host)} ${String(port)}`).values()]
    .map(hostConnections)
    .toSorted(
      (one, other) =>
        Math.sign(other.refused) - Math.sign(one.refused) ||
        other.bytesReceived + other.bytesSent - one.bytesReceived - one.bytesSent
    )

const hostConnections = (events: ReadonlyArray<JournalEvent>): HostConnections => {
  const of = (type: string) => events.filter((event) => event.type === type)
  const [opened, closed, refused] = [of("connection_opened"), of("connection_closed"), of("connection_refused")]
  return {
    host: (events[0]?.["host"] ?? "") as string,
    port: (events[0]?.["port"] ?? 0) as number,
    opened: opened.length,
    open: Math.max(0, opened.length - closed.length),
    // An event with `repeated` stands for refusals after the first.
    refused: sum(refused, ({ repeated }) => repeated ?? 1),
    bytesSent: sum(closed, ({ bytes_sent: bytes }) => bytes),
    bytesReceived: sum(closed, ({ bytes_received: bytes }) => bytes),
    allowedBy: [...new Set(opened.map(({ by }) => String(by)))],
    reasons: [...new Set(refused.map(({ reason }) => String(reason)))]
  }
}

const sum = (events: ReadonlyArray<JournalEvent>, figure: (event: JournalEvent) => unknown): number =>
  events.reduce((total, event) => total + (Number(figure(event)) || 0), 0)
