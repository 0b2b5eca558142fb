import { chmodSync, statSync } from "node:fs"
import { join } from "node:path"

import { afterAll, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"

import { contentsOf, makeWorkspaces } from "../../../test/workspaces.ts"
import { closeRoot, openRoot } from "../paths/containment.ts"
import { Spots } from "../paths/directory-entries.ts"
import { doStep } from "./apply-step.ts"
import { copyNode } from "./copy-across-devices.ts"
import { openView } from "./planned-tree.ts"
import { stageAll } from "./stage.ts"
import { stepsFor } from "./steps.ts"

const workspaces = makeWorkspaces("copy")
afterAll(workspaces.remove)

// A second device can't be had in a test without the right to mount one; the copy itself is the same on one.
it("copies a tree with its modes and links to where a rename does not reach, and removes the original", async () => {
  const directory = workspaces.make({ "d/run.sh": "x".repeat(600_000), "d/e/f": "f", "d/l": "-> run.sh" })
  chmodSync(join(directory, "d/run.sh"), 0o750)
  const root = openRoot(directory)
  const view = openView(root, "deny")
  const node = view.find(["d"])
  expect(node?.kind).toBe("directory")
  if (node === undefined) return
  view.top.children.set("copy", copyNode(view, node))
  view.top.children.set("d", undefined)
  const { staged, steps, rubbish } = stepsFor(view, "0123456789abcdef")
  const spots = new Spots(root)
  await Effect.runPromise(stageAll(spots, staged, { durable: true }))
  for (const step of steps) doStep(spots, step)
  spots.forget()
  expect(rubbish).toHaveLength(1)
  const { [rubbish[0] ?? ""]: aside, ...found } = contentsOf(directory)
  expect(aside).toBe(null)
  expect(Object.entries(found).filter(([path]) => path.startsWith("copy"))).toEqual([
    ["copy", null],
    ["copy/e", null],
    ["copy/e/f", "f"],
    ["copy/l", "-> run.sh"],
    ["copy/run.sh", "x".repeat(600_000)]
  ])
  expect(statSync(join(directory, "copy/run.sh")).mode & 0o777).toBe(0o750)
  closeRoot(root)
})
