import { useEffect, useRef } from "react"

import { signOut, type WorkspaceApi } from "./api.ts"
import { askAgain } from "./events/feed.ts"
import type { Connection } from "./events/follow-events.ts"
import type { useNotifications } from "./hooks/use-notifications.ts"
import { useSetting } from "./hooks/use-setting.ts"
import { useShortcuts } from "./hooks/use-shortcuts.ts"
import { ModeChoice } from "./mode-choice.tsx"
import { Key } from "./parts.tsx"
import { addressOf, goTo, type ScreenName } from "./route.ts"
import { forgetSessionKey } from "./session/session-key.ts"
import type { ApprovalMode, Me, WorkspaceName } from "./wire.ts"

interface HeaderProps {
  readonly api: WorkspaceApi
  readonly mode: ApprovalMode
  readonly dialect: string
  readonly workspace: string
  readonly workspaces: ReadonlyArray<WorkspaceName>
  /** Screens that this server has. */
  readonly screens: ReadonlyArray<ScreenName>
  readonly screen: ScreenName
  readonly me: Me
  readonly waiting: number
  readonly connection: Connection
  readonly notifications: ReturnType<typeof useNotifications>
  readonly shortcuts: "on" | "off"
  readonly onShortcuts: (choice: "on" | "off") => void
}

const connectionNames = {
  connecting: "Connecting",
  live: "Live",
  lost: "Reconnecting",
  "signed-out": "Signed out"
} as const
const themes = ["auto", "light", "dark"] as const

/** The choice of workspace and screen, the state of the connection, and the settings. */
export const Header = (props: HeaderProps) => {
  const { workspace, workspaces, screens, screen, waiting, connection, notifications } = props
  const [theme, setTheme] = useSetting("theme", themes, "auto")
  useEffect(() => {
    document.documentElement.dataset["theme"] = theme
  }, [theme])
  return (
    <header className="header">
      <h1>
        <img src="/favicon.svg" alt="" width="22" height="22" />
        haft
      </h1>
      <label className="workspace">
        <span className="for-readers">Workspace</span>
        <select value={workspace} onChange={(event) => goTo(addressOf(event.target.value, screen))}>
          {workspaces.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <ModeChoice api={props.api} mode={props.mode} dialect={props.dialect} />
      <nav aria-label="Screens">
        {screens.map((name) => (
          <a key={name} href={addressOf(workspace, name)} aria-current={name === screen ? "page" : undefined}>
            {name}
            {name === "approvals" && waiting > 0 && (
              <span className="count">
                {waiting}
                <span className="for-readers"> waiting</span>
              </span>
            )}
          </a>
        ))}
      </nav>
      <div className="header-end">
        <span className={`connection ${connection}`}>{connectionNames[connection]}</span>
        {notifications.state === "off" && (
          <button type="button" className="plain" onClick={notifications.turnOn}>
            Notify me
          </button>
        )}
        <label className="theme">
          <span className="for-readers">Theme</span>
          <select value={theme} onChange={(event) => setTheme(event.target.value as (typeof themes)[number])}>
            {themes.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <ShortcutHelp me={props.me} screens={screens} shortcuts={props.shortcuts} onShortcuts={props.onShortcuts} />
      </div>
    </header>
  )
}

const signedOut = (): void => {
  forgetSessionKey()
  askAgain()
}

const keys: ReadonlyArray<readonly [key: string, action: string]> = [
  ["j  k", "next and previous request or call"],
  ["a", "approve"],
  ["d", "deny"],
  ["r", "deny or approve with a message to the agent"],
  ["e", "edit the arguments"],
  ["w", "allow from now on (shows the rule first)"],
  ["/", "search the activity"],
  ["?", "this list"]
]

type ShortcutHelpProps = Pick<HeaderProps, "me" | "screens" | "shortcuts" | "onShortcuts">

const ShortcutHelp = ({ me, screens, shortcuts, onShortcuts }: ShortcutHelpProps) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const open = (): void => dialog.current?.showModal()
  useShortcuts({ "?": open }, shortcuts === "on")
  return (
    <>
      <button type="button" className="plain" onClick={open} aria-label="Keyboard shortcuts and session">
        <Key>?</Key>
      </button>
      <dialog ref={dialog} aria-labelledby="shortcut-title">
        <h2 id="shortcut-title">Keyboard shortcuts and session</h2>
        <dl className="keys">
          {[[`1 … ${screens.length}`, "go to a screen"] as const, ...keys].map(([key, action]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{action}</dd>
            </div>
          ))}
        </dl>
        <label className="check">
          <input
            type="checkbox"
            checked={shortcuts === "on"}
            onChange={(event) => onShortcuts(event.target.checked ? "on" : "off")}
          />
          Single keys are shortcuts
        </label>
        <p className="quiet">
          Signed in as {me.name}, with the role {me.role}.
        </p>
        <div className="buttons">
          <button type="button" onClick={() => dialog.current?.close()}>
            Close
          </button>
          <button type="button" onClick={() => void signOut().then(signedOut, signedOut)}>
            Sign out
          </button>
        </div>
      </dialog>
    </>
  )
}
