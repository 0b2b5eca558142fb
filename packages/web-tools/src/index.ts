import { definePlugin } from "@haft/core"

import { approvalgateWebFetch } from "./fetch-url/approvalgate.web_fetch.ts"
import { cliagentFetchWebpage } from "./fetch-url/cliagent.fetch_webpage.ts"
import { haftFetchUrl } from "./fetch-url/haft.fetch_url.ts"
import { approvalgateWebSearch } from "./search-web/approvalgate.web_search.ts"
import { haftSearchWeb } from "./search-web/haft.search_web.ts"
import { webConfig } from "./web-config.ts"
import { Web } from "./web.ts"

export { Resolver } from "./safe-fetch/resolve-host.ts"
export type { WebConfig } from "./web-config.ts"

/** Fetching pages and searching the web in every dialect. */
export const webTools = definePlugin({
  name: "@haft/web-tools",
  version: "0.0.0",
  config: webConfig,
  tools: [haftFetchUrl, haftSearchWeb, approvalgateWebFetch, approvalgateWebSearch, cliagentFetchWebpage],
  layer: Web.layer
})

export default webTools
