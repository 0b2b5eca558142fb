// A server in a process of its own, until the parent is gone: what it holds is not mixed up with what its clients hold.
import { startServer } from "./running-server.ts"

const server = await startServer({ approval: "all" })
process.send?.({ url: server.url })
process.on("disconnect", () => {
  void server.stop().then(() => process.exit(0))
})
