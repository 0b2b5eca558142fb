import { useEffect, useMemo } from "react"

import { ApiError, listWorkspaces, loadMe, workspaceApi } from "./api.ts"
import { Console } from "./console.tsx"
import { subscribeToFeed, useConnection } from "./events/feed.ts"
import { useLoad } from "./hooks/use-load.ts"
import { Empty, Problem } from "./parts.tsx"
import { addressOf, goTo, useRoute } from "./route.ts"
import { SignIn } from "./session/sign-in.tsx"

/** Finds out which workspaces there are and whether this browser may see them. */
export const App = () => {
  const { loaded, reload } = useLoad(workspacesOrNobody)
  const connection = useConnection()
  useEffect(() => {
    // A server that was started again records another run.
    if (connection === "live") reload()
  }, [connection, reload])
  const route = useRoute()
  const known = loaded.state === "ready" ? loaded.value : undefined
  const workspaces = known?.workspaces
  useEffect(
    () =>
      subscribeToFeed((message) => {
        if ("connection" in message) return
        // A workspace that a member of a cluster has opened since records another run.
        const { workspace, run } = message.data
        const before = workspaces?.find(({ name: other }) => other === workspace)
        if (before !== undefined && run !== undefined && before.run !== run) reload()
      }),
    [workspaces, reload]
  )
  const chosen = workspaces?.find(({ name }) => name === route.workspace) ?? workspaces?.[0]
  const name = chosen?.name
  const api = useMemo(() => (name === undefined ? undefined : workspaceApi(name)), [name])

  useEffect(() => {
    if (name !== undefined && route.workspace !== name) goTo(addressOf(name, route.screen))
  }, [name, route.workspace, route.screen])

  if (loaded.state === "failed") {
    return (
      <main className="alone">
        <Problem>{loaded.message}</Problem>
      </main>
    )
  }
  if (loaded.state === "loading") return <main className="alone quiet">Loading…</main>
  if (known === undefined || workspaces === undefined) {
    return (
      <main className="alone">
        <h1>haft</h1>
        <Empty title="This browser is not signed in">
          Open the link that <code>haft serve</code> printed. It works once, within ten minutes; starting the server
          again prints a new one, and an approver gets one with <code>POST /v1/links</code>.
        </Empty>
        <SignIn />
      </main>
    )
  }
  if (chosen === undefined || api === undefined) {
    return (
      <main className="alone">
        <h1>haft</h1>
        <Empty title="This server has no workspaces" />
      </main>
    )
  }
  return <Console key={chosen.name} api={api} workspace={chosen} workspaces={workspaces} route={route} me={known.me} />
}

/** Undefined when the browser has no session. */
const workspacesOrNobody = async () => {
  try {
    const [workspaces, me] = await Promise.all([listWorkspaces(), loadMe()])
    return { workspaces, me }
  } catch (error) {
    if (error instanceof ApiError && (error.status === 401 || error.status === 403)) return undefined
    throw error
  }
}
