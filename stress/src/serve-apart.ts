// node serve-apart.ts ROOT STATE: a server in a process of its own, until the parent is gone or lets go of it.
import { serve } from "./running-server.ts"

const [root = "", state = ""] = process.argv.slice(2)
const server = await serve({ root, state, approval: "all" }, (error) => console.error(error))
process.send?.({ url: server.url })
process.on("disconnect", () => {
  void server.stop().then(() => process.exit(0))
})
