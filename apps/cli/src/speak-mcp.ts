import { flushCompileCache } from "node:module"

import { describeQuestion, mcpServer, serveMcpOnStdio } from "haft/mcp"
import type { LateHost, OpenHost } from "haft/promise"

import { compileSchemas } from "./compile-schemas.ts"

/** Speaks MCP on stdin and stdout until the client leaves or somebody ends the program. */
export const speakMcp = async (host: LateHost | OpenHost, version: string): Promise<void> => {
  const howToAllow = "Allow it with a rule (haft rules add), or start haft mcp with --approve all."
  // Who has the list is likely to call soon, and often.
  const onListed = (): void => {
    compileSchemas()
    if ("open" in host) host.open()
  }
  const settings = { version, howToAllow, describe: describeQuestion, onListed }
  const { closed, close } = serveMcpOnStdio(mcpServer(host, settings))
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => void close())
  // A client that ends its servers by force would have the next one compiled from scratch, each time.
  setTimeout(() => flushCompileCache(), 2_000).unref()
  await ("unusable" in host ? Promise.race([closed, host.unusable]) : closed)
}
