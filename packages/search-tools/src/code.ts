import { definePlugin } from "@haft/core"

import { anyFindSymbol } from "./find-symbol/haft.find_symbol.ts"
import { anyOutline } from "./outline/haft.outline.ts"
import { anySearchCode } from "./search-code/haft.search_code.ts"

/** `search_code`, `outline` and `find_symbol` for hosts of a dialect whose contract does not have them. */
export const codeTools = definePlugin({
  name: "@haft/search-tools/code",
  version: "0.0.0",
  tools: [anySearchCode, anyOutline, anyFindSymbol]
})

export default codeTools
