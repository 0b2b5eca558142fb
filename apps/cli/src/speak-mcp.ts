import { flushCompileCache } from "node:module"

import { describeQuestion, type McpOptions, mcpServer, serveMcpOnStdio } from "haft/mcp"
import type { LateHost, OpenHost } from "haft/promise"

import { compileSchemas } from "./compile-schemas.ts"

/** Serves MCP on stdin and stdout until the client leaves or a signal ends the program. */
export const speakMcp = async (host: LateHost | OpenHost, options: McpOptions): Promise<void> => {
  const howToAllow = "Allow it with a rule (haft rules add), or start haft mcp with --approve all."
  // A client that has listed the tools is likely to call them soon, and often.
  const onListed = (): void => {
    compileSchemas()
    if ("open" in host) host.open()
  }
  const settings = { ...options, howToAllow, describe: describeQuestion, onListed }
  const { closed, close } = serveMcpOnStdio(mcpServer(host, settings))
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => void close())
  // Node writes the compile cache on exit, and some clients kill their servers: without this, no start would be faster.
  setTimeout(() => flushCompileCache(), 2_000).unref()
  await ("unusable" in host ? Promise.race([closed, host.unusable]) : closed)
}
