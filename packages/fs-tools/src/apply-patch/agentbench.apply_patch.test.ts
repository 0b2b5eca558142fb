import { agentbench } from "@haft/dialects"
import { expect, it } from "vitest"

import { openTools } from "../../test/open-tools.ts"

it("keeps the patch as an artifact and puts PATCH_APPLIED on record", async () => {
  await using tools = await openTools({ a: "1\n" }, { dialect: agentbench })
  await tools.call("list_files", {})
  const diff = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+one\n"
  await tools.call("apply_patch", { unified_diff: diff })
  expect([...tools.artifacts].map(([path, bytes]) => [path, Buffer.from(bytes).toString()])).toEqual([
    ["diffs/step_0002.patch", diff]
  ])
  expect(tools.events.find(({ type }) => type === "PATCH_APPLIED")).toEqual({
    type: "PATCH_APPLIED",
    request_id: "memory-2",
    step: 2,
    changed_files: ["a"],
    patch_size_bytes: diff.length,
    artifact: "diffs/step_0002.patch"
  })
})

it("leaves no artifact and no event for a patch that does not fit", async () => {
  await using tools = await openTools({ a: "1\n" }, { dialect: agentbench })
  await tools.call("apply_patch", { unified_diff: "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+one\n" })
  expect(tools.artifacts.size).toBe(0)
  expect(tools.events.map(({ type }) => type)).toEqual(["tool_call_started", "tool_call_finished"])
})
