import { definePlugin } from "@haft/core"

import { gitAdd } from "./git-add.ts"
import { gitBlame } from "./git-blame.ts"
import { gitBranch } from "./git-branch.ts"
import { gitCommit } from "./git-commit.ts"
import { gitDiff } from "./git-diff.ts"
import { gitLog } from "./git-log.ts"
import { gitShow } from "./git-show.ts"
import { gitStatus } from "./git-status.ts"

/** Reads a git repository, and changes it after approval. Nothing is ever pushed. */
export const gitTools = definePlugin({
  name: "@haft/git-tools",
  version: "0.0.0",
  tools: [gitStatus, gitDiff, gitLog, gitShow, gitBlame, gitAdd, gitCommit, gitBranch]
})

export default gitTools
