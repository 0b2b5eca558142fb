import { type ComponentType, lazy, Suspense, useEffect, useRef } from "react"

import type { WorkspaceApi } from "./api.ts"
import { useConnection } from "./events/feed.ts"
import { useInbox } from "./events/inbox.ts"
import { Header } from "./header.tsx"
import { useEvents } from "./hooks/use-events.ts"
import { useNotifications } from "./hooks/use-notifications.ts"
import { useSetting } from "./hooks/use-setting.ts"
import { useShortcuts } from "./hooks/use-shortcuts.ts"
import { addressOf, goTo, type Route, type ScreenName, screenNames } from "./route.ts"
import type { ScreenProps } from "./screen-props.ts"
import { Activity } from "./screens/activity/activity.tsx"
import { Approvals } from "./screens/approvals/approvals.tsx"
import { Cluster } from "./screens/cluster.tsx"
import { Metrics } from "./screens/metrics.tsx"
import { Overview } from "./screens/overview.tsx"
import { Review } from "./screens/review.tsx"
import { Rules } from "./screens/rules/rules.tsx"
import { Tools } from "./screens/tools/tools.tsx"
import { SignIn } from "./session/sign-in.tsx"
import type { Me, WorkspaceName } from "./wire.ts"

// The terminal emulator is as large as all the rest, and not everybody opens it.
const Terminals = lazy(() => import("./screens/terminals.tsx").then((module) => ({ default: module.Terminals })))

const screens: Readonly<Record<ScreenName, ComponentType<ScreenProps>>> = {
  approvals: Approvals,
  activity: Activity,
  review: Review,
  terminals: Terminals,
  tools: Tools,
  rules: Rules,
  metrics: Metrics,
  overview: Overview,
  cluster: Cluster
}

interface ConsoleProps {
  readonly api: WorkspaceApi
  readonly workspace: WorkspaceName
  readonly workspaces: ReadonlyArray<WorkspaceName>
  readonly route: Route
  readonly me: Me
}

/** One workspace: its live state, and the screen that is chosen. */
export const Console = ({ api, workspace, workspaces, route, me }: ConsoleProps) => {
  const { name, run, dialects, mode } = workspace
  const connection = useConnection()
  const { log, news } = useEvents(api, name, run)
  const inbox = useInbox()
  const { requests, loaded } = inbox
  const [shortcuts, setShortcuts] = useSetting("shortcuts", ["on", "off"], "on")
  const notifications = useNotifications(requests)
  const main = useRef<HTMLElement>(null)
  const { screen } = route
  const shown = me.cluster === true ? screenNames : screenNames.filter((one) => one !== "cluster")

  useShortcuts(
    Object.fromEntries(shown.map((other, index) => [String(index + 1), () => goTo(addressOf(name, other))] as const)),
    shortcuts === "on"
  )
  useEffect(() => {
    const waiting = requests.length === 0 ? "" : `(${requests.length}) `
    document.title = `${waiting}${screen[0]?.toUpperCase()}${screen.slice(1)} · ${name} · haft`
  }, [requests.length, screen, name])

  const isFirst = useRef(true)
  useEffect(() => {
    // Keyboard users continue in the new screen, instead of at the link they followed.
    if (!isFirst.current) {
      main.current?.focus({ preventScroll: true })
      main.current?.scrollTo(0, 0)
      window.scrollTo(0, 0)
    }
    isFirst.current = false
  }, [screen])

  const Screen = screens[screen]
  return (
    <>
      <a className="skip" href="#main" onClick={(event) => (event.preventDefault(), main.current?.focus())}>
        Skip to content
      </a>
      <Header
        api={api}
        mode={log.mode?.name ?? mode}
        dialect={dialects[0] ?? ""}
        workspace={name}
        workspaces={workspaces}
        screens={shown}
        screen={screen}
        me={me}
        waiting={requests.length}
        connection={connection}
        notifications={notifications}
        shortcuts={shortcuts}
        onShortcuts={setShortcuts}
      />
      <main id="main" ref={main} tabIndex={-1} className={`screen ${screen}`}>
        {connection === "lost" && (
          <p className="problem" role="alert">
            The connection to the server is lost. What you see may be out of date.
          </p>
        )}
        <Suspense fallback={<p className="quiet">Loading…</p>}>
          <Screen
            api={api}
            workspace={name}
            dialects={dialects}
            run={run}
            item={route.item}
            log={log}
            news={news}
            inbox={inbox}
            workspaces={workspaces}
            hasShortcuts={shortcuts === "on"}
            me={me}
          />
        </Suspense>
      </main>
      {connection === "signed-out" && <SignedOut />}
      <p className="for-readers" role="status" aria-live="polite">
        {loaded.state === "ready" && waitingText(requests.map(({ tool }) => tool))}
      </p>
    </>
  )
}

/** Covers the console, and keeps what was typed into it until somebody signs in again. */
const SignedOut = () => (
  <dialog
    className="signed-out"
    aria-labelledby="signed-out-title"
    ref={showModal}
    onCancel={(event) => event.preventDefault()}
    // Browsers close a dialog at Escape all the same where nobody has clicked on the page yet.
    onClose={(event) => event.currentTarget.showModal()}
  >
    <h2 id="signed-out-title">Your session has expired</h2>
    <p>
      Nothing here is up to date, and nothing can be answered. The session is over, or the server was started again:
      open the link that <code>haft serve</code> printed, in this browser. This page then goes on.
    </p>
    <SignIn isElsewhere />
  </dialog>
)

const showModal = (dialog: HTMLDialogElement | null): void => dialog?.showModal()

const waitingText = (tools: ReadonlyArray<string>): string =>
  tools.length === 0
    ? "Nothing waits for approval"
    : tools.length === 1
      ? `${tools[0]} waits for approval`
      : `${tools.length} requests wait for approval, the last of ${tools.at(-1)}`
