// Edits one line of a large file, and prints how much memory that took in this process, in bytes.
import { Host, memoryArtifacts, memoryJournal, use } from "@haft/core"
import { openHost } from "@haft/core/promise"
import { filetools } from "@haft/dialects"
import { nodeWorkspace } from "@haft/node"
import { scriptedApprover } from "@haft/testing"
import * as Layer from "effect/Layer"

import { fsTools } from "../src/index.ts"

const [root = "", state = ""] = process.argv.slice(2)
const host = await openHost(
  Host.layer({ dialect: filetools, plugins: [use(fsTools)] }).pipe(
    Layer.provide(
      Layer.mergeAll(nodeWorkspace({ root, state }), memoryJournal(), memoryArtifacts(), scriptedApprover().layer)
    )
  )
)
await host.call("file.patch", { path: "small", patches: [{ find: "a", replace: "b" }] })
const before = process.resourceUsage().maxRSS
const { ok, text } = await host.call("file.patch", { path: "large", patches: [{ find: "NEEDLE", replace: "found" }] })
if (!ok) throw new Error(text)
process.stdout.write(String((process.resourceUsage().maxRSS - before) * 1024))
await host.dispose()
