import { temporaryWorkspace } from "@haft/testing"
import { expect, it } from "vitest"

import { ownMounts } from "./paths.ts"

it("hides neither the workspace behind what holds it, nor what is in it behind the workspace", () => {
  const workspace = temporaryWorkspace()
  const { root } = workspace
  workspace.put("haft.config.json", "{}")
  const above = root.slice(0, root.lastIndexOf("/"))
  const options = { readOnlyPaths: [`${root}/vendor`], writablePaths: ["/caches/a", above] }
  const mounts = ownMounts(root, options, { isWritable: true })
  expect(mounts).toEqual([
    ...[above, "/caches/a"].toSorted((a, b) => a.length - b.length).map((path) => ({ kind: "writable", path })),
    { kind: "writable", path: root },
    { kind: "readable", path: `${root}/haft.config.json` },
    { kind: "readable", path: `${root}/vendor` }
  ])
  workspace.remove()
})
