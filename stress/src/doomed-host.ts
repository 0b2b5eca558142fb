// node doomed-host.ts ROOT STATE: a host that patches several files back and forth, and prints a line after each patch,
// until it is killed.
import { openHost } from "@haft/core/promise"
import { standardHost } from "haft/internal"

const [root = "", state = ""] = process.argv.slice(2)

const files = ["a.txt", "sub/b.txt", "sub/deep/c.txt", "d.txt"]
const patchTo = (from: string, to: string): string =>
  files.map((file) => `--- a/${file}\n+++ b/${file}\n@@ -1 +1 @@\n-${from}\n+${to}\n`).join("")

const host = await openHost(standardHost({ root, state, approval: "all", packages: ["fs"] }))
process.stdout.write("ready\n")
for (let round = 0; ; round++) {
  const reply = await host.call("apply_patch", { patch: patchTo("old", "new") })
  if (!reply.ok) await host.call("apply_patch", { patch: patchTo("new", "old") })
}
