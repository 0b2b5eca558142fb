import "./style.css"
import { StrictMode } from "react"
import { createRoot } from "react-dom/client"

import { App } from "./app.tsx"
import { startFeed } from "./events/feed.ts"
import { startInbox } from "./events/inbox.ts"
import { takeSessionKey } from "./session/session-key.ts"

takeSessionKey()
startFeed()
startInbox()

const root = document.querySelector("#root")
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>
  )
}
