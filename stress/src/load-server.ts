// node load-server.ts ROOT STATE: a server to be put under load. It stops, as told by SIGTERM, when its input ends.
import { serveHaft } from "@haft/server"

import { loadTokens } from "./load-tokens.ts"

const [root = "", state = ""] = process.argv.slice(2)
const server = await serveHaft({
  workspaces: { default: { root, state, approval: "all" } },
  tokens: loadTokens,
  version: "0.0.0",
  port: 0,
  onDefect: (error) => console.error(error)
})
process.stdout.write(`${server.url}\n`)
process.stdin.on("end", () => void server.stop().then(() => process.exit())).resume()
