// node serve-apart.ts ROOT STATE CONFIG: a server that runs until its parent process disconnects or ends.
import type { HaftConfig } from "haft/internal"

import { serve } from "./running-server.ts"

const [root = "", state = "", config = "{}"] = process.argv.slice(2)
const more = JSON.parse(config) as HaftConfig
const server = await serve({ ...more, root, state, approval: "all" }, (error) => console.error(error))
process.send?.({ url: server.url })
process.on("disconnect", () => {
  void server.stop().then(() => process.exit(0))
})
