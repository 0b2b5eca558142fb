import { definePlugin } from "@haft/core"

import { agentbenchReadFile } from "./read-file/agentbench.read_file.ts"
import { approvalgateReadFile } from "./read-file/approvalgate.read_file.ts"
import { cliagentReadFile } from "./read-file/cliagent.read_file.ts"
import { filetoolsFileRead } from "./read-file/filetools.file.read.ts"
import { haftReadFile } from "./read-file/haft.read_file.ts"
import { toolrouterReadFile } from "./read-file/toolrouter.read_file.ts"

/** Files and patches in every dialect. */
export const fsTools = definePlugin({
  name: "@haft/fs-tools",
  version: "0.0.0",
  tools: [
    haftReadFile,
    agentbenchReadFile,
    toolrouterReadFile,
    approvalgateReadFile,
    cliagentReadFile,
    filetoolsFileRead
  ]
})
