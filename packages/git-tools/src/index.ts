import { definePlugin } from "@haft/core"

import { gitAdd } from "./tools/git-add.ts"
import { gitBlame } from "./tools/git-blame.ts"
import { gitBranch } from "./tools/git-branch.ts"
import { gitClone } from "./tools/git-clone.ts"
import { gitCommit } from "./tools/git-commit.ts"
import { gitDiff } from "./tools/git-diff.ts"
import { gitFetch } from "./tools/git-fetch.ts"
import { gitLog } from "./tools/git-log.ts"
import { gitPush } from "./tools/git-push.ts"
import { gitShow } from "./tools/git-show.ts"
import { gitStatus } from "./tools/git-status.ts"

/** Reads a git repository, and changes it after approval. Remotes are reached by the network policy. */
export const gitTools = definePlugin({
  name: "@haft/git-tools",
  version: "0.0.0",
  tools: [gitStatus, gitDiff, gitLog, gitShow, gitBlame, gitAdd, gitCommit, gitBranch, gitFetch, gitPush, gitClone]
})

export default gitTools
