import { definePlugin } from "@haft/core"

import { cliagentFileSearch } from "./find-files/cliagent.file_search.ts"
import { haftFindFiles } from "./find-files/haft.find_files.ts"
import { haftFindSymbol } from "./find-symbol/haft.find_symbol.ts"
import { haftOutline } from "./outline/haft.outline.ts"
import { haftSearchCode } from "./search-code/haft.search_code.ts"
import { searchConfig } from "./search-config.ts"
import { searchServices } from "./search-services.ts"
import { agentbenchSearch } from "./search-text/agentbench.search.ts"
import { cliagentGrepSearch } from "./search-text/cliagent.grep_search.ts"
import { filetoolsFileSearch } from "./search-text/filetools.file.search.ts"
import { haftSearchText } from "./search-text/haft.search_text.ts"
import { toolrouterGrepFiles } from "./search-text/toolrouter.grep_files.ts"

export { installedRipgrep, ripgrepVersion } from "./search-text/ripgrep/ripgrep.ts"

/** Finding files, text and code, in every dialect that has words for it. */
export const searchTools = definePlugin({
  name: "@haft/search-tools",
  version: "0.0.0",
  config: searchConfig,
  tools: [
    haftSearchText,
    agentbenchSearch,
    toolrouterGrepFiles,
    cliagentGrepSearch,
    filetoolsFileSearch,
    haftFindFiles,
    cliagentFileSearch,
    haftSearchCode,
    haftOutline,
    haftFindSymbol
  ],
  layer: searchServices
})

export default searchTools
