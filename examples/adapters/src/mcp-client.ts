// The tools of an MCP server as a plugin: calls are approved, recorded and contained here, before they are sent to it.
import { mcpServer } from "@haft/adapters/mcp"
import { mcpPlugin } from "@haft/adapters/mcp-client"
import { InMemoryTransport } from "@modelcontextprotocol/client"
import { openHost } from "haft/promise"

import { approve, onSmallProject, script } from "../small-project.ts"

await onSmallProject(async (config) => {
  // Any server will do. This one is haft too, in the same process; it asks nobody, as the host in front of it does.
  await using server = await openHost({ ...config, approval: "all" })
  const [here, there] = InMemoryTransport.createLinkedPair()
  await mcpServer(server, { version: "1.0.0" })().connect(there)

  const touches = (tool: string, { path }: { readonly path?: unknown }) =>
    typeof path === "string" ? { [tool === "read_file" ? "reads" : "writes"]: [path] } : {}
  const far = await mcpPlugin({ name: "far", transport: here, trustHints: true, touches })
  await using host = await openHost({ ...config, packages: [], plugins: [far], state: `${config.state}-front` })
  const outside = await host.call("far_read_file", { path: "../state" }, { ask: approve })
  if (outside.error?.code !== "path_outside_workspace") throw new Error(outside.text)
  const outputs: Array<unknown> = []
  for (const { name, input } of script) {
    outputs.push((await host.call(`far_${name}`, input, { ask: approve })).wire)
  }
  return outputs
})
