import { visibleJson, visibleLines, visibleText } from "@haft/core/visible-text"
import type { ReactNode } from "react"

import type { CallState } from "./calls/describe-call.ts"
import { stateNames } from "./calls/describe-call.ts"
import type { Loaded } from "./hooks/use-load.ts"
import type { Risk, Severity } from "./wire.ts"

const riskNames: Readonly<Record<Risk, string>> = {
  read_only: "Read-only",
  safe_write: "Modifies files",
  dangerous: "Executes"
}

export const RiskBadge = ({ risk }: { readonly risk: Risk }) => (
  <span className={`badge ${risk}`}>{riskNames[risk]}</span>
)

const severityNames: Readonly<Record<Severity, string>> = {
  low: "Low risk",
  moderate: "Moderate risk",
  high: "High risk",
  critical: "Critical risk"
}

export const SeverityBadge = ({ severity }: { readonly severity: Severity }) => (
  <span className={`badge severity-${severity}`}>{severityNames[severity]}</span>
)

export const StateBadge = ({ state }: { readonly state: CallState }) => (
  <span className={`state ${state}`}>{stateNames[state]}</span>
)

/** Shows the shortcut of the button it is in. */
export const Key = ({ children }: { readonly children: string }) => <kbd aria-hidden="true">{children}</kbd>

/** Preformatted text. Where it is long it scrolls, by keyboard too. */
export const Block = ({ kind = "", children }: { readonly kind?: "command" | ""; readonly children: ReactNode }) => (
  <pre className={`block ${kind}`} ref={focusWhereLong}>
    {typeof children === "string" ? visibleLines(children) : children}
  </pre>
)

// Arrow keys scroll only the element that has the focus. Text that does not scroll should not be a stop of the Tab key.
const focusWhereLong = (box: HTMLElement | null): (() => void) | undefined => {
  if (box === null) return undefined
  const observer = new ResizeObserver(() => {
    if (box.scrollHeight > box.clientHeight) box.tabIndex = 0
    else box.removeAttribute("tabindex")
  })
  observer.observe(box)
  return () => observer.disconnect()
}

export const Json = ({ value }: { readonly value: unknown }) => (
  <Block>{visibleJson(JSON.stringify(value, undefined, 2) ?? "")}</Block>
)

export const Section = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <section className="section">
    <h3>{title}</h3>
    {children}
  </section>
)

/** A list of names with their values. */
export const Facts = ({
  facts
}: {
  readonly facts: ReadonlyArray<{ readonly name: string; readonly value: string }>
}) => (
  <dl className="facts">
    {facts.map(({ name, value }) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd ref={focusWhereLong}>
          <code>{visibleText(value)}</code>
        </dd>
      </div>
    ))}
  </dl>
)

/** A box for a wide table, which scrolls sideways, by keyboard too. */
export const ScrollBox = ({ label, children }: { readonly label: string; readonly children: ReactNode }) => (
  // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- arrow keys scroll only what has the focus
  <section className="table-scroller" tabIndex={0} aria-label={label}>
    {children}
  </section>
)

export const Problem = ({ children }: { readonly children: string | undefined }) =>
  children === undefined ? null : (
    <p className="problem" role="alert">
      {children}
    </p>
  )

export const Empty = ({ title, children }: { readonly title: string; readonly children?: ReactNode }) => (
  <div className="empty">
    <h3>{title}</h3>
    <p>{children}</p>
  </div>
)

interface LoadingProps<A> {
  readonly loaded: Loaded<A>
  readonly children: (value: A) => ReactNode
}

/** Renders the value once it is loaded; until then, or if that fails, says so. */
export const Loading = <A,>({ loaded, children }: LoadingProps<A>) => {
  if (loaded.state === "loading") return <p className="quiet">Loading…</p>
  if (loaded.state === "failed") return <Problem>{loaded.message}</Problem>
  return children(loaded.value)
}
