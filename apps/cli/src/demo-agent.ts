import { request } from "node:http"
import { json } from "node:stream/consumers"

interface Server {
  readonly url: string
  /** The agent's, not the approver's. */
  readonly token: string
}

/**
 * A scripted agent for the demo: it looks around, tries to read a file outside of the workspace, and then asks a person
 * for a change to a file and for a terminal. It calls tools as any agent does, over HTTP.
 */
export const visitDemo = async (server: Server): Promise<void> => {
  const call = (tool: string, params: object): Promise<boolean> => callTool(server, tool, params)
  await call("list_dir", { path: ".", depth: 1 })
  await call("read_file", { path: "README.md" })
  await call("search_text", { query: "total" })
  await call("read_file", { path: "src/till.js" })
  await call("read_file", { path: "../state/server-tokens.json" })
  const mend = async (): Promise<unknown> =>
    (await call("edit_file", { path: "src/till.js", edits: [thirdRollFree] })) &&
    call("run_command", { command: "node --test" })
  await Promise.all([mend(), call("open_terminal", { command: "node --test --watch" })])
}

const thirdRollFree = {
  find: "    sum += prices[item] * count\n",
  replace: '    const free = item === "roll" ? Math.floor(count / 3) : 0\n    sum += prices[item] * (count - free)\n'
}

/** True when the call succeeded. Not with `fetch`, which gives up after five minutes: a person may take longer. */
const callTool = ({ url, token }: Server, tool: string, params: object): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
    request(`${url}/v1/workspaces/default/calls`, { method: "POST", headers }, (response) => {
      json(response).then((reply) => resolve((reply as { readonly ok?: boolean }).ok === true), reject)
    })
      .on("error", reject)
      .end(JSON.stringify({ tool, params, dialect: "haft" }))
  })
