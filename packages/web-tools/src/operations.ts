import type { StateFiles } from "@haft/core"
// Operations of this package, unaware of any contract: for tools in a dialect of your own. A plugin that has such tools
// has `webServices(config)` in its layer, and each tool that fetches has `fetchTouches` as its touches.
import type * as Layer from "effect/Layer"
import type * as z from "zod"

import { webConfig } from "./web-config.ts"
import { Web } from "./web.ts"

export { Web } from "./web.ts"
export {
  asksUnlessAllowed,
  type FetchedPage,
  fetchPage,
  fetchTouches,
  type PageRequest
} from "./fetch-url/fetch-url.ts"
export { markUntrusted } from "./readable-page/untrusted.ts"
export { type FoundPages, maxResults, searchWeb } from "./search-web/search-web.ts"

/** Services that the operations of this package need and the host does not lend. */
export const webServices = (config?: z.input<typeof webConfig>): Layer.Layer<Web, never, StateFiles> =>
  Web.layer(webConfig.parse(config))
