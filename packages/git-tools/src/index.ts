import { definePlugin } from "@haft/core"

import { gitAdd } from "./git-add.ts"
import { gitBlame } from "./git-blame.ts"
import { gitBranch } from "./git-branch.ts"
import { gitClone } from "./git-clone.ts"
import { gitCommit } from "./git-commit.ts"
import { gitDiff } from "./git-diff.ts"
import { gitFetch } from "./git-fetch.ts"
import { gitLog } from "./git-log.ts"
import { gitPush } from "./git-push.ts"
import { gitShow } from "./git-show.ts"
import { gitStatus } from "./git-status.ts"

/** Reads a git repository, and changes it after approval. Remotes are reached by the network policy. */
export const gitTools = definePlugin({
  name: "@haft/git-tools",
  version: "0.0.0",
  tools: [gitStatus, gitDiff, gitLog, gitShow, gitBlame, gitAdd, gitCommit, gitBranch, gitFetch, gitPush, gitClone]
})

export default gitTools
