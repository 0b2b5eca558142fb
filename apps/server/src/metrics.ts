import type { FlowControl } from "./http/flow-control.ts"
import type { Workspaces } from "./workspaces.ts"

/** The server's metrics, in Prometheus' text format. */
export interface Metrics {
  readonly requestAnswered: (route: string, status: number, milliseconds: number) => void
  readonly callFinished: (
    labels: { readonly workspace: string; readonly tool: string; readonly status: string },
    seconds: number
  ) => void
  readonly connectionEnded: (workspace: string, outcome: "closed" | "refused") => void
  readonly approvalDecided: (workspace: string, decision: string) => void
  readonly webhookSent: (outcome: "delivered" | "failed") => void
  /** Counts what happens to the workspaces of a cluster's member, and how long opening them takes. */
  readonly clusterEvent: (event: "opened" | "closed" | "failed", seconds?: number) => void
  /** Registers a figure that is read whenever the metrics are. */
  readonly gauge: (name: string, help: string, read: ReadFigure) => void
  /** All figures. With `workspaces`, of those that belong to a workspace only theirs. */
  readonly text: (workspaces?: ReadonlyArray<string>) => string
}

type ReadFigure = (workspaces?: ReadonlyArray<string>) => number

const buckets = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300]

export const makeMetrics = (): Metrics => {
  const counters = new Map<string, Series<{ value: number }>>()
  const histograms = new Map<string, Series<Histogram>>()
  const gauges = new Map<string, { readonly help: string; readonly read: ReadFigure }>()

  const count = (name: string, labels: Labels): void => {
    seriesOf(counters, name, labels, () => ({ value: 0 })).value++
  }
  const observe = (name: string, labels: Labels, value: number): void => {
    const histogram = seriesOf(histograms, name, labels, () => ({ counts: buckets.map(() => 0), sum: 0, count: 0 }))
    for (const [index, bound] of buckets.entries())
      if (value <= bound) histogram.counts[index] = (histogram.counts[index] ?? 0) + 1
    histogram.sum += value
    histogram.count++
  }

  function* textLines(workspaces?: ReadonlyArray<string>): Iterable<string> {
    const isShown = ({ labels: { workspace } }: { readonly labels: Labels }): boolean =>
      workspace === undefined || workspaces === undefined || workspaces.includes(workspace)
    for (const [name, series] of counters) {
      yield `# TYPE ${name} counter`
      for (const { labels, value } of series.all.filter(isShown)) yield `${name}${braced(labelText(labels))} ${value}`
    }
    for (const [name, series] of histograms) {
      yield `# TYPE ${name} histogram`
      for (const { labels, ...histogram } of series.all.filter(isShown))
        yield* histogramLines(name, labelText(labels), histogram)
    }
    for (const [name, { help, read }] of gauges)
      yield* [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, `${name} ${read(workspaces)}`]
    yield ""
  }

  return {
    requestAnswered: (route, status, milliseconds) => {
      count("haft_http_requests_total", { route, status: String(status) })
      observe("haft_http_request_seconds", { route }, milliseconds / 1000)
    },
    callFinished: (labels, seconds) => {
      count("haft_calls_total", labels)
      observe("haft_call_seconds", { workspace: labels.workspace, tool: labels.tool }, seconds)
    },
    connectionEnded: (workspace, outcome) => count("haft_connections_total", { workspace, outcome }),
    approvalDecided: (workspace, decision) => count("haft_approvals_total", { workspace, decision }),
    webhookSent: (outcome) => count("haft_webhook_messages_total", { outcome }),
    clusterEvent: (event, seconds) => {
      count("haft_cluster_workspace_events_total", { event })
      if (seconds !== undefined) observe("haft_cluster_open_seconds", {}, seconds)
    },
    gauge: (name, help, read) => void gauges.set(name, { help, read }),
    text: (workspaces) => [...textLines(workspaces)].join("\n")
  }
}

/** Counts calls and approvals as they are recorded, and registers the gauges. */
export const measure = (metrics: Metrics, workspaces: Workspaces, flow: FlowControl): void => {
  workspaces.onOpened((workspace, { subscribe }) => {
    subscribe((event) => {
      if (event.type === "connection_closed") metrics.connectionEnded(workspace, "closed")
      if (event.type === "connection_refused") metrics.connectionEnded(workspace, "refused")
      if (event.type === "approval_decided") metrics.approvalDecided(workspace, text(event["decision"]))
      if (event.type !== "tool_call_finished") return
      // Names of tools that don't exist are made up by callers: each would add a series, without end.
      const tool = event["error"] === "unknown_tool" ? "unknown" : text(event["tool"])
      // Without the time that a person took to answer.
      const seconds = Number(event["duration_sec"] ?? 0) - Number(event["waited_sec"] ?? 0)
      metrics.callFinished({ workspace, tool, status: text(event["status"]) }, Math.max(0, seconds))
    })
  })
  const open = (own?: ReadonlyArray<string>): number =>
    [...workspaces.all()]
      .filter(([name]) => own?.includes(name) ?? true)
      .reduce((sum, [, { approvals }]) => sum + approvals.open().length, 0)
  metrics.gauge("haft_calls_in_flight", "Calls that are being worked on", flow.inFlight)
  metrics.gauge("haft_approvals_open", "Questions that wait for a person", open)
  metrics.gauge("process_resident_memory_bytes", "Memory of the server", () => process.memoryUsage.rss())
}

const text = (value: unknown): string => (typeof value === "string" ? value : "unknown")

type Labels = Readonly<Record<string, string>>

interface Series<A> {
  readonly all: Array<A & { readonly labels: Labels }>
  readonly byValue: Branch<A>
}

interface Branch<A> {
  readonly next: Map<string, Branch<A>>
  figure?: A & { readonly labels: Labels }
}

// A series is looked up label by label, because a key made of all labels would be a new string for every request.
const seriesOf = <A>(series: Map<string, Series<A>>, name: string, labels: Labels, empty: () => A): A => {
  const one: Series<A> = series.get(name) ?? { all: [], byValue: { next: new Map() } }
  series.set(name, one)
  let branch = one.byValue
  for (const label in labels) {
    const value = labels[label] ?? ""
    const next: Branch<A> = branch.next.get(value) ?? { next: new Map() }
    branch.next.set(value, next)
    branch = next
  }
  if (branch.figure !== undefined) return branch.figure
  branch.figure = { ...empty(), labels }
  one.all.push(branch.figure)
  return branch.figure
}

interface Histogram {
  readonly counts: Array<number>
  sum: number
  count: number
}

const labelText = (labels: Labels): string =>
  Object.entries(labels)
    .map(
      ([name, value]) =>
        `${name}="${value.replaceAll(/[\\"\n]/g, (one) => (one === "\n" ? String.raw`\n` : `\\${one}`))}"`
    )
    .join(",")

const braced = (labels: string): string => (labels === "" ? "" : `{${labels}}`)

const histogramLines = (name: string, labels: string, { counts, sum, count }: Histogram): ReadonlyArray<string> => {
  const withBound = (bound: string): string => braced([labels, `le="${bound}"`].filter((part) => part !== "").join(","))
  return [
    ...buckets.map((bound, index) => `${name}_bucket${withBound(String(bound))} ${counts[index]}`),
    `${name}_bucket${withBound("+Inf")} ${count}`,
    `${name}_sum${braced(labels)} ${sum}`,
    `${name}_count${braced(labels)} ${count}`
  ]
}
